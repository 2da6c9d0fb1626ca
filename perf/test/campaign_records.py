"""Made-up results of campaigns, for the tests of tables, verdicts and the report."""

import pathlib
import sys

PERF = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PERF))

from report import solvers  # noqa: E402  pylint: disable=wrong-import-position

COST = {"reductions": 0.1, "hidden": False, "operators": 1, "preconditioners": 1, "vectors": 5, "flops_of_a_row": 10,
        "bytes_of_a_row": 100, "pipeline_depth": 1, "step_size": 10, "restart": 60}


def solver(name, library, seconds, group="GMRES", method=None, **changes):
    """A solver of solvers_bench's output with one time a turn."""
    sample = {"position": 0, "iterations": 20, "claimed_converged": True, "relative_residual": 1e-7,
              "reductions_blocking": 2, "reductions_nonblocking": 0, "other_collectives": 0, "operator_applications": 21,
              "preconditioner_applications": 0, "failure": None, **changes}
    phases = {"total": 1e-3, "operator": 5e-4, "preconditioner": 1e-4, "orthogonalization": 2e-4, "reduction_wait": 1e-4,
              "rest": 1e-4}
    details = {"solver": method or name.upper(), "seconds": phases, "cost": COST} if library == "capstan" else None
    return {"name": name, "method": method or name, "library": library, "group": group, "preconditioner": "none",
            "tolerance": 1e-6, "parameters": {}, "details": details, "first": {**sample, "turn": 0, "seconds": 9e-3},
            "samples": [{**sample, "turn": turn + 1, "seconds": value} for turn, value in enumerate(seconds)]}


def reference(memory=(10e9,) * 8, working_set=40e9, all_reduce=1e-6):
    return [{"turn": turn, "memory_bytes_per_second": value, "working_set_bytes_per_second": working_set,
             "all_reduce_seconds": all_reduce} for turn, value in enumerate(memory)]


def cell(key, experiment="small", members=None, **changes):
    """A line of results.jsonl."""
    members = members or [solver("capstan s-step", "capstan", [1e-3, 2e-3, 3e-3], method="CAPSTAN GMRES S-STEP"),
                          solver("block gmres", "belos", [4e-3, 4e-3, 5e-3]), solver("PETSc gmres", "petsc", [8e-3] * 3)]
    made = {"kind": "cell", "format": 1, "key": key, "experiment": experiment, "ranks": 2, "transport": "shm", "latency_us": 0.0,
            "preconditioner": "none", "scaling": "strong", "repeat": 3, "seed": 1, "environment": "here", "status": "done",
            "date": "2026-11-23", "rows": 1000, "entries": 6400, "cache_bytes": 1 << 25, "reference": reference(), "notes": [], "wall_seconds": 1.0,
            "command": ["mpirun"], "pinned": True,
            "solvers": solvers.summarize({"solvers": members})["solvers"], **changes}
    return {"title": f"{experiment}, {made['ranks']} ranks, {made['latency_us']:g} us", **made}


def campaign(keys, targets=(), **changes):
    return {"kind": "campaign", "format": 1, "name": "made up", "title": "Made up", "about": "Nothing was measured.", "curves": [],
            "keys": list(keys), "experiments": [{"name": "small", "targets": list(targets), "scaling": "strong"}], **changes}


ENVIRONMENT = {"kind": "environment", "format": 1, "id": "here", "date": "2026-11-23T00:00:00", "load_average": {"start": 0.0},
               "machine": {"processor": "a processor", "cores": 2, "caches": {}, "memory": "1 kB", "system": "Linux"},
               "commit": "0123456789abcdef", "changed_since_commit": False, "build": {"type": "Release"}, "launcher": ["mpirun"]}
