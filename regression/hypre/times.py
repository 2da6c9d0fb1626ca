"""Times of solves over those of hypre's fastest own solver, in the same rounds."""

import mfem_examples
import nalu_wind
from hypre_sources import host_runs

CG = ("capstan_cg", "capstan_pipelined_cg", "capstan_pipelined_cg, depth 3")
PARAMETERS = {"depth": "pipeline_depth", "polynomial": "polynomial_degree"}
# Without multigrid, products cost little beside an all-reduce.
CHEAP_CG = (*CG, "capstan_cg, polynomial 8", "capstan_pipelined_cg, polynomial 4")
GMRES = ("capstan_sstep_gmres", "capstan_pipelined_gmres", "capstan_pipelined_gmres, depth 3")


def ij(numbers):
    """{name of hypre's solver: -solver and more}"""
    return {family: ["-solver", *words.split()] for family, words in numbers.items()}


def options(family, name):
    """The options that put a method in the place of hypre's solver, with a parameter of its own where one is named."""
    method, *parameters = name.split(", ")
    return {f"hypre_{family}": method}, {PARAMETERS[key]: int(value) for key, value in (each.split() for each in parameters)}


def contest(program, label, multigrid, common, own, places):
    """own: {family of hypre's: its words}; places: {family of hypre's: methods in its place, with parameters}."""
    return {"program": program, "label": label, "multigrid": multigrid,
            "own": {f"hypre_{family}": (common + words, None, None) for family, words in own.items()},
            "ours": {name: (common + own[family], *options(family, name)) for family, names in places.items() for name in names}}


def contests(given, mfem, scratch):
    small = given.small
    cells = ["-n"] + 3 * ["8" if small else "24"]
    found = [contest("ij", f"ij {cells[1]}^3, AMG", True, [*cells, "-rhsrand"], ij({"pcg": "1", "gmres": "3", "cogmres": "16", "bicgstab": "9"}),
                     {"pcg": CG, "gmres": GMRES}),
             contest("ij", f"ij {cells[1]}^3, diagonal", False, [*cells, "-rhsrand"],
                     ij({"pcg": "2", "gmres": "4 -k 100", "cogmres": "17 -k 100", "bicgstab": "10"}), {"pcg": CHEAP_CG, "gmres": GMRES})]
    side = "9" if small else "65"
    for number, name in (("50", "none"), ("1", "AMG")):
        found.append(contest("ex5", f"ex5 -n {side}, {name}", name == "AMG", ["-n", side], {"pcg": ["-solver", number]},
                             {"pcg": (*(CG if name == "AMG" else CHEAP_CG), "capstan_sstep_gmres")}))
    if mfem is not None:
        arguments = mfem_examples.words_of(mfem, mfem_examples.CASES["ex2p"][0])
        found.append(contest("ex2p", "mfem ex2p, AMG", True, arguments, {"pcg": []}, {"pcg": CG}))
    if given.nalu is not None:
        side = 6 if small else 20
        for equation, families, places in (("pressure", ("pcg", "gmres", "cogmres", "bicgstab"), {"pcg": CG, "gmres": GMRES}),
                                           ("momentum", ("gmres", "cogmres", "bicgstab"), {"gmres": GMRES, "bicgstab": ("capstan_pipelined_bicgstab",)})):
            own = {family: nalu_wind.words_of(equation, family, scratch / "x.bin", side) for family in families}
            found.append(contest("nalu-wind", f"nalu-wind {equation} {side}^3, {nalu_wind.EQUATIONS[equation][1]}", equation == "pressure", [], own, places))
    return found


def seconds(run, program, words, redirect, parameters, ranks, latency):
    """Of the solve, without set-up."""
    found = run(program, words, ranks, redirect, latency, parameters)
    if found.told:
        raise SystemExit(f"{program}: {found.told}")
    return found.seconds


def measure(run, given, mfem, scratch):
    """ex1p of MFEM is not here: its CG is MFEM's own."""
    if mfem is not None:
        run.programs["ex2p"] = mfem / "examples/ex2p"
    run.twice = {"ij", "ex5", "ex2p"}  # Nalu-wind's driver solves three times, and times itself
    times = host_runs.Times("hypre", given.repeat)
    for one in contests(given, mfem, scratch):
        for ranks, latency in ((ranks, latency) for ranks in given.ranks for latency in given.latency):
            both = {**one["own"], **one["ours"]}
            found = host_runs.interleaved({name: (lambda its=its: seconds(run, one["program"], *its, ranks, latency))
                                           for name, its in both.items()}, given.repeat)
            times.add(one["label"], ranks, latency, one["multigrid"], {name: found[name] for name in one["own"]},
                      {name: found[name] for name in one["ours"]})
    times.end()
