"""Prepares cases and runs them, below the build folder."""

import dataclasses
import gzip
import math
import os
import pathlib
import re
import shutil
import subprocess
import time

from . import results
from .case import Case
from .errors import NotInstalled, RunFailed, WrongUse
from .foam_text import FoamText
from .solvers import Choice, edit_solution

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = pathlib.Path("/usr/share/doc/openfoam-examples/examples")
LIBRARY = "libcapstanFoam.so"
# Marks a folder as one that a run may remove.
MARK = ".capstan-run"
HEADER = "FoamFile\n{{\n    version 2.0;\n    format ascii;\n    class dictionary;\n    object {};\n}}\n"


def tutorials_folder():
    """The installed tutorials; CAPSTAN_TUTORIALS names another folder."""
    return pathlib.Path(os.environ.get("CAPSTAN_TUTORIALS", EXAMPLES))


def build_folder():
    return pathlib.Path(os.environ.get("CAPSTAN_BUILD_DIR", ROOT / "build")).resolve()


def sanitizer_runtime(library):
    """The address sanitizer a library is linked with, which a program without it must load first; or None."""
    linked = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=False).stdout
    found = re.search(r"libasan\.so\S* => (\S+)", linked)
    return found.group(1) if found else None


def environment(build, ranks=None):
    """The variables OpenFOAM's programs need to find the library, and MPI to start so many ranks; None: any number of them, with
    other runs beside them."""
    env = dict(os.environ)
    env.setdefault("WM_PROJECT_DIR", "/usr/share/openfoam")
    env["CAPSTAN_BUILD_DIR"] = str(build)
    # ctest and ./capstan have set some of these already.
    needed = subprocess.run([str(ROOT / "cmake/run_environment.sh"), *(["--ranks", str(ranks)] if ranks else ["--oversubscribed"])],
                            capture_output=True, text=True, check=True).stdout
    for line in needed.splitlines():
        env.setdefault(*line.split("=", 1))
    env["LD_LIBRARY_PATH"] = ":".join(path for path in (str(build / "lib"), env.get("LD_LIBRARY_PATH", "")) if path)
    runtime = sanitizer_runtime(build / "lib" / LIBRARY)
    if runtime:
        env["LD_PRELOAD"] = runtime
        # OpenFOAM and Open MPI keep memory until the process ends.
        env.setdefault("ASAN_OPTIONS", "detect_leaks=0")
    return env


def check_installed(programs, build, with_capstan=True):
    for program in programs:
        if shutil.which(program) is None:
            raise NotInstalled(f"the program '{program}' is missing; on Debian: apt-get install openfoam openmpi-bin, or: "
                               "./capstan setup")
    if with_capstan and not (build / "lib" / LIBRARY).is_file():
        raise NotInstalled(f"{build / 'lib' / LIBRARY} is missing; build it: ./capstan build, or cmake with "
                           "-DCAPSTAN_OPENFOAM=ON")


def fresh_folder(folder):
    """Makes an empty folder; what an earlier run left there goes, other things are refused."""
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise WrongUse(f"the folder {folder} holds something else than an earlier run")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / MARK).touch()


def launch_words(words, ranks, exported=None):
    """The command that runs a solver of OpenFOAM on so many ranks; exported: {variable: value} for the ranks, not for mpirun."""
    if ranks == 1:
        return list(words)
    variables = [word for name, value in (exported or {}).items() for word in ("-x", f"{name}={value}")]
    return ["mpirun", "-n", str(ranks), *variables, words[0], "-parallel", *words[1:]]


def execute(words, folder, env, log, seconds=600, echo=None):
    """Runs a command; its output goes to a file, and to echo(line) while it runs. Returns the text; raises RunFailed where the
    command fails or takes longer."""
    with log.open("w", encoding="utf-8", errors="replace") as file, \
            subprocess.Popen([str(word) for word in words], cwd=folder, env={**env, "PWD": str(folder)},
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if echo else file,
                             stderr=subprocess.STDOUT) as process:
        try:
            if echo:
                for line in process.stdout:
                    line = line.decode(errors="replace")
                    file.write(line)
                    echo(line)
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
            raise RunFailed(f"{words[0]} took more than {seconds:g} s; its log is {log}") from None
        except BaseException:
            process.terminate()
            raise
    text = log.read_text(encoding="utf-8", errors="replace")
    if process.returncode != 0:
        raise RunFailed(f"{' '.join(map(str, words))} failed with status {process.returncode}: {reason(text)}; "
                        f"its log is {log}")
    return text


