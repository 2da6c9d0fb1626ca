"""Starts study_plans and holds what it says."""

import dataclasses
import json
from typing import List

from models import equations, prediction
from report import processes

PROGRAM = "study_plans"


@dataclasses.dataclass(frozen=True)
class Study:
    """The counts of one matrix: a line for each number of ranks, as study_plans prints them."""
    matrix: str
    rows: int
    entries: int
    partition: str
    eager_limit: int
    ranks_per_node: int
    lines: List[dict]


def words(arguments, eager_limit):
    """The command line of study_plans."""
    chosen = ["--partition", arguments.partition, "--ranks", ",".join(map(str, arguments.ranks)),
              "--columns", ",".join(map(str, arguments.columns)), "--ranks-per-node", str(arguments.ranks_per_node),
              "--eager-limit", str(eager_limit)]
    if arguments.matrix:
        return ["--matrix", arguments.matrix, *chosen]
    chosen += ["--generate", arguments.generate, "--cells", ",".join(map(str, arguments.cells))]
    if arguments.generate == "dg_laplace2d":
        chosen += ["--degree", str(arguments.degree), "--mesh", arguments.mesh, "--numbering", arguments.numbering]
    return chosen


def count(build, arguments, eager_limit):
    """The Study of the command line. A plan that is wrong, or breaks inequality (4.4), ends in processes.Failure."""
    programs = processes.Programs(build, arguments.timeout, [])
    programs.require(PROGRAM)
    check = ["--check"] if arguments.check else []
    said = programs.run(programs.command(PROGRAM, *words(arguments, eager_limit), *check))
    processes.progress("")
    head, *lines = [json.loads(line) for line in said.splitlines()]
    return Study(head["matrix"], head["rows"], head["entries"], head["partition"], head["eager_limit"],
                 arguments.ranks_per_node, lines)


def rows(study, machine, published):
    """One row, name to value, for each number of ranks, strategy and number of columns. machine: None, or what the models
    take; published: shares of the paper by (strategy, kind, ranks, columns)."""
    found = []
    for line in study.lines:
        for plan in line["plans"]:
            ranks, t = line["ranks"], plan["columns"]
            row = {"ranks": ranks, "nodes": line["nodes"], "strategy": plan["strategy"], "columns": t,
                   "most_rows": line["most_rows"], "most_entries": line["most_entries"]}
            for place in ("network", "on_node"):
                for kind in ("messages", "bytes"):
                    for whose, number in plan[place][kind].items():
                        row[f"{place}_{kind}_{whose}"] = number
            row.update({key: value for key, value in plan.items() if not isinstance(value, dict)})
            if machine is not None:
                row.update(modelled(study, machine, line, plan))
            for kind in ("modelled", "measured"):
                row[f"paper_{kind}_percent"] = published.get((plan["strategy"], kind, ranks, t))
            found.append(row)
    return found


def modelled(study, machine, line, plan):
    """Seconds and shares of an ECG iteration; "exchange" by the paper's equation where it has one, else by the messages
    counted, which "counted" is of for all."""
    exchange = prediction.exchange(machine, plan, line["ranks_per_node"])
    computation, reductions = prediction.rest(machine, study.rows, study.entries, line["ranks"], plan["columns"])
    chosen = exchange.counted if exchange.paper is None else exchange.paper
    return {"exchange_seconds": chosen, "counted_seconds": exchange.counted, "computation_seconds": computation,
            "reductions_seconds": reductions, "percent": equations.share(chosen, computation, reductions),
            "counted_percent": equations.share(exchange.counted, computation, reductions)}
