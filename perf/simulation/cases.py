"""One simulation, and the messages of a 3D Laplacian's exchanges for it."""

import collections
import dataclasses
import json
import pathlib
import tempfile

import platforms
import schedules
import traces
from models import machines
from report import options, processes

PROGRAM = "study_plans"


@dataclasses.dataclass(frozen=True)
class Case:
    """One simulation. exchanges: number of columns to traces.Exchange."""
    method: schedules.Method
    topology: str
    strategy: str
    ranks: int
    rows: int
    entries: int
    machine: machines.Machine
    exchanges: dict
    embedded: traces.EmbeddedExchange = None


def add_options(parser, iterations, timeout, described=True):
    """Of every simulation. described: on networks and a machine that are described, not measured."""
    if described:
        parser.add_argument("--topologies", type=options.some_of(platforms.TOPOLOGIES), default=list(platforms.TOPOLOGIES),
                            metavar="NAME,...", help=f"some of {', '.join(platforms.TOPOLOGIES)} (default: all)")
        parser.add_argument("--machine", default="round_numbers", metavar="NAME",
                            help=f"a YAML file, or one of {', '.join(machines.names())} (default %(default)s)")
    parser.add_argument("--iterations", type=options.number(1), default=iterations,
                        help="simulated once and twice as many; the difference counts (default %(default)s)")
    parser.add_argument("--timeout", type=options.number(1), default=timeout, metavar="SECONDS",
                        help="for each run of a program (default %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR",
                        help="folder of the results (default: <build folder>/simulation/<date>)")


def widths(methods):
    """Numbers of columns that their products have."""
    found = {1}
    for method in methods:
        found |= {one.columns for one in method.iteration(0) if isinstance(one, schedules.Product)}
    return sorted(found)


def plans(build, arguments, machine):
    """Rows, entries, and (ranks, strategy, columns): traces.Exchange, as study_plans tells."""
    programs = processes.Programs(build, arguments.timeout, [])
    programs.require(PROGRAM)
    with tempfile.TemporaryDirectory(prefix="capstan-simulation-") as folder:
        file = pathlib.Path(folder) / "messages"
        words = ["--generate", "laplace3d", "--cells", str(arguments.cells), "--partition", arguments.partition,
                 "--ranks", ",".join(map(str, arguments.ranks)), "--ranks-per-node", str(machine.ranks_per_node),
                 "--columns", ",".join(map(str, widths([schedules.METHODS[name] for name in arguments.methods]))),
                 "--strategies", ",".join(arguments.strategies), "--messages", str(file)]
        if machine.eager_limit:
            words += ["--eager-limit", str(machine.eager_limit)]
        head = json.loads(programs.run(programs.command(PROGRAM, *words)).splitlines()[0])
        messages = collections.defaultdict(list)
        for line in file.read_text(encoding="utf-8").splitlines():
            ranks, strategy, width, step, sender, receiver, values = line.split()
            messages[int(ranks), strategy, int(width)].append((step, int(sender), int(receiver), int(values)))
    processes.progress("")
    return head["rows"], head["entries"], {key: traces.Exchange(key[0], value) for key, value in messages.items()}
