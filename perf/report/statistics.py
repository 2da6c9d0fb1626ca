"""Medians, spreads and ratios of samples."""

import statistics


def spread(values):
    """Median, least and greatest; None of each for no values."""
    if not values:
        return {"median": None, "min": None, "max": None}
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def paired_ratios(ours, theirs):
    """Ratios of samples taken in the same turn: {turn: seconds} of both."""
    return [ours[turn] / theirs[turn] for turn in sorted(ours) if theirs.get(turn)]
