"""The MPI implementations of this machine: compilers, launchers, and how to ask each for a transport."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from report import children, processes

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE / "overlap_bench.cpp"
FLAGS = ["-std=c++17", "-O3", "-march=native", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
PACKAGES = {"openmpi": "openmpi-bin libopenmpi-dev", "mpich": "mpich libmpich-dev"}
NAMES = tuple(PACKAGES)
TRANSPORTS = ("shm", "tcp")

# What makes an implementation use a transport, as options of its launcher and as variables. Debian's MPICH 4.0 stands on
# UCX; the OFI variables are for MPICH built on libfabric.
# Shared memory is "vader" in Open MPI 4, "sm" from 5 on, where the old name still means it.
OPENMPI_OPTIONS = {"shm": ["--mca", "pml", "ob1", "--mca", "btl", "self,vader"],
                   "tcp": ["--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"]}
MPICH_VARIABLES = {"shm": {}, "tcp": {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo", "MPIR_CVAR_NOLOCAL": "1",
                                      "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "lo"}}


def kind_of(launcher):
    """"openmpi" or "mpich", from what the launcher says of itself."""
    try:
        said = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False).stdout
    except OSError as error:
        raise processes.NotBuilt(f"cannot start {launcher}: {error.strerror}") from error
    if "Open MPI" in said or "OpenRTE" in said:
        return "openmpi"
    if "HYDRA" in said or "MPICH" in said:
        return "mpich"
    raise processes.Failure(f"{launcher} belongs to neither Open MPI nor MPICH; it says: {said.strip()[:200]}")


class Implementation:
    """One MPI: its launcher, its compiler (or None) and the program built with it."""

    def __init__(self, name, launcher, compiler=None, program=None, library=None):
        self.name, self.launcher, self.compiler, self.program = name, launcher, compiler, program
        self.library = library  # libcapstan_latency.so, where asked for

    def build(self, folder, with_latency):
        """Compiles what is missing or older than its sources, into <folder>/<name>."""
        target = folder / self.name
        target.mkdir(parents=True, exist_ok=True)
        if self.program is None:
            self.program = target / "overlap_bench"
            if not self.program.exists() or self.program.stat().st_mtime < SOURCE.stat().st_mtime:
                draft = self.program.with_suffix(".tmp")  # so that an interrupted compilation leaves nothing to run
                self._call([self.compiler, *FLAGS, str(SOURCE), "-o", str(draft)])
                draft.replace(self.program)
        if with_latency and self.library is None:
            self.library = target / "libcapstan_latency.so"
            self._call([str(HERE.parent / "latency" / "build_for"), self.compiler or "mpicxx", str(target)])

    @staticmethod
    def _call(command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise processes.NotBuilt(f"{' '.join(command)}\n  failed:\n{done.stderr}")

    def command(self, ranks, transport, asynchronous, emulated, arguments):
        """Command line and environment of one run."""
        environment = dict(os.environ)
        words = [self.launcher]
        if self.name == "openmpi":
            words += OPENMPI_OPTIONS[transport]
            environment.update(word.split("=", 1) for word in processes.mpi_environment(self.launcher, ranks))
        else:
            environment.update(MPICH_VARIABLES[transport])
            environment["MPIR_CVAR_ASYNC_PROGRESS"] = "1" if asynchronous else "0"
        words += ["-n", str(ranks)]
        if emulated is not None:
            environment["CAPSTAN_LATENCY_US"] = f"{emulated:g}"
            words += ["env", f"LD_PRELOAD={self.library}"]
        return [*words, str(self.program), *arguments], environment


def find(names):
    """The implementations installed, of those named. Returns them and a note for each one that is not."""
    found, notes = [], []
    for name in names:
        compiler, launcher = shutil.which(f"mpicxx.{name}"), shutil.which(f"mpiexec.{name}")
        if compiler and launcher:
            found.append(Implementation(name, launcher, compiler))
        elif shutil.which("mpicxx") and shutil.which("mpiexec") and kind_of("mpiexec") == name:
            found.append(Implementation(name, "mpiexec", "mpicxx"))
        else:
            notes.append(f"{name} left out: mpicxx.{name} or mpiexec.{name} not found (Debian: {PACKAGES[name]})")
    if not found:
        raise processes.NotBuilt("\n  ".join(["no MPI found:", *notes]))
    return found, notes


def attempt(command, environment, timeout):
    """One run: the object it printed, or None, and what went wrong in words, or None. A run that does not end in time is
    ended with all its ranks; what it had printed by then counts, since MPICH with asynchronous progress was seen to hang over
    TCP, and MPI_Finalize comes last."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        status = children.run(command, timeout, stdout=output, stderr=errors, env=environment)
        output.seek(0)
        errors.seek(0)
        said, complaint = output.read(), " ".join(errors.read().split())[:300]
    try:
        result = json.loads(said)
    except ValueError:
        result = None
    if not isinstance(result, dict):
        result = None
        if status == 0:
            return None, f"no result (it printed: {said[:200]!r})"
    if status == 0:
        return result, None
    reason = f"timed out after {timeout} s" if status is None else f"ended with status {status}"
    outcome = "no result" if result is None else "has a result, but did not end well"
    return result, f"{outcome} ({reason})" + (f": {complaint}" if complaint else "")
