"""Starts the benchmark programs and turns what goes wrong into clear errors."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from report import children

RUN_ENVIRONMENT = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "run_environment.sh"


class Failure(Exception):
    """A benchmark program failed."""
    status = 1


class Misuse(Failure):
    """The command line is wrong."""
    status = 2


class NotBuilt(Failure):
    """A program is missing."""
    status = 3


def mpi_environment(launcher, ranks, *kinds):
    """Words NAME=VALUE, for `env`: what a run on `ranks` ranks with this launcher needs, but for what the user (or ./capstan)
    has set already. kinds: "--quiet", "--threads". See cmake/run-environment.txt."""
    said = subprocess.run([str(RUN_ENVIRONMENT), "--ranks", str(ranks), *kinds, str(launcher)], capture_output=True, text=True, check=True)
    return [line for line in said.stdout.splitlines() if line.partition("=")[0] not in os.environ]


def set_environment():
    """What every run needs, unless the user (or ./capstan) has set it already."""
    for line in mpi_environment("mpirun", 1):
        os.environ.setdefault(*line.split("=", 1))
    os.environ.setdefault("CAPSTAN_PROGRESS", "1" if sys.stderr.isatty() else "0")


def progress(text):
    """One line that the next one overwrites, on a terminal; nothing elsewhere."""
    if os.environ.get("CAPSTAN_PROGRESS") == "1":
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def milestone(text):
    """A line that stays, on a terminal; nothing elsewhere."""
    if os.environ.get("CAPSTAN_PROGRESS") == "1":
        print(f"\r\033[K{text}", file=sys.stderr, flush=True)


def show(text):
    """Prints results that are kept in files too: who reads the first lines only (head) has seen enough."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def command(name, work):
    """Exit status of a command line that does `work`, which returns its own. name: as it is called in messages."""
    children.take_signals_like_ctrl_c()
    try:
        return work()
    except Failure as error:
        progress("")
        print(f"{name}: error: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        progress("")
        return 130


def cmake_cache(build):
    """The entries of CMakeCache.txt, name to value; empty where there is none."""
    file = build / "CMakeCache.txt"
    entries = {}
    if file.is_file():
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            key, equals, value = line.partition("=")
            if equals and not line.startswith(("#", "//")):
                entries[key.split(":")[0]] = value
    return entries


class Programs:
    """The programs in <build>/bin, and MPI.

    environment: words NAME=VALUE for every run. launcher: what starts ranks in place of mpirun, words of which "{ranks}"
    becomes their number."""

    def __init__(self, build, timeout, mpirun_arguments, environment=(), launcher=None):
        cache = cmake_cache(build)
        self.folder = build / "bin"
        self.latency_layer = build / "lib" / "libcapstan_latency.so"
        self.timeout = timeout
        self.mpiexec = cache.get("MPIEXEC_EXECUTABLE", "mpirun")
        self.ranks_flag = cache.get("MPIEXEC_NUMPROC_FLAG", "-n")
        self.mpirun_arguments = list(mpirun_arguments)
        self.environment = list(environment)
        self.launcher = list(launcher) if launcher else None

    def is_open_mpi(self):
        """Whether mpirun is Open MPI's, whose options other launchers do not have."""
        try:
            said = subprocess.run([self.mpiexec, "--version"], capture_output=True, text=True, check=False).stdout
        except OSError:
            return False
        return "Open MPI" in said or "OpenRTE" in said

    def require(self, *names):
        missing = [name for name in names if name and not os.access(self.folder / name, os.X_OK)]
        if missing:
            raise NotBuilt(f"not built: {', '.join(str(self.folder / name) for name in missing)}\n"
                           "  `./capstan bench` builds them, and so does the target capstan_bench; kernels_benchmark "
                           "needs Google Benchmark (libbenchmark-dev)")

    def require_latency_layer(self):
        if not self.latency_layer.is_file():
            raise NotBuilt(f"not built: {self.latency_layer}\n  `./capstan bench` builds it, and so does the target "
                           "capstan_bench")

    def emulate(self, latency):
        """Words ahead of a program under which no all-reduce completes before `latency` microseconds; none for 0, where
        the layer is not there at all, and for None."""
        if not latency:
            return []
        loaded = ":".join(filter(None, [str(self.latency_layer), os.environ.get("LD_PRELOAD")]))
        # Ranks that wait for an emulated network must not take the cores from those that work.
        return ["env", f"LD_PRELOAD={loaded}", f"CAPSTAN_LATENCY_US={latency:g}", "CAPSTAN_LATENCY_WAIT=yield"]

    def mpi_command(self, ranks, name, *arguments, latency=None):
        """The command line that runs a program on `ranks` ranks, with that emulated latency if any."""
        started = self.launcher or [self.mpiexec, *self.mpirun_arguments, self.ranks_flag, "{ranks}"]
        if shutil.which(started[0]) is None:
            raise NotBuilt(f"cannot start {started[0]}: it is not there")
        # Quiet: the program has said what is wrong.
        kinds = ["--quiet", *(["--threads"] if "--mpi-threads" in arguments else [])]
        # A launcher of our own may spread the ranks over machines that have cores enough.
        return ["env", *mpi_environment(self.mpiexec, 1 if self.launcher else ranks, *kinds), *self.environment,
                *(word.replace("{ranks}", str(ranks)) for word in started), *self.emulate(latency),
                str(self.folder / name), *arguments]

    def command(self, name, *arguments):
        return [str(self.folder / name), *arguments]

    def run(self, command, log=None):
        """Runs a command and returns its standard output, or None when that goes to the file `log`. Standard error is
        ours, since progress and errors go there."""
        with open(log, "w+b") if log else tempfile.TemporaryFile() as output:
            try:
                status = children.run(command, self.timeout, stdout=output)
            except OSError as error:
                raise NotBuilt(f"cannot start {command[0]}: {error.strerror}") from error
            output.seek(0)
            said = None if log else output.read().decode("utf-8", errors="replace")
        if status is None:
            raise Failure(f"{' '.join(command)}\n  ran longer than {self.timeout} seconds (--timeout) and was ended")
        if status != 0:
            kind = Misuse if status == 2 else Failure
            raise kind(f"{' '.join(command)}\n  ended with status {status}")
        return said
