"""Traces of solves ("Trace File"): what each thread did, and reductions in flight; and their picture."""

import dataclasses
import json

import run_files

WAITING = ("wait", "blocking reduction")
COLORS = ["tab:blue", "tab:orange", "tab:green", "tab:purple", "tab:brown", "tab:pink", "tab:olive", "tab:cyan"]


@dataclasses.dataclass
class Trace:
    """Times in microseconds from the first event on."""
    threads: dict = dataclasses.field(default_factory=dict)     # (rank, thread): [(name, begin, length)]
    reductions: dict = dataclasses.field(default_factory=dict)  # rank: [(begin, end)]
    solver: str = ""

    def end(self):
        return max([begin + length for spans in self.threads.values() for _, begin, length in spans] +
                   [end for each in self.reductions.values() for _, end in each], default=0.0)

    def shares(self, thread):
        """{name: share of the whole time} of a (rank, thread); "gaps" is what remains."""
        whole = self.end()
        found = {}
        for name, _, length in self.threads[thread]:
            found[name] = found.get(name, 0.0) + length / whole
        found["gaps"] = max(0.0, 1 - sum(found.values()))
        return found

    def waited(self, rank):
        """(microseconds that reductions of a rank were in flight, those that it waited for them)."""
        flight = sum(end - begin for begin, end in self.reductions.get(rank, ()))
        return flight, sum(length for name, _, length in self.threads.get((rank, 0), ()) if name == "wait")


def read(paths):
    """The Trace that files tell together, each that of a rank. Raises run_files.FileError."""
    trace = Trace()
    open_ones = {}
    for path in paths:
        try:
            whole = json.loads(path.read_text(encoding="utf-8"))
            for event in whole["traceEvents"]:
                rank = event["pid"]
                if event["ph"] == "X":
                    trace.threads.setdefault((rank, event["tid"]), []).append((event["name"], event["ts"], event["dur"]))
                elif event["ph"] == "b":
                    open_ones[rank, event["id"]] = event["ts"]
                elif event["ph"] == "e":
                    trace.reductions.setdefault(rank, []).append((open_ones.pop((rank, event["id"])), event["ts"]))
                elif event["name"] == "process_name":
                    trace.solver = event["args"]["name"].partition(", ")[2]
        except OSError as error:
            raise run_files.FileError(f"{path}: it cannot be read: {error.strerror}") from None
        except json.JSONDecodeError as error:
            raise run_files.FileError(f"{path}, line {error.lineno}: this is no JSON: {error.msg}") from None
        except (KeyError, TypeError, AttributeError) as error:
            raise run_files.FileError(f"{path}: this is no trace ({type(error).__name__}: {error}); allowed: what \"Trace File\" "
                                      "writes") from None
    if not trace.threads:
        raise run_files.FileError(f"{', '.join(map(str, paths))}: nothing was traced")
    first = min([begin for spans in trace.threads.values() for _, begin, _ in spans] +
                [begin for each in trace.reductions.values() for begin, _ in each])
    trace.threads = {key: [(name, begin - first, length) for name, begin, length in trace.threads[key]] for key in sorted(trace.threads)}
    trace.reductions = {rank: [(begin - first, end - first) for begin, end in each] for rank, each in trace.reductions.items()}
    return trace


def thread_name(thread):
    return "driver" if thread == 0 else f"thread {thread}"


def summary(trace):
    """Lines for people: what each thread spent its time on, and what of the reductions was waited for."""
    lines = []
    for rank, thread in trace.threads:
        shares = sorted(trace.shares((rank, thread)).items(), key=lambda item: -item[1])
        lines.append(f"rank {rank}, {thread_name(thread)}: " + ", ".join(f"{what} {100 * share:.0f} %" for what, share in shares if share >= 0.005))
    for rank, each in trace.reductions.items():
        flight, waited = trace.waited(rank)
        lines.append(f"rank {rank}: {len(each)} reductions, {flight / len(each):.1f} us in flight and {waited / len(each):.1f} us waited "
                     "for, each")
    return lines


def middle(trace, window):
    """Where a window in the middle of the solve begins: a little later or earlier where all threads were paused then."""
    begin = max(0.0, (trace.end() - window) / 2)
    spans = [(start, start + length) for spans in trace.threads.values() for _, start, length in spans]
    if any(stop > begin and start < begin + window for start, stop in spans):
        return begin
    return min((start for start, _ in spans), key=lambda start: abs(start - begin))


def draw(trace, title, window):
    """A figure of the `window` microseconds in the middle of the solve."""
    import matplotlib  # pylint: disable=import-outside-toplevel
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    begin = middle(trace, window)
    ranks = sorted({rank for rank, _ in trace.threads} | set(trace.reductions))
    names = sorted({name for spans in trace.threads.values() for name, _, _ in spans if name not in WAITING})
    colors = {name: COLORS[number % len(COLORS)] for number, name in enumerate(names)}
    colors.update(dict.fromkeys(WAITING, "tab:red"))
    figure, axes = pyplot.subplots(figsize=(12, 1.6 + 0.5 * (len(trace.threads) + len(trace.reductions))))
    labels = []
    shown = set()
    for rank in ranks:
        rows = [(thread, spans) for (owner, thread), spans in trace.threads.items() if owner == rank]
        for thread, spans in rows:
            for name in sorted({name for name, _, _ in spans}):
                seen = [(start - begin, length) for what, start, length in spans
                        if what == name and start + length > begin and start < begin + window]
                if not seen:
                    continue
                axes.broken_barh(seen, (len(labels) - 0.4, 0.8), facecolors=colors[name], label=None if name in shown else name)
                shown.add(name)
            labels.append(f"rank {rank}, {thread_name(thread)}")
        spans = [(start - begin, stop - start) for start, stop in trace.reductions.get(rank, ())
                 if stop > begin and start < begin + window]
        if rank in trace.reductions:
            axes.broken_barh(spans, (len(labels) - 0.2, 0.4), facecolors="lightgray", edgecolors="black", linewidth=0.6)
            labels.append(f"rank {rank}, reductions in flight")
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlim(0, window)
    axes.set_xlabel("microseconds")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)
    figure.suptitle(f"{title}: {trace.solver}", fontsize="medium")
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    return figure
