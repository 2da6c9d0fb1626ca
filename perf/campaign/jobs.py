"""Job scripts of a campaign for Slurm, LSF and Flux: one for each number of ranks, so that no node waits for larger runs.

A script starts perf/bench on the first node of its allocation; perf/bench starts every cell with the site's launcher.
Every script has a folder of results of its own, since jobs run at the same time.
"""

import dataclasses
import math
import shlex
import typing

from report import processes

NUMBERS = {"cores_per_node": 1, "gpus_per_node": 0, "ranks_per_node": 1, "minutes": 1}
WORDS = ("name", "launcher", "account", "queue", "python")
LISTS = ("prelude", "directives")


@dataclasses.dataclass(frozen=True)
class Site:
    """A machine's settings; see perf/sites."""
    name: str
    cores_per_node: int
    launcher: str
    gpus_per_node: int = 0
    ranks_per_node: int = 0
    minutes: int = 60
    account: str = ""
    queue: str = ""
    python: str = "python3"
    prelude: tuple = ()
    directives: tuple = ()

    def place(self, ranks):
        """(nodes, ranks a node, cores a rank)."""
        per_node = min(ranks, self.ranks_per_node)
        return math.ceil(ranks / self.ranks_per_node), per_node, max(1, self.cores_per_node // self.ranks_per_node)


def _bad(path, key, found, allowed):
    return processes.Misuse(f"{path}: {key}: found {found!r}; allowed: {allowed}")


def read_site(path, system):
    """The settings of a site's YAML. Raises Misuse."""
    import yaml  # pylint: disable=import-outside-toplevel
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise processes.Misuse(f"{path}: {error}") from error
    known = (*NUMBERS, *WORDS, *LISTS)
    for key, value in data.items():
        if key not in known:
            raise processes.Misuse(f"{path}: unknown key '{key}'; allowed: {', '.join(known)}")
        if key in NUMBERS and (not isinstance(value, int) or isinstance(value, bool) or value < NUMBERS[key]):
            raise _bad(path, key, value, f"a whole number from {NUMBERS[key]} on")
        if key in WORDS and not isinstance(value, str):
            raise _bad(path, key, value, "a word")
        if key in LISTS and not (isinstance(value, list) and all(isinstance(line, str) for line in value)):
            raise _bad(path, key, value, "a list of lines")
    if "cores_per_node" not in data:
        raise processes.Misuse(f"{path}: 'cores_per_node' is missing")
    data = {"name": path.stem, "launcher": SYSTEMS[system].launcher, **data}
    if data["launcher"] not in LAUNCHERS:
        raise _bad(path, "launcher", data["launcher"], ", ".join(LAUNCHERS))
    if data.get("gpus_per_node", 0) and data.setdefault("ranks_per_node", data["gpus_per_node"]) > data["gpus_per_node"]:
        raise _bad(path, "ranks_per_node", data["ranks_per_node"], f"at most gpus_per_node, {data['gpus_per_node']}: one rank a GPU")
    data.setdefault("ranks_per_node", data["cores_per_node"])
    return Site(**{key: tuple(value) if isinstance(value, list) else value for key, value in data.items()})


def _srun(site, ranks):
    nodes, per_node, cores = site.place(ranks)
    gpu = ["--gpus-per-task=1"] if site.gpus_per_node else []
    return ["srun", f"--nodes={nodes}", "--ntasks={ranks}", f"--ntasks-per-node={per_node}", f"--cpus-per-task={cores}", *gpu,
            "--cpu-bind=cores"]


def _jsrun(site, ranks):
    _, per_node, cores = site.place(ranks)
    return ["jsrun", "--nrs={ranks}", "--tasks_per_rs=1", f"--cpu_per_rs={cores}", f"--gpu_per_rs={1 if site.gpus_per_node else 0}",
            f"--rs_per_host={per_node}", f"--bind=packed:{cores}"]


def _flux(site, ranks):
    nodes, _, cores = site.place(ranks)
    gpu = ["--gpus-per-task=1"] if site.gpus_per_node else []
    return ["flux", "run", f"--nodes={nodes}", "--ntasks={ranks}", f"--cores-per-task={cores}", *gpu]


LAUNCHERS = {"srun": _srun, "jsrun": _jsrun, "flux": _flux}


def _slurm_head(site, name, nodes, per_node, log):
    gpus = [f"--gpus-per-node={site.gpus_per_node}"] if site.gpus_per_node else []
    where = [f"--{key}={value}" for key, value in (("account", site.account), ("partition", site.queue)) if value]
    return [f"#SBATCH {word}" for word in (f"--job-name={name}", f"--nodes={nodes}", f"--ntasks-per-node={per_node}", *gpus, *where,
                                           f"--time={site.minutes // 60:02d}:{site.minutes % 60:02d}:00", f"--output={shlex.quote(str(log))}",
                                           "--exclusive", *site.directives)]


def _lsf_head(site, name, nodes, _, log):
    where = [f"{key} {value}" for key, value in (("-P", site.account), ("-q", site.queue)) if value]
    return [f"#BSUB {word}" for word in (f"-J {name}", f"-nnodes {nodes}", *where,
                                         f"-W {site.minutes // 60:02d}:{site.minutes % 60:02d}", f"-o {shlex.quote(str(log))}", *site.directives)]


def _flux_head(site, name, nodes, _, log):
    where = [f"--{key}={value}" for key, value in (("bank", site.account), ("queue", site.queue)) if value]
    return [f"#flux: {word}" for word in (f"--job-name={name}", f"--nodes={nodes}", "--exclusive", *where,
                                          f"--time-limit={site.minutes}m", f"--output={shlex.quote(str(log))}", *site.directives)]


class System(typing.NamedTuple):
    """A batch system: its own launcher, the lines its scripts begin with, how one hands them in."""
    launcher: str
    head: typing.Callable
    submit: str


SYSTEMS = {"slurm": System("srun", _slurm_head, "sbatch {}"), "lsf": System("jsrun", _lsf_head, "bsub < {}"),
           "flux": System("flux", _flux_head, "flux batch {}")}


def script(system, site, plan, ranks, folder, root, build, only=(), more=()):
    """The text of one job's script."""
    nodes, per_node, _ = site.place(ranks)
    own = folder / f"ranks-{ranks}"
    filters = [word for key, value in (*only, ("ranks", ranks)) for word in ("--only", f"{key}={value}")]
    launch = LAUNCHERS[site.launcher](site, ranks)
    bench = [site.python, str(root / "perf" / "bench"), str(plan), "--resume", str(own), *filters, *more, "--no-kernels", "--no-page",
             "--launcher", shlex.join(launch)]
    head = SYSTEMS[system].head(site, f"capstan-{plan.stem}-{ranks}", nodes, per_node, folder / f"ranks-{ranks}.out")
    return "\n".join(["#!/bin/bash", *head, f"# {plan.name}: cells of {ranks} ranks on {nodes} nodes of {site.name}.",
                      "# A job that ran out of time is handed in again: cells that are done are not run again.",
                      "set -euo pipefail", *site.prelude, f"export CAPSTAN_BUILD_DIR={shlex.quote(str(build))}",
                      f"exec {shlex.join(bench)}", ""])


def write(arguments, cells, folder, root, build):
    """Writes a script for each number of ranks and one that hands all of them in. Returns their paths."""
    site = read_site(arguments.site, arguments.jobs)
    only = [(key, value) for key, value in arguments.only if key != "ranks"]
    folder, written = folder.resolve(), []
    for ranks in sorted({cell.ranks for cell in cells}):
        path = folder / f"job-{ranks}.sh"
        path.write_text(script(arguments.jobs, site, arguments.campaign, ranks, folder, root, build, only, arguments.changing), encoding="utf-8")
        written.append(path)
    submit = folder / "submit.sh"
    lines = [SYSTEMS[arguments.jobs].submit.format(shlex.quote(str(path))) for path in written]
    report = shlex.join([site.python, str(root / "perf" / "bench"), "report", str(folder)])
    submit.write_text("\n".join(["#!/bin/sh", "set -eu", *lines, f"# When they are done: {report}", ""]), encoding="utf-8")
    for path in (*written, submit):
        path.chmod(0o755)
    return [*written, submit]
