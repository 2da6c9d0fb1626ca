"""How fast a solve could be on this machine: bytes over bandwidth, and all-reduces times what one takes.

Both factors are measured in the same run (`solvers_bench --reference`), the counts are the solvers' cost data. Bytes of a
product: a matrix in compressed rows (8 + 4 bytes an entry, 8 a row), x and y once each. Halos, fences and what MPI does
besides are not in the limit: what a solve takes beyond it is what could be gained at most.

The bandwidth is that of memory where matrix and vectors of a solver are larger than the last-level caches, and that of arrays
as large as the system where they are not.
"""

PHASES = ("operator", "preconditioner", "orthogonalization", "reduction_wait", "rest")
ENTRY_BYTES, ROW_BYTES, VECTOR_BYTES = 12, 8, 8


def machine(reference):
    """The best over the run, as STREAM has it: bytes per second from memory and of what may stay in cache, seconds of an
    all-reduce."""
    return {**{name: max(sample[f"{name}_bytes_per_second"] for sample in reference) for name in ("memory", "working_set")},
            "all_reduce": min(sample["all_reduce_seconds"] for sample in reference)}


def bandwidth(cell, cost):
    """Of what a solver with these cost data goes through, and whether it stays in cache."""
    found = machine(cell["reference"])
    held = ENTRY_BYTES * cell["entries"] + (ROW_BYTES + (cost["vectors"] + 2) * VECTOR_BYTES) * cell["rows"]
    cached = held <= cell.get("cache_bytes", 0)
    return (max(found["memory"], found["working_set"]) if cached else found["memory"]), cached


def product_bytes(rows, entries):
    return ENTRY_BYTES * entries + (ROW_BYTES + 2 * VECTOR_BYTES) * rows


def preconditioner_bytes(name, rows, entries):
    """Of one application; None where it is not known, as for multigrid."""
    word = name.split(" ")[0]
    if word == "none":
        return 0
    if word in ("jacobi", "default"):
        return 3 * VECTOR_BYTES * rows
    if word == "gs":
        return product_bytes(rows, entries)
    if word == "sgs":  # a sweep there and one back
        return 2 * product_bytes(rows, entries)
    return None


def together(cost, work, wait):
    """Seconds of both. What is hidden waits only where all that it hides behind is shorter; depth l has l under way at once."""
    return max(work, wait / max(1, cost["pipeline_depth"])) if cost["hidden"] else work + wait


def seconds(cell, solver):
    """{"seconds", "bytes", "reductions", "work", "wait", "phases"} of the limit of a solve; None where cost data are missing."""
    details = solver.get("details")
    if not details or not details.get("cost") or not cell.get("reference"):
        return None
    rows, entries, cost = cell["rows"], cell["entries"], details["cost"]
    of_m = preconditioner_bytes(solver["preconditioner"], rows, entries)
    if of_m is None:
        return None
    iterations = solver["summary"]["iterations"]["median"]
    if not iterations:
        return None
    found = machine(cell["reference"])
    parts = {"operator": iterations * cost["operators"] * product_bytes(rows, entries),
             "preconditioner": iterations * cost["preconditioners"] * of_m,
             "orthogonalization": iterations * cost["bytes_of_a_row"] * rows}
    moved = sum(parts.values())
    reductions = iterations * cost["reductions"]
    rate, cached = bandwidth(cell, cost)
    work, wait = moved / rate, reductions * found["all_reduce"] if cell["ranks"] > 1 else 0.0  # one rank waits for nobody
    total = together(cost, work, wait)
    phases = {**{name: part / rate for name, part in parts.items()}, "reduction_wait": total - work, "rest": 0.0}
    return {"seconds": total, "bytes": moved, "reductions": reductions, "work": work, "wait": wait, "cached": cached,
            "phases": phases, **found}


def phases(solver):
    """Seconds of each phase of a solve: the shares of the last one, of the median time. None where they are not told."""
    told = (solver.get("details") or {}).get("seconds")
    median = solver["summary"]["seconds"]["median"]
    if not told or not told["total"] or not median:
        return None
    return {name: median * told[name] / told["total"] for name in PHASES}


def over(cell, solver):
    """Median time over the limit; None where there is no limit."""
    limit = seconds(cell, solver)
    median = solver["summary"]["seconds"]["median"]
    return None if limit is None or not median else median / limit["seconds"]
