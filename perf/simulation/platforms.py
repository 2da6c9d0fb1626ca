"""Networks for SimGrid: so many nodes on a fat tree or a dragonfly, with the latencies and rates of a machine."""

import math

TOPOLOGIES = ("fat-tree", "dragonfly")
HEAD = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""
HOPS = 4  # links of the longest way through the fat tree: the machine's latency is that of the way


def parameters(topology, nodes):
    """SimGrid's word for the topology, its parameters, and how many nodes it has: at least `nodes`."""
    if topology == "fat-tree":
        # Two levels: up to 16 nodes a switch below, 8 switches above, each joined to every one below.
        leaf = min(16, nodes)
        leaves = math.ceil(nodes / leaf)
        return "FAT_TREE", f"2;{leaf},{leaves};1,{min(8, leaf)};1,1", leaf * leaves
    # Groups of 2 chassis of 4 routers of 4 nodes. SimGrid 3.32 crashes where there are more groups than routers in a chassis.
    routers = 4
    while math.ceil(nodes / (8 * routers)) > routers:
        routers *= 2
    groups = max(2, math.ceil(nodes / (8 * routers)))
    return "DRAGONFLY", f"{groups},1;2,1;{routers},1;4", groups * 8 * routers


def xml(topology, nodes, machine, cores=None):
    """The platform as a file for smpirun. Nodes are called n-0, n-1, ... cores: of a node, by default one for each rank."""
    link, local = machine.network[-1], machine.on_node[-1]
    kind, words, number = parameters(topology, nodes)
    rate = min(link.injection_rate, link.rate * machine.ranks_per_node)
    return (f'{HEAD}  <cluster id="c" prefix="n-" radical="0-{number - 1}" suffix="" speed="{1 / machine.flop_time:.6g}f" '
            f'core="{cores or machine.ranks_per_node}" bw="{rate:.6g}Bps" lat="{link.latency / HOPS:.6g}s" '
            f'loopback_bw="{local.rate:.6g}Bps" loopback_lat="{local.latency:.6g}s" topology="{kind}" '
            f'topo_parameters="{words}"/>\n</platform>\n')


def hosts(ranks, ranks_per_node):
    """The host file: a line a rank."""
    return "".join(f"n-{rank // ranks_per_node}\n" for rank in range(ranks))
