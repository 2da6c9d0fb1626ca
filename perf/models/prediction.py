"""What the models say of a counted plan, an object that study_plans and exchange_bench print."""

import dataclasses

from models import equations
from report import processes

NEEDED = ("network", "on_node")


@dataclasses.dataclass(frozen=True)
class Prediction:
    """Seconds of one exchange: by the paper's equation for the strategy, or None where it has none, and by the messages
    counted, equations (2.5) and (2.6) with what the plan sends between nodes and on them."""
    paper: float
    counted: float


def require(machine, *more):
    missing = machine.missing(*NEEDED, *more)
    if missing:
        raise processes.Misuse(f"{machine.file}: {', '.join(missing)}: not given, but the models need "
                               f"{'them' if len(missing) > 1 else 'it'}; `./capstan bench models` measures a machine")


def _link(machine, place, counts):
    """The link for the average message of the rank that sends most."""
    messages = counts["messages"]["most_of_a_rank"]
    return machine.link(place, counts["bytes"]["most_of_a_rank"] / messages if messages else 0)


def exchange(machine, plan, ranks_per_node):
    """The Prediction for a plan. ranks_per_node: of the fullest node."""
    network, on_node = plan["network"], plan["on_node"]
    t = plan["columns"]
    between, within = _link(machine, "network", network), _link(machine, "on_node", on_node)
    messages, size = network["messages"]["most_of_a_rank"], network["bytes"]["most_of_a_rank"] / t
    node_size = network["bytes"]["most_of_a_node"] / t
    counted = equations.max_rate(messages, t * size, node_size / size if size else 1, between.latency, between.rate,
                                 between.injection_rate)
    counted += equations.postal(on_node["messages"]["most_of_a_rank"], on_node["bytes"]["most_of_a_rank"], within.latency,
                                within.rate)
    paper = None
    if plan["strategy"] == "standard":
        paper = equations.max_rate(messages, t * size, ranks_per_node, between.latency, between.rate,
                                   between.injection_rate)
    elif plan["strategy"] == "two-step":
        paper = equations.two_step(plan["most_nodes_of_a_rank"], node_size, size, ranks_per_node, between, within, t)
    elif plan["strategy"] == "three-step":
        paper = equations.three_step(plan["most_between_nodes"], node_size, size, plan["most_bytes_between_nodes"] / t,
                                     ranks_per_node, between, within, t)
    return Prediction(paper, counted)


def rest(machine, rows, entries, ranks, columns):
    """Seconds of an ECG iteration's computation, and of its reductions. The reductions go by the network's link for the
    larger of the two, 3 t^2 numbers, or by "reduction_latency" where the machine has it."""
    link = machine.link("network", equations.BYTES_PER_NUMBER * 3 * columns ** 2)
    latency = link.latency if machine.reduction_latency is None else machine.reduction_latency
    return (equations.computation(rows, entries, ranks, columns, machine.flop_time, machine.dense_flop_time),
            equations.reductions(ranks, columns, latency, link.rate))