def reason(text):
    """The line of a log that says why a program gave up."""
    # Each rank puts its number before its lines.
    text = re.sub(r"^\[\d+\] ?", "", text, flags=re.MULTILINE)
    found = re.search(r"FOAM FATAL (?:IO )?ERROR:?[^\n]*\n(.*?)\n\s*(?:From|file:|\n)", text, re.DOTALL)
    if found and found[1].strip():
        return " ".join(found[1].split())[:400]
    for pattern in (r"(Floating point exception(?! trapping)[^\n]*)", r"(terminate called[^\n]*)", r"(Segmentation fault[^\n]*)",
                    r"(sig(?:Fpe|Segv)::sigHandler)", r"(Command not found[^\n]*)"):
        if found := re.search(pattern, text, re.IGNORECASE):
            return found[1]
    lines = [line.strip() for line in text.splitlines() if re.search(r"\w", line)]
    return lines[-1][:400] if lines else "it printed nothing"


# Preparing

def unpack(folder):
    for path in folder.rglob("*.gz"):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()


def edit_file(path, entries):
    """Writes entries {path: value or None} into a dictionary file; makes the file where it is missing."""
    foam = FoamText.read(path) if path.is_file() else FoamText(HEADER.format(path.name), path)
    for key, value in entries.items():
        if value is None:
            foam.remove(key)
        else:
            foam.set(key, value)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(foam.text, encoding="utf-8")


def prepare(case: Case, ranks, folder, env):
    """A copy of the tutorial, meshed, with its initial fields, decomposed for the ranks."""
    if re.search(r"\s", str(folder)):
        raise WrongUse(f"'{folder}' has a blank in its path, which OpenFOAM leaves out; name another one with --folder, or CAPSTAN_BUILD_DIR")
    fresh_folder(folder)
    shutil.copytree(case.tutorial, folder, dirs_exist_ok=True)
    unpack(folder)
    if case.functions == "drop":
        edit_file(folder / "system/controlDict", {"functions": None})
    for file, entries in case.edits.items():
        edit_file(folder / file, entries)
    for number, words in enumerate(case.prepare, 1):
        run_step(words, folder, env, folder / f"log.{number}.{words[0]}")
    if ranks > 1:
        write_decomposition(case, ranks, folder)
        regions = ["-allRegions"] if (folder / "constant/regionProperties").is_file() else []
        execute(["decomposePar", "-force", *regions], folder, env, folder / "log.decomposePar")


