"""A study as text, as CSV and as a picture."""

import paper
from report import columns, plots

STRATEGIES = ("standard", "two-step", "three-step", "optimal")


def count_lines(rows):
    """Messages and bytes for the largest number of columns."""
    most = max(row["columns"] for row in rows)
    body = []
    for row in (row for row in rows if row["columns"] == most):
        body.append([str(row["ranks"]), row["strategy"], str(row["network_messages_most_of_a_rank"]),
                     str(row["network_messages_most_of_a_node"]), str(row["network_messages_total"]),
                     str(row["most_nodes_of_a_node"]), *(f"{row[f'network_bytes_{key}'] / 1e3:.1f}" for key in
                                                         ("most_of_a_rank", "most_of_a_node", "total")),
                     f"{row['most_bytes_of_a_message'] / 1e3:.1f}", str(row["on_node_messages_most_of_a_rank"]),
                     str(row["on_node_messages_total"]), f"{row['on_node_bytes_most_of_a_rank'] / 1e3:.1f}"])
    head = ["ranks", "strategy", "messages a rank", "a node", "all", "nodes", "kB a rank", "a node", "all", "one message",
            "on node: messages a rank", "all", "kB a rank"]
    return [f"Messages between nodes and on them, t = {most}; a rank, a node: the most of one. nodes: that one node sends to.",
            *columns.aligned(head, body)]


def share_lines(rows):
    """Shares of the exchange in an ECG iteration, the paper's beside them."""
    ranks = list(dict.fromkeys(row["ranks"] for row in rows))
    found = {(row["strategy"], row["columns"], row["ranks"]): row for row in rows}
    body = []
    for t in dict.fromkeys(row["columns"] for row in rows):
        for strategy in STRATEGIES:
            mine = [found[strategy, t, number] for number in ranks]
            body.append([f"{t}", strategy, "model", *(f"{row['percent']:.1f}" for row in mine)])
            for kind in ("modelled", "measured"):
                values = [row[f"paper_{kind}_percent"] for row in mine]
                if any(value is not None for value in values):
                    body.append(["", "", f"paper, {kind}", *("-" if value is None else f"{value:.1f}" for value in values)])
    return ["Percent of an ECG iteration in point-to-point communication, by ranks.",
            *columns.aligned(["t", "strategy", "", *map(str, ranks)], body)]


def fit_lines(fit):
    link, local = fit.machine.network[0], fit.machine.on_node[0]
    unit = fit.machine.flop_time
    return [f"Fit to the {2 * len(paper.RANKS) * len(paper.COLUMNS)} modelled shares of Table 2: {fit.deviation:.2f} points "
            f"root mean square, {fit.worst:.1f} at worst;",
            f"with that the measured shares of standard communication, which were not fitted: {fit.standard:.2f} points.",
            f"With one time for all operations, and one latency between nodes: {fit.narrow:.2f} points.",
            f"In operations of the product: network {link.latency / unit:.3g} a message, {1 / (link.rate * unit):.3g} a byte of "
            f"a process, {1 / (link.injection_rate * unit):.3g} a byte of a node; on a node {local.latency / unit:.3g} and "
            f"{1 / (local.rate * unit):.3g};", f"another operation {fit.machine.dense_flop_time / unit:.3g}; a stage of a "
            f"reduction {fit.machine.reduction_latency / unit:.3g}."]


def text(study, machine, rows, fit):
    lines = [f"{study.matrix}: {study.rows:,} rows, {study.entries:,} entries; {study.partition} rows, "
             f"{study.ranks_per_node} ranks a node; optimal splits above {study.eager_limit} bytes", "", *count_lines(rows)]
    if fit:
        lines += ["", *fit_lines(fit)]
    if machine:
        lines += ["", f"Machine: {machine.name} ({machine.source})", *share_lines(rows)]
    return "\n".join(lines)


def draw(rows, path):
    """One panel for each number of columns: shares over ranks, lines for the model, marks for the paper."""
    pyplot = plots.load_pyplot()
    blocks = list(dict.fromkeys(row["columns"] for row in rows))
    figure, panels = pyplot.subplots(1, len(blocks), figsize=(3.2 * len(blocks) + 1, 3.6), squeeze=False, sharey=True)
    for axes, t in zip(panels[0], blocks):
        for strategy, color in zip(STRATEGIES, ("tab:gray", "tab:blue", "tab:orange", "tab:green")):
            mine = [row for row in rows if row["columns"] == t and row["strategy"] == strategy]
            axes.plot([row["ranks"] for row in mine], [row["percent"] for row in mine], color=color, linestyle="--",
                      label=strategy)
            for kind, marker in (("modelled", "o"), ("measured", "x")):
                there = [row for row in mine if row[f"paper_{kind}_percent"] is not None]
                axes.plot([row["ranks"] for row in there], [row[f"paper_{kind}_percent"] for row in there], color=color,
                          linestyle="", marker=marker, markersize=4)
        axes.set_xscale("log", base=2)
        axes.set_ylim(0, 100)
        axes.set_xlabel("ranks")
        axes.set_title(f"t = {t}", fontsize="medium")
    panels[0][0].set_ylabel("percent in point-to-point communication")
    panels[0][-1].legend(fontsize="x-small", title="dashed: model; o, x: paper,\nmodelled and measured",
                         title_fontsize="x-small")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
