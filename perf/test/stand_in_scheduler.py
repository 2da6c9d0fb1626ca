#!/usr/bin/env python3
"""A batch system that runs jobs here and at once: called as sbatch, srun, bsub, jsrun or flux, it does what they do.

It is strict: directives and options that the real one does not have, or that contradict the allocation, end with status 2.
Every call is appended to STAND_IN_LOG as a line of JSON. Launchers need an allocation, as on a machine whose login node
runs no jobs.
"""

import json
import os
import pathlib
import shlex
import subprocess
import sys

SLURM_JOB = {"--job-name", "--nodes", "--ntasks-per-node", "--gpus-per-node", "--account", "--partition", "--time", "--output",
             "--exclusive", "--constraint"}
LSF_JOB = {"-J", "-nnodes", "-P", "-q", "-W", "-o", "-alloc_flags"}
FLUX_JOB = {"--job-name", "--nodes", "--exclusive", "--bank", "--queue", "--time-limit", "--output"}
SRUN = {"--nodes", "--ntasks", "--ntasks-per-node", "--cpus-per-task", "--gpus-per-task", "--cpu-bind"}
JSRUN = {"--nrs", "--tasks_per_rs", "--cpu_per_rs", "--gpu_per_rs", "--rs_per_host", "--bind"}
FLUX_RUN = {"--nodes", "--ntasks", "--cores-per-task", "--gpus-per-task"}


def refuse(words):
    print(f"{sys.argv[0]}: {words}", file=sys.stderr)
    sys.exit(2)


def log(**entry):
    with open(os.environ["STAND_IN_LOG"], "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def options(words, known, pairs=False):
    """{name: value} of words --name=value, or with `pairs` of lines "-name value"."""
    found = {}
    for word in words:
        name, _, value = word.partition(" " if pairs else "=")
        if name not in known:
            refuse(f"unknown option '{word}'")
        found[name] = value
    return found


def directives(text, mark):
    """What stands behind the mark, one a line, without quotes."""
    return [" ".join(shlex.split(line[len(mark):])) for line in text.splitlines() if line.startswith(mark)]


def job(system, text, asked, nodes, output):
    """Runs a job's script."""
    log(call=system, directives=asked)
    with open(output, "ab") as file:
        done = subprocess.run(["bash", "-c", text], env={**os.environ, "STAND_IN_NODES": str(nodes)}, stdout=file,
                              stderr=subprocess.STDOUT, check=False)
    sys.exit(done.returncode)


def launch(system, asked, ranks, nodes, command):
    """Starts ranks inside an allocation."""
    if "STAND_IN_NODES" not in os.environ:
        refuse("no allocation: submit a job")
    if nodes is not None and nodes > int(os.environ["STAND_IN_NODES"]):
        refuse(f"{nodes} nodes where the job has {os.environ['STAND_IN_NODES']}")
    log(call=system, options=asked, ranks=ranks, command=command)
    environment = {**os.environ, "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                   "PRTE_MCA_rmaps_default_mapping_policy": ":OVERSUBSCRIBE"}
    os.execvpe("mpirun", ["mpirun", "-n", str(ranks), *command], environment)


def split(words):
    """Options, which begin with '-', and the command behind them."""
    at = next((index for index, word in enumerate(words) if not word.startswith("-")), len(words))
    return words[:at], words[at:]


def main():
    name, words = pathlib.Path(sys.argv[0]).name, sys.argv[1:]
    if name == "flux" and words:
        name, words = f"flux {words[0]}", words[1:]
    if name == "sbatch":
        text = pathlib.Path(words[0]).read_text(encoding="utf-8")
        asked = options(directives(text, "#SBATCH"), SLURM_JOB)
        job(name, text, asked, int(asked["--nodes"]), asked["--output"])
    if name == "bsub":
        text = sys.stdin.read()
        asked = options(directives(text, "#BSUB"), LSF_JOB, pairs=True)
        job(name, text, asked, int(asked["-nnodes"]), asked["-o"])
    if name == "flux batch":
        text = pathlib.Path(words[0]).read_text(encoding="utf-8")
        asked = options(directives(text, "#flux:"), FLUX_JOB)
        job(name, text, asked, int(asked["--nodes"]), asked["--output"])
    own, command = split(words)
    if name == "srun":
        asked = options(own, SRUN)
        if int(asked["--ntasks"]) > int(asked["--nodes"]) * int(asked["--ntasks-per-node"]):
            refuse("more tasks than the nodes hold")
        launch(name, asked, int(asked["--ntasks"]), int(asked["--nodes"]), command)
    if name == "jsrun":
        asked = options(own, JSRUN)
        nodes = -(-int(asked["--nrs"]) // int(asked["--rs_per_host"]))
        launch(name, asked, int(asked["--nrs"]) * int(asked["--tasks_per_rs"]), nodes, command)
    if name == "flux run":
        asked = options(own, FLUX_RUN)
        launch(name, asked, int(asked["--ntasks"]), int(asked["--nodes"]), command)
    refuse("found no such call")


if __name__ == "__main__":
    main()
