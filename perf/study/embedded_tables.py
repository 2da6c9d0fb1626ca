"""Embedded exchanges as text, beside Tables 3 and 4 of [embedded-cg], and as CSV."""

import csv
import pathlib

from report import columns

FILE = pathlib.Path(__file__).resolve().parent / "embedded_cg_tables.csv"
RANKS = tuple(2 ** d for d in range(4, 12))


def published():
    """Tables 3 and 4 of the paper, by number of ranks: column to value."""
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {int(row["ranks"]): {key: float(value) for key, value in row.items()} for row in csv.DictReader(lines)}


def mean(values):
    return sum(values) / len(values)


class Averages:
    """Means over the matrices, each with the same weight."""

    def __init__(self, rows):
        self.rows = rows
        self.ranks = sorted({row["ranks"] for row in rows})

    def of(self, ranks, scheme, column):
        """The mean, or None where no row has this scheme and column."""
        values = [row[column] for row in self.rows if row["ranks"] == ranks and row["scheme"] == scheme]
        return None if not values or None in values else mean(values)

    def time(self, ranks, scheme):
        """Mapping time in partitioning times."""
        values = [row["mapping_seconds"] / row["partition_seconds"] for row in self.rows
                  if row["ranks"] == ranks and row["scheme"] == scheme]
        return mean(values) if values else None

    def matrices(self, ranks):
        return len({row["matrix"] for row in self.rows if row["ranks"] == ranks})


def cell(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def beside(ours, theirs, digits):
    return f"{cell(ours, digits)} ({cell(theirs, digits)})"


def table_3(averages, paper):
    body = []
    for ranks in averages.ranks:
        theirs = paper.get(ranks, {})
        body.append([str(ranks), str(averages.matrices(ranks)),
                     *(beside(averages.time(ranks, name), theirs.get(f"time_{name}"), 3) for name in ("klf", "klr")),
                     *(beside(averages.of(ranks, name, "better_percent"), theirs.get(f"better_{name}"), 1)
                       for name in ("klf", "klr"))])
    head = ["ranks", "matrices", "time: KLF", "KLR", "% better: KLF", "KLR"]
    return ["Table 3: mapping time over partitioning time; cost less than that of the random mapping. (The paper's.)",
            *columns.aligned(head, body)]


SCHEMES = (("conv", "conventional"), ("random", "random"), ("klf", "klf"), ("klr", "klr"))


def table_4(averages, paper):
    counts, volumes, sent = [], [], []
    for ranks in averages.ranks:
        theirs = paper.get(ranks, {})
        counts.append([str(ranks), beside(averages.of(ranks, "conventional", "messages_avg"), theirs.get("conv_avg"), 1),
                       beside(averages.of(ranks, "conventional", "messages_max"), theirs.get("conv_max"), 1),
                       cell(averages.of(ranks, "random", "messages_avg"), 2),
                       beside(averages.of(ranks, "random", "messages_max"), theirs.get("emb"), 0)])
        volumes.append([str(ranks), *(beside(averages.of(ranks, name, f"volume_{kind}"), theirs.get(f"{kind}_{key}"), 3)
                                      for kind in ("total", "max") for key, name in SCHEMES)])
        sent.append([str(ranks), *(beside(averages.of(ranks, name, "volume_sent_max"), theirs.get(f"max_{key}"), 3)
                                   for key, name in SCHEMES)])
    names = ["conventional", "random", "KLF", "KLR"]
    return ["Table 4: messages of a rank.",
            *columns.aligned(["ranks", "conventional: avg", "max", "embedded: avg", "max"], counts),
            "", "Table 4: values over rows of the matrix. max: conventional, what the rank with most sends and receives;",
            "else this of each step, added up.",
            *columns.aligned(["ranks", "total: " + names[0], *names[1:], "max: " + names[0], *names[1:]], volumes),
            "", "max, if only what is sent counts. (The paper's max.)", *columns.aligned(["ranks", *names], sent)]


def growth(averages, paper):
    """Volume over that of the conventional exchange."""
    body = []
    for ranks in averages.ranks:
        theirs = paper.get(ranks, {})
        line = [str(ranks)]
        for kind, column in (("total", "volume_total"), ("max", "volume_max"), ("max", "volume_sent_max")):
            ours = averages.of(ranks, "conventional", f"volume_{kind}")
            for key, name in SCHEMES[1:]:
                mine = averages.of(ranks, name, column)
                line.append(beside(mine / ours if mine is not None and ours else None,
                                   theirs[f"{kind}_{key}"] / theirs[f"{kind}_conv"] if theirs else None, 2))
        body.append(line)
    return ["Averages of Table 4 over those of the conventional exchange. sent: max, if only what is sent counts in a step of the",
            "embedded exchange.", *columns.aligned(["ranks", "total: random", "KLF", "KLR", "max: random", "KLF", "KLR",
                                                    "sent: random", "KLF", "KLR"], body)]


def nodes(averages, ranks_per_node):
    body = []
    schemes = list(dict.fromkeys(row["scheme"] for row in averages.rows))
    for ranks in (ranks for ranks in averages.ranks if ranks > ranks_per_node):
        for scheme in schemes:
            better = averages.of(ranks, scheme, "better_percent")
            body.append([str(ranks), scheme, cell(better, 1),
                         *(cell(averages.of(ranks, scheme, column), 3) for column in
                           ("network_messages_avg", "volume_total", "volume_max", "network_volume",
                            "network_first_volume_total", "network_first_network_volume"))])
    if not body:
        return []
    head = ["ranks", "scheme", "% better", "network messages a rank", "volume", "max", "on the network",
            "network first: volume", "on the network"]
    return ["", f"Nodes of {ranks_per_node} ranks. nodes-: low dimensions within a node. Values over rows of the matrix; on the",
            "network: those sent between nodes. network first: steps along the highest dimension first.",
            *columns.aligned(head, body)]


def text(rows, arguments):
    averages, paper = Averages(rows), published()
    names = list(dict.fromkeys(row["matrix"] for row in rows))
    uneven = sorted((row["imbalance_percent"], row["matrix"]) for row in rows if row["scheme"] == "conventional")
    lines = [f"{len(names)} {'matrix' if len(names) == 1 else 'matrices'}: {', '.join(names)}",
             f"parts: {arguments.partition}; entries of the largest above the mean: median {uneven[len(uneven) // 2][0]:.0f} %, "
             f"at worst {uneven[-1][0]:.0f} % ({uneven[-1][1]})",
             f"{arguments.rows_per_rank} rows a rank or more; passes: KLF {arguments.klf_passes}, KLR {arguments.klr_passes}; "
             f"seed {arguments.seed}", "",
             *table_3(averages, paper), "", *table_4(averages, paper), "", *growth(averages, paper),
             *nodes(averages, arguments.ranks_per_node)]
    return "\n".join(lines)
