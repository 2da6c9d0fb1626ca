"""The kernel benchmark: bandwidths on all cores at once and on one."""

import json
import re

from report import processes, statistics

PROGRAM = "kernels_benchmark"
CASE = re.compile(r"(?P<kernel>\w+)/n:(?P<n>\d+)/k:(?P<k>\d+)/s:(?P<s>\d+)/")
COUNTERS = {"GB/s": "gigabytes_per_second", "of_stream": "of_stream", "moved_of_stream": "moved_of_stream"}
# Share of STREAM's bandwidth a kernel should reach, by the number of columns of V.
TARGETS = {1: 0.8, 5: 0.8, 10: 0.6}
QUICK = "^(trailingGram|updateAndGram)/n:6912/k:30/s:(1|5)/"


def parse(text):
    """One run's JSON: STREAM's bandwidth and {(kernel, n, k, s): {counter: value}}."""
    run = json.loads(text)
    cases = {}
    for entry in run["benchmarks"]:
        match = CASE.match(entry["name"])
        if entry.get("run_type", "iteration") != "iteration" or match is None:
            continue
        if entry.get("error_occurred"):
            raise processes.Failure(f"{entry['name']}: {entry.get('error_message')}")
        key = (match["kernel"], int(match["n"]), int(match["k"]), int(match["s"]))
        cases[key] = {ours: entry[theirs] for theirs, ours in COUNTERS.items()}
    return float(run["context"]["stream_triad_GB/s"]), run["context"]["execution_space"], cases


def collect(workers, runs):
    """Joins several runs of parse() into one element of results.json's "kernels"."""
    streams = [stream for stream, _, _ in runs]
    cases = []
    for kernel, n, k, s in runs[0][2]:
        samples = {name: [cases[(kernel, n, k, s)][name] for _, _, cases in runs] for name in COUNTERS.values()}
        cases.append({"kernel": kernel, "n": n, "k": k, "s": s, "samples": samples,
                      "summary": {name: statistics.spread(values) for name, values in samples.items()}})
    return {"workers": workers, "execution_space": runs[0][1],
            "stream_triad_gigabytes_per_second": {"samples": streams, **statistics.spread(streams)}, "cases": cases}


def measure(programs, arguments, keep):
    """All cores and one core, taking turns. Each run measures STREAM anew, so that its ratios are of one moment. After
    each turn `keep` gets results.json's "kernels" so far."""
    repeat = arguments.repeat or (2 if arguments.quick else 3)
    counts = sorted({arguments.workers, 1}, reverse=True)
    runs = {workers: [] for workers in counts}
    for turn in range(repeat):
        for workers in counts:
            processes.progress(f"kernels: {workers} worker{'s' if workers > 1 else ''}, run {turn + 1}/{repeat}")
            words = [f"--workers={workers}", "--benchmark_format=json"]
            words += [f"--benchmark_filter={QUICK}"] if arguments.quick else []
            runs[workers].append(parse(programs.run(programs.command(PROGRAM, *words))))
        keep([collect(workers, runs[workers]) for workers in counts])


HEAD = ["kernel", "n", "k", "s", "GB/s [min..max]", "of STREAM", "read+write", "target"]


def _between(spread):
    return f"{spread['median']:.1f} [{spread['min']:.1f}..{spread['max']:.1f}]"


def title(run):
    return (f"Kernels, {run['workers']} at once on {run['execution_space']}; STREAM triad "
            f"{_between(run['stream_triad_gigabytes_per_second'])} GB/s")


def rows(run):
    """Of a table under HEAD, a line a case."""
    found = []
    for case in sorted(run["cases"], key=lambda case: (case["kernel"], case["n"], case["s"])):
        summary = case["summary"]
        found.append([case["kernel"], str(case["n"]), str(case["k"]), str(case["s"]), _between(summary["gigabytes_per_second"]),
                      f"{summary['of_stream']['median']:.2f}", f"{summary['moved_of_stream']['median']:.2f}",
                      f"{TARGETS.get(case['s'], 0.8):.2f}"])
    return found
