"""Starts SimGrid's replay of traces."""

import pathlib
import re
import shutil
import tempfile

import platforms
import traces
from report import children, processes

REPLAY = "smpireplaymain"
PACKAGE = "libsimgrid-dev"
# No factors of a real cluster's MPI on the machine's latency and rate; small stacks, as there are thousands of actors. Rates to
# 1e-3 bytes a second: with hundreds of messages under way finer ones drown in rounding. Messages with the simulated time.
OPTIONS = ("--cfg=contexts/stack-size:64", "--cfg=contexts/guard-size:0", "--cfg=smpi/host-speed:1f",
           "--cfg=maxmin/precision:1e-3", "--cfg=smpi/bw-factor:0:1", "--cfg=smpi/lat-factor:0:1", "--log=root.fmt:%.12r=%m%n")


class TooLong(processes.Failure):
    """A replay had not ended in time."""


def program():
    """The path of the program that replays; processes.NotBuilt where SimGrid is not installed."""
    smpirun = shutil.which("smpirun")
    if smpirun:
        prefix = pathlib.Path(smpirun).resolve().parents[1]
        found = [path for pattern in ("lib/simgrid", "lib/*/simgrid", "bin") for path in prefix.glob(f"{pattern}/{REPLAY}")]
        if found:
            return str(found[0])
    raise processes.NotBuilt(f"smpirun or {REPLAY} not found: SimGrid is needed (Debian: {PACKAGE})")


def seconds(lines_of_ranks, platform, host_file, timeout, more=()):
    """Simulated seconds until the last rank has ended. lines_of_ranks: an iterable of each rank's trace. more: options."""
    replay = program()
    with tempfile.TemporaryDirectory(prefix="capstan-simulation-") as name:
        folder = pathlib.Path(name)
        files = []
        for rank, lines in enumerate(lines_of_ranks):
            files.append(folder / f"{rank}.trace")
            files[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / "traces").write_text("".join(f"{file}\n" for file in files), encoding="utf-8")
        (folder / "platform.xml").write_text(platform, encoding="utf-8")
        (folder / "hosts").write_text(host_file, encoding="utf-8")
        with open(folder / "output", "w+", encoding="utf-8", errors="replace") as output:
            command = ["smpirun", "-np", str(len(files)), "-replay", str(folder / "traces"), "-platform",
                       str(folder / "platform.xml"), "-hostfile", str(folder / "hosts"), *OPTIONS, *more, replay]
            status = children.run(command, timeout, stdout=output, stderr=output)
            output.seek(0)
            said = output.read()
    found = re.findall(r"([0-9.]+)=Simulation time", said)
    if status is None:
        raise TooLong(f"smpirun with {len(files)} ranks ran longer than {timeout} seconds (--timeout)")
    if status != 0 or not found:
        raise processes.Failure(f"smpirun with {len(files)} ranks ended with status {status}: {' '.join(said.split())[-500:]}")
    return float(found[-1])


def seconds_of_an_iteration(case, iterations, timeout, more=(), cores=None):
    """Without start and end: of twice as many iterations less those of once; whole periods of the method, at least
    `iterations`. more: options. cores: of a node, by default one for each rank."""
    iterations = -(-iterations // case.method.period) * case.method.period

    def run(number):
        lines = (traces.RankTrace(rank, case.ranks, case.rows / case.ranks, case.entries / case.ranks, case.exchanges,
                                  case.embedded).run(case.method, number) for rank in range(case.ranks))
        platform = platforms.xml(case.topology, -(-case.ranks // case.machine.ranks_per_node), case.machine,
                                 cores)
        return seconds(lines, platform, platforms.hosts(case.ranks, case.machine.ranks_per_node), timeout, more)
    return (run(2 * iterations) - run(iterations)) / iterations
