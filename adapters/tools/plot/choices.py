"""What CAPSTAN has chosen in a run: the method of each solve, what trials cost, and what it expects of all methods."""

import dataclasses
import math


@dataclasses.dataclass
class Chosen:
    """One solve. expected: the arms as the report has them, with their estimates; mostly none."""
    x: float
    arm: str
    trial: bool
    best: str
    seconds: float
    regret: float  # of the run so far
    expected: list = dataclasses.field(default_factory=list)


def of_solve(number, report, seconds):
    """The Chosen of a solve in a report; None where nobody has chosen."""
    choice = report.get("choice")
    if not choice:
        return None
    return Chosen(number, choice["arm"], choice["trial"], choice["best"], seconds, choice["regret_seconds"], choice.get("arms") or [])


def counts(solves):
    """{arm: solves by it}, the most frequent first."""
    found = {}
    for solve in solves:
        found[solve.arm] = found.get(solve.arm, 0) + 1
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def least_possible(arm):
    """Seconds of a digit, at the lower end of what is not known of them."""
    return arm["seconds_a_digit"] * math.exp(-arm["spread"])


def might_save(expected, best):
    """(part of the time, arm) that another arm may save at most, as far as is known; None where none may."""
    own = next((arm["seconds_a_digit"] for arm in expected if arm["arm"] == best), 0)
    rivals = [arm for arm in expected if arm["arm"] != best and not arm["left_out"]]
    if not rivals or own <= 0:
        return None
    rival = min(rivals, key=least_possible)
    saved = 1 - least_possible(rival) / own
    return (saved, rival["arm"]) if saved > 0 else None


def table(expected):
    """Lines: each arm with its seconds of a digit, as estimated, also on other networks; the fastest first."""
    latencies = list(expected[0]["seconds_a_digit_at_us"])
    width = max(len(arm["arm"]) for arm in expected)
    lines = [f"  {'method':{width}}  {'now, ms':>9}  {'within':>8}" + "".join(f"  {latency + ' us':>9}" for latency in latencies) + "  solves"]
    for arm in sorted(expected, key=lambda one: (one["left_out"], one["seconds_a_digit"])):
        times = "".join(f"  {1e3 * arm['seconds_a_digit_at_us'][latency]:>9.3g}" for latency in latencies)
        lines.append(f"  {arm['arm']:{width}}  {1e3 * arm['seconds_a_digit']:>9.3g}  {math.expm1(arm['spread']):>7.0%}{times}  "
                     f"{arm['solves']}{', left out' if arm['left_out'] else ''}")
    return lines


def summary(name, solves):
    """Lines that say what was chosen for one system, and what it cost to find out."""
    whole = sum(solve.seconds for solve in solves) or math.inf
    trials = [solve for solve in solves if solve.trial]
    lines = [f"{name}: solves by"] + [f"  {number:5}  {arm}" for arm, number in counts(solves).items()]
    regret = max(0.0, solves[-1].regret - solves[0].regret)
    lines.append(f"  {len(trials)} of {len(solves)} solves were trials: {regret / whole:.1%} of the seconds, as estimated, and no more than "
                 f"{sum(solve.seconds for solve in trials) / whole:.1%}")
    known = next((solve for solve in reversed(solves) if solve.expected), None)
    if known:
        saved = might_save(known.expected, known.best)
        lines.append(f"  of the methods not chosen {saved[1]} may save up to {saved[0]:.0%}, as far as is known" if saved
                     else "  none of the methods not chosen may be faster, as far as is known")
        lines.append(f"  a digit of the residual, as expected before solve {known.x:g}; all-reduces as they are, and of 1 us and more:")
        lines += table(known.expected)
    return lines


def draw(axes, name, solves):
    """Which method solved which system: a dot each, a ring where it was a trial."""
    arms = list(counts(solves))[::-1]
    for trial, style in ((False, {"color": "tab:blue", "label": "the best known"}),
                         (True, {"facecolors": "none", "edgecolors": "tab:red", "label": "a trial"})):
        places = [(solve.x, arms.index(solve.arm)) for solve in solves if solve.trial == trial]
        if places:
            axes.scatter(*zip(*places), s=16, **style)
    axes.set_yticks(range(len(arms)), [arm.removeprefix("CAPSTAN ") for arm in arms], fontsize="small")
    axes.set_ylim(-0.6, len(arms) - 0.4)
    axes.set_title(f"{name}: what was chosen", fontsize="medium")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)
