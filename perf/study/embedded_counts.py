"""Starts study_embedding for each matrix and holds what it says."""

import json
import os
import pathlib

from report import processes

PROGRAM = "study_embedding"
MAPPINGS = ("random", "klf", "klr", "ordered", "ordered-klf", "ordered-klr", "nodes-random", "nodes-klf", "nodes-klr",
            "nodes-ordered-klf", "nodes-ordered-klr")


def words(arguments, matrix):
    """The command line of study_embedding."""
    chosen = ["--matrix", matrix, "--partition", arguments.partition, "--ranks", ",".join(map(str, arguments.ranks)),
              "--rows-per-rank", str(arguments.rows_per_rank), "--ranks-per-node", str(arguments.ranks_per_node),
              "--klf-passes", str(arguments.klf_passes), "--klr-passes", str(arguments.klr_passes),
              "--mappings", ",".join(arguments.mappings), "--seed", str(arguments.seed)]
    for option in ("imbalance", "threshold"):
        value = getattr(arguments, option)
        if value is not None:
            chosen += [f"--{option}", str(value)]
    return chosen


def name_of(path):
    name = pathlib.Path(path).name
    for ending in (".gz", ".mtx"):
        name = name.removesuffix(ending)
    return name


def rows(programs, arguments):
    """A row, name to value, for each matrix, number of ranks and scheme: "conventional", or a mapping of the embedded
    exchange. Averages and volumes as in the paper's tables."""
    found = []
    for matrix in arguments.matrices:
        processes.progress(f"{matrix}")
        said = programs.run(programs.mpi_command(1, PROGRAM, *words(arguments, os.path.abspath(matrix))))
        head, *lines = [json.loads(line) for line in said.splitlines()]
        for line in lines:
            schemes = [("conventional", line["conventional"])]
            schemes += [(mapping["mapping"], mapping) for mapping in line["mappings"]]
            found += [row(name_of(matrix), head, line, scheme, counts) for scheme, counts in schemes]
    processes.progress("")
    if not found:
        raise processes.Misuse(f"--ranks, --rows-per-rank: no matrix has {arguments.rows_per_rank} rows a rank for any of "
                               f"{','.join(map(str, arguments.ranks))} ranks")
    return found


def row(name, head, line, scheme, counts):
    ranks, size = line["ranks"], head["rows"]
    made = {"matrix": name, "rows": size, "entries": head["entries"], "ranks": ranks, "scheme": scheme,
            "imbalance_percent": 100 * line["imbalance"], "messages_avg": counts["messages"] / ranks,
            "messages_max": counts["most_messages"], "volume_total": counts["volume"] / size,
            "volume_max": counts["most_volume"] / size,
            "volume_sent_max": counts["most_sent"] / size, "network_messages_avg": counts["network_messages"] / ranks,
            "network_volume": counts["network_volume"] / size, "partition_seconds": line["partition_seconds"]}
    first = counts.get("network_first", {})
    made |= {"network_first_volume_total": first["volume"] / size if first else None,
             "network_first_volume_max": first["most_volume"] / size if first else None,
             "network_first_network_volume": first["network_volume"] / size if first else None}
    cost, random = counts.get("cost"), counts.get("cost_of_random")
    made |= {"cost": cost, "better_percent": 100 * (1 - cost / random) if random else None if cost is None else 0.0,
             "mapping_seconds": counts.get("seconds"), "passes": counts.get("passes")}
    return made
