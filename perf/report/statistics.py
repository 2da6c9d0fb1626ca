"""Medians, spreads and ratios of samples."""

import statistics


def spread(values):
    """Median, upper quartile, least and greatest; None of each for no values."""
    if not values:
        return dict.fromkeys(("median", "upper_quartile", "min", "max"))
    upper = statistics.quantiles(values, n=4, method="inclusive")[2] if len(values) > 1 else values[0]
    return {"median": statistics.median(values), "upper_quartile": upper, "min": min(values), "max": max(values)}


def paired_ratios(ours, theirs):
    """Ratios of samples taken in the same turn: {turn: seconds} of both."""
    return [ours[turn] / theirs[turn] for turn in sorted(ours) if theirs.get(turn)]
