"""The models of [enlarged-cg], as pure functions: what a product with a block of vectors, and an iteration, should take.

Times are in seconds, rates in bytes a second, sizes in bytes. Numbers of messages and bytes are those of Table 1 there, for
one column; `columns` is t. tpetra_ext/topology/plan_counts.hpp counts them.
"""

import math

BYTES_PER_NUMBER = 8  # "f" of equation (3.1)


def postal(messages, size, latency, rate):
    """Equation (2.6): messages that one process sends, one after the other; `size`: bytes of all together."""
    return latency * messages + size / rate


def max_rate(messages, size, ranks_per_node, latency, rate, injection_rate):
    """Equation (2.5), the max-rate model: all processes of a node send likewise, and their node's network card takes
    `injection_rate` at most."""
    return latency * messages + max(ranks_per_node * size / injection_rate, size / rate)


def two_step(nodes_of_a_rank, node_size, rank_size, ranks_per_node, network, on_node, columns=1):
    """Equation (4.2), and with one column (2.8). nodes_of_a_rank: most nodes that a process sends to; node_size, rank_size:
    most bytes that a node, a process sends to other nodes, for one column. network, on_node: links, see machines.Link."""
    between = network.latency * nodes_of_a_rank + max(columns * node_size / network.injection_rate,
                                                      columns * rank_size / network.rate)
    return between + on_node.latency * (ranks_per_node - 1) + columns * rank_size / on_node.rate


def three_step(messages_of_nodes, node_size, rank_size, size_of_nodes, ranks_per_node, network, on_node, columns=1):
    """Equation (4.3), and with one column (2.7). messages_of_nodes, size_of_nodes: most messages, and bytes for one column,
    from one node to another; the rest as in two_step()."""
    between = network.latency * messages_of_nodes / ranks_per_node + max(columns * node_size / network.injection_rate,
                                                                         columns * rank_size / network.rate)
    within = on_node.latency * (ranks_per_node - 1) + columns * size_of_nodes / on_node.rate
    return between + 2 * within


def reductions(ranks, columns, latency, rate):
    """The collective part of equations (3.1), (3.2) and (3.4): the two all-reduces of an ECG iteration, of t^2 and 3 t^2
    numbers. The logarithm is that to base 2."""
    return 2 * latency * math.log2(ranks) + BYTES_PER_NUMBER * 4 * columns ** 2 / rate


def computation(rows, entries, ranks, columns, flop_time, dense_flop_time=None):
    """Equation (3.3): the operations of an ECG iteration on one process. rows, entries: of the whole matrix. The paper takes
    one time for all operations; `dense_flop_time`, where given, holds for all but the product with the matrix."""
    dense = flop_time if dense_flop_time is None else dense_flop_time
    t = columns
    product = 2 * t * entries / ranks
    rest = (4 * t + 4 * t ** 2) * rows / ranks + t ** 2 / 2 + t ** 3 / 3
    return flop_time * product + dense * rest


def ecg_max_rate(messages, size, ranks, ranks_per_node, columns, network):
    """Equation (3.2): the communication of an ECG iteration, with the limit of a node's network card."""
    exchange = max_rate(messages, size * columns, ranks_per_node, network.latency, network.rate, network.injection_rate)
    return exchange + reductions(ranks, columns, network.latency, network.rate)


def ecg(messages, size, rows, entries, ranks, ranks_per_node, columns, network, flop_time):
    """Equation (3.4): an ECG iteration with standard communication."""
    return (ecg_max_rate(messages, size, ranks, ranks_per_node, columns, network)
            + computation(rows, entries, ranks, columns, flop_time))


def share(part, *others):
    """Percent of a time in the sum with others."""
    return 100 * part / (part + sum(others))