def run_step(words, folder, env, log):
    name, *arguments = words
    if name == "restore0":
        shutil.rmtree(folder / "0", ignore_errors=True)
        shutil.copytree(folder / "0.orig", folder / "0")
    elif name == "copy":
        source, target = (folder / word for word in arguments)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)
    elif name == "move":
        shutil.move(folder / arguments[0], folder / arguments[1])
    elif name == "remove":
        for path in list(folder.glob(arguments[0])):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    elif name == "m4":
        with (folder / arguments[1]).open("wb") as file:
            done = subprocess.run(["m4", arguments[0]], cwd=folder, stdout=file, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise RunFailed(f"m4 {arguments[0]} failed: {done.stderr.decode(errors='replace').strip()}")
    else:
        execute(words, folder, env, log)


def longest_direction(folder):
    """The direction in which the mesh extends furthest, from its points."""
    path = folder / "constant/polyMesh/points"
    if not path.is_file():
        return "x"
    numbers = re.findall(r"^\((\S+) (\S+) (\S+)\)$", path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    spans = [max(map(float, column)) - min(map(float, column)) for column in zip(*numbers)] if numbers else [1, 0, 0]
    return "xyz"[spans.index(max(spans))]


def write_decomposition(case, ranks, folder):
    """Slices: Debian's OpenFOAM comes without Scotch. Constraints of the tutorial stay."""
    cut = case.slices or longest_direction(folder)
    path = folder / "system/decomposeParDict"
    old = FoamText.read(path) if path.is_file() else None
    kept = ""
    for key in ("constraints", "preservePatches", "preserveFaceZones", "singleProcessorFaceSets"):
        entry = old.find(key) if old else None
        kept += old.text[entry.start:entry.end] + "\n" if entry else ""
    pieces = " ".join(str(ranks) if direction == cut else "1" for direction in "xyz")
    # Without a slight turn (delta), cells whose centres have the same coordinate are shared out by rounding.
    path.write_text(HEADER.format("decomposeParDict") + f"numberOfSubdomains {ranks};\nmethod simple;\n"
                    f"simpleCoeffs {{ n ({pieces}); delta 0.001; }}\ncoeffs {{ n ({pieces}); delta 0.001; }}\n{kept}",
                    encoding="utf-8")
    for region in (folder / "system").glob("*/decomposeParDict"):
        shutil.copy(path, region)


# Running

@dataclasses.dataclass
class Run:
    """A run that reached its end."""
    folder: pathlib.Path
    ranks: int
    choice: Choice
    log: str
    solves: "list[results.Solve]"
    seconds: "dict[str, float]"
    wall: float

    def unconverged(self):
        return sum(not solve.converged for solve in self.solves)


def solution_files(folder):
    """{region: path} of the files that name linear solvers."""
    found = sorted((folder / "system").rglob("fvSolution")) + sorted((folder / "system").rglob("faSolution"))
    names = {}
    for path in found:
        region = path.parent.relative_to(folder / "system").as_posix()
        names[("" if region == "." else region) + ("/faSolution" if path.name == "faSolution" else "")] = path
    return names


def number_in(path, text, key, default):
    value = text.get(key) or default
    number = results.to_number(value)
    if not math.isfinite(number):
        raise RunFailed(f"{path}: {key}: found {value or 'nothing'}; allowed: a number")
    return number


def control_edits(folder, steps, capstan, written, env):
    """What a run changes in controlDict: so many steps, the last ones written with all digits, and the library."""
    path = folder / "system/controlDict"
    control = FoamText.read(path)
    edits = {"stopAt": "nextWrite", "writeControl": "timeStep", "writeInterval": str(steps), "purgeWrite": "0",
             "writeFormat": "ascii", "writePrecision": "14", "writeCompression": "off", "runTimeModifiable": "false",
             "profiling": "{ active true; }"}
    numbers = FoamText(expanded(path, folder, env) or control.text, path)
    begin, end, step = (number_in(path, numbers, key, default)
                        for key, default in (("startTime", "0"), ("endTime", "0"), ("deltaT", "")))
    if written > 1:
        if control.get("startFrom") == "latestTime":
            begin = max(map(float, results.times(folder)), default=begin)
        edits.update(stopAt="endTime", writeInterval="1", purgeWrite=str(written), endTime=f"{begin + steps * step:.10g}")
    elif end < begin + (steps + 1) * step:
        edits["endTime"] = f"{begin + (steps + 1) * step:.10g}"
    # A step that follows the flow would follow the solver's last digits, too.
    if (control.get("adjustTimeStep") or "no") in ("yes", "on", "true"):
        edits["adjustTimeStep"] = "no"
    if capstan and LIBRARY not in (control.get("libs") or ""):
        libraries = (control.get("libs") or "( )").strip()
        if not libraries.startswith("("):
            libraries = f"( {libraries} )"
        edits["libs"] = f'{libraries[:-1].rstrip()} "{LIBRARY}" )'
    return edits


def start(case: Case, prepared, folder, choice: Choice, ranks, env, steps=None, seconds=600, echo=None, exported=None,
          written=1):
    """Runs a prepared case in a copy of its folder; returns a Run, or raises RunFailed. written: fields of so many last steps
    are there afterwards."""
    fresh_folder(folder)
    shutil.copytree(prepared, folder, dirs_exist_ok=True)
    edits = control_edits(folder, steps or case.steps, choice.uses_capstan(), written, env)
    edit_file(folder / "system/controlDict", edits)
    for path in solution_files(folder).values():
        text = path.read_text(encoding="utf-8", errors="replace")
        path.write_text(edit_solution(text, choice, case, path), encoding="utf-8")
    # This makes OpenFOAM say which entry of fvSolution each solve reads.
    edit_file(folder / "site/etc/controlDict", {"DebugSwitches": "{ solution 1; }"})
    env = {**env, "WM_PROJECT_SITE": str(folder / "site")}
    began = time.monotonic()
    log = execute(launch_words(case.application, ranks, exported), folder, env, folder / f"log.{case.application[0]}", seconds, echo)
    wall = time.monotonic() - began
    if not re.search(r"^(End|Finalising parallel run)", log, re.MULTILINE):
        raise RunFailed(f"{case.application[0]} did not reach its end: {reason(log)}; its log is "
                        f"{folder / ('log.' + case.application[0])}")
    solves = results.read_solves(log)
    results.judge(solves, expanded_controls(folder, env))
    return Run(folder, ranks, choice, log, solves, results.read_seconds(folder, ranks), wall)


def expanded(path, folder, env):
    """The text of a dictionary of the case in this folder with its macros expanded by OpenFOAM itself, or None."""
    done = subprocess.run(["foamDictionary", "-expand", str(path)], cwd=folder, env=env, capture_output=True, text=True,
                          check=False)
    # Warnings stand before the text.
    at = done.stdout.find("FoamFile")
    return done.stdout[at:] if done.returncode == 0 and at >= 0 else None


def expanded_controls(folder, env):
    """{region: fvSolution with its macros expanded}."""
    found = {region: expanded(path, folder, env) for region, path in solution_files(folder).items()}
    return {region: text for region, text in found.items() if text is not None}
