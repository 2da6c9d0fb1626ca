"""What `capstan advise` measures in a program over hypre, PETSc or code_saturne: the user's own command, with the host's solver and with
Capstan's by the host's door."""

import json
import os
import pathlib
import re
import shutil

from subjects import OWN, Candidate, Sample, method_words  # it also says where the next ones are
from tutorials import timing, workspace
from tutorials.errors import NotInstalled, RunFailed, WrongUse, not_allowed

FAMILIES = ("pcg", "gmres", "flexgmres", "lgmres", "cogmres", "bicgstab")
LIBRARIES = {"hypre": "libcapstanHypre.so", "saturne": "libcapstanSaturne.so", "petsc": "libcapstanPetsc.so"}
# PETSc's types for symmetric matrices.
SYMMETRIC_TYPES = ("cg", "pipecg", "groppcg", "pipelcg", "pipecgrr", "pipeprcg", "pipecg2", "fcg", "cr", "pipecr", "minres", "nash", "stcg")
# What the doors say where the host has solved after all.
LEFT = ("Capstan: hypre", "options that this run has not used")
# PETSc tells of each option that nobody has asked for. Those by which a method of ours is chosen; others are the user's affair.
UNUSED = re.compile(r"Option left: name:(-ksp_capstan\S*|-ksp_type|-dll_append)(?= |$)")


def is_host(word):
    return word == "petsc" or word.startswith(("hypre_", "saturne_"))


def value_of(option, words):
    """What stands behind the last option of a name in a command; None."""
    found = [after for word, after in zip(words, words[1:]) if word == option]
    return found[-1] if found else None


class HostSubject:
    """The solves of one name in a program. It runs where the user is, each time anew."""

    def __init__(self, name, options, work, build):
        self.name, self.command, self.ranks, self.work, self.build = name, options.command, options.ranks, work, build
        self.host = name.partition("_")[0]
        if self.host == "hypre" and name[len("hypre_"):] not in FAMILIES:
            raise not_allowed("the name", name, [f"hypre_{family}" for family in FAMILIES])
        if not self.command:
            raise WrongUse(f"{name}: found no command; allowed: ./capstan advise {name} -- application [its arguments], without mpirun")
        if pathlib.Path(self.command[0]).name in ("mpirun", "mpiexec", "srun", "orterun"):
            raise WrongUse(f"found '{self.command[0]}'; allowed: the application; --ranks says on how many ranks it is started")
        for option in ("field", "steps", "solver"):
            if getattr(options, option):
                raise WrongUse(f"--{option}: found with a program; allowed with a case or a deck only")
        self.library, self.timer = build / "lib" / LIBRARIES[self.host], work / "host_timer.so"
        petsc = value_of("-ksp_type", [*os.environ.get("PETSC_OPTIONS", "").split(), *self.command])
        self.symmetric = name in ("hypre_pcg", "saturne_pressure") or self.host == "petsc" and petsc in SYMMETRIC_TYPES
        self.own = f"{name}: {petsc or 'the program'}" if self.host == "petsc" else name
        self.what = f"{name} of {' '.join(self.command)}"
        self.report = None  # where a run is to write what CAPSTAN has chosen

    def candidates(self):
        return [Candidate(OWN, None), *(Candidate(word, word, self.written(word)) for word in method_words(self.symmetric))]

    def options_of(self, word):
        """What asks for a method: PETSc's options, or CAPSTAN_OPTIONS."""
        method, _, degree = word.partition(":")
        if self.host == "petsc":
            return f"-dll_append {self.library} -ksp_type {method}" + (
                f" -ksp_capstan_polynomial_degree {degree}" if degree else "") + (f" -ksp_capstan_report_file {self.report}" if self.report else "")
        return f"{{redirect: {{{self.name}: {method}}}" + (f", polynomial_degree: {degree}" if degree else "") + (
            f", report_file: {self.report}" if self.report else "") + "}"

    def written(self, word):
        if self.host == "petsc":
            return f"{' '.join(self.command)} {self.options_of(word)}"
        return f"CAPSTAN_OPTIONS='{self.options_of(word)}' ./capstan preload {self.host} -- mpirun -n {self.ranks} {' '.join(self.command)}"

    def prepare(self):
        if not self.library.is_file():
            raise NotInstalled(f"{self.library} is missing; ./capstan build makes it where {self.host} is installed")
        if shutil.which(self.command[0]) is None:
            raise WrongUse(f"found '{self.command[0]}', which is no program")
        self.env = workspace.environment(self.build, self.ranks)
        workspace.execute(["mpicc", "-O1", "-shared", "-fPIC", pathlib.Path(__file__).with_name("host_timer.c"), "-o", self.timer, "-ldl"],
                          self.work, self.env, self.work / "log.timer")

    def words(self, candidate, latency):
        """The command of one run. Variables are for the ranks, not for mpirun."""
        command, variables, preload = list(self.command), {}, [self.timer]
        if latency:
            preload.append(self.build / "lib" / timing.LAYER)
            variables |= {"CAPSTAN_LATENCY_US": f"{latency:g}", "CAPSTAN_LATENCY_WAIT": "yield"}
        if candidate.choice and self.host == "petsc":
            asked = self.options_of(candidate.choice)
            # What stands in the command is the stronger one.
            if "-ksp_type" in command:
                command += asked.split()
            else:
                variables["PETSC_OPTIONS"] = f"{os.environ.get('PETSC_OPTIONS', '')} {asked}"
        elif candidate.choice:
            preload.append(self.library)
            variables["CAPSTAN_OPTIONS"] = self.options_of(candidate.choice)
        variables |= {"CAPSTAN_HOST_NAME": self.name, "CAPSTAN_HOST_TIMES": self.work / "times.json", "LD_PRELOAD": ":".join(map(str, preload))}
        return ["mpirun", "-n", self.ranks, "env", *(f"{key}={value}" for key, value in variables.items()), *command]

    def choose(self, report):
        self.report = report
        self.measure(Candidate("capstan_auto", "capstan_auto"), 0.0, 3600)

    def measure(self, candidate, latency, timeout):
        times = self.work / "times.json"
        times.unlink(missing_ok=True)
        text = workspace.execute(self.words(candidate, latency), pathlib.Path.cwd(), self.env, self.work / "log", timeout)
        if not times.is_file():
            raise WrongUse(f"{self.what}: no solve of that name was seen; is the program linked with the shared library of {self.host}?")
        left = next((line for line in text.splitlines() if line.startswith(LEFT[0]) or LEFT[1] in line or UNUSED.match(line.strip())), None)
        if candidate.choice and left:
            raise RunFailed(f"{self.host} has solved it; {left}")
        told = json.loads(times.read_text(encoding="utf-8"))
        return Sample(told["seconds"], told["iterations"], told["unconverged"], told["all_reduces"], told["seconds"])
