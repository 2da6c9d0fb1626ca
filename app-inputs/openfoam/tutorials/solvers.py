"""Which linear solver a run has, and what that changes in system/fvSolution.

A solver is named in one word: `own` (the tutorial's, nothing changes), `capstan` (every entry says `solver capstan;` and
no more), a method of Capstan's or of OpenFOAM's, which the pressure gets. Methods for asymmetric matrices get the other
fields too; with a method for symmetric ones these are solved by plain `capstan`, or stay as they are with one of OpenFOAM's.
"""

import dataclasses

from .errors import WrongUse, not_allowed
from .foam_text import FoamText, lookup

OWN, PLAIN = "own", "capstan"
# Capstan's methods as OpenFOAM's dictionaries spell them, and whether they need a symmetric matrix. A test compares the
# names with belos_ext/registry/methods.cpp.
METHODS = {"capstan_cg": True, "capstan_pipelined_cg": True, "capstan_ecg": True, "capstan_embedded_cg": True,
           "capstan_cr": True, "capstan_pipelined_cr": True,
           "capstan_gmres": False, "capstan_sstep_gmres": False, "capstan_pipelined_gmres": False,
           "capstan_pipelined_sstep_gmres": False, "capstan_bicgstab": False,
           "capstan_pipelined_bicgstab": False, "capstan_idr": False}
# Those that take "Polynomial Degree". A test compares them with the registry, too.
WITH_POLYNOMIAL = ("capstan_cg", "capstan_pipelined_cg")
OPENFOAM = {"PCG": True, "PBiCGStab": False, "GAMG": False}
# Solvers of OpenFOAM's that tell that a matrix is symmetric, and fields whose matrix is so whatever solves it.
SYMMETRIC_SOLVERS = ("PCG", "PPCG", "PPCR", "FPCG")
SYMMETRIC_FIELDS = ("p", "p_rgh", "p_rbgh", "pd", "pcorr", "Phi", "cellDisplacement")
SOLVERS = [OWN, PLAIN, *METHODS, *OPENFOAM]
OPENFOAM_PRECONDITIONERS = ["none", "diagonal", "DIC", "FDIC", "DILU", "GAMG"]
# Those for symmetric matrices only.
SYMMETRIC_PRECONDITIONERS = ("DIC", "FDIC")
# A test compares them with adapters/preconditioners/preconditioner.cpp.
TRILINOS_PRECONDITIONERS = ["default", "jacobi", "gs", "sgs", "mt_sgs", "sgs2", "chebyshev", "polynomial",
                            "approximate_inverse", "ilut", "riluk", "muelu", "boomeramg"]
# When a preconditioner is renewed, and what else the word needs.
CACHING = {"always": "", "periodic": "periodicCoeffs { frequency 3; } ", "adaptive": "", "never": ""}
# Multigrid as a preconditioner wants a smoother in OpenFOAM's own solvers; Capstan gets the same.
GAMG_CYCLE = "{{ preconditioner GAMG; smoother GaussSeidel; {coarsest}}}"
# The entry of multigrid for its coarsest level. OpenFOAM's default is PCG to the tolerances of the entry GAMG: in a
# preconditioner, where they are not given, to 1e-6 and relTol 0.
COARSEST_METHODS = ["PCG", *(name for name in METHODS)]
COARSEST_LEVEL = "{{ {solver} preconditioner DIC; tolerance 1e-10; relTol 0.01; }}"
# OpenFOAM's default of nCellsInCoarsestLevel.
COARSEST_CELLS = 10
# What OpenFOAM's solvers read and Capstan does not: entries that a case without leftovers no longer has. A test compares them
# with adapters/openfoam/solver_controls.C.
LEFTOVERS = ["preconditioner", "smoother", "nSweeps", "agglomerator", "nPreSweeps", "preSweepsLevelMultiplier",
             "maxPreSweeps", "nPostSweeps", "postSweepsLevelMultiplier", "maxPostSweeps", "nFinestSweeps",
             "cacheAgglomeration", "nCellsInCoarsestLevel", "mergeLevels", "interpolateCorrection", "scaleCorrection",
             "directSolveCoarsest", "processorAgglomerator", "processorAgglomeration", "nLevels", "nAgglomeratingCells",
             "nGlobalCellsInCoarsestLevel", "coarsestLevelCorr", "nVcycles", "nDirections", "omega", "log"]


@dataclasses.dataclass(frozen=True)
class Choice:
    """A solver and what goes with it. tolerance and rel_tol: text for every entry, None leaves the tutorial's; tighter: a
    factor for each entry's own tolerance."""
    solver: str = OWN
    preconditioner: "str | None" = None
    caching: "str | None" = None
    tolerance: "str | None" = None
    rel_tol: "str | None" = None
    tighter: float = 1.0
    # Entries of other solvers stay where they were (what a user has who changes one word) or are taken out.
    leftovers: bool = True
    # False: only the pressure gets the solver, all else stays the tutorial's own.
    everything: bool = True
    # What solves the coarsest level of GAMG, the solver or the preconditioner, and how many cells that may have at least, on
    # each rank.
    coarsest: "str | None" = None
    coarsest_cells: "int | None" = None
    # The tutorial's own solvers with other smoothers, and multigrid with another coarsest level: as good, with other errors.
    varied: bool = False
    # Whether Capstan compares its products and preconditioners with OpenFOAM's in every solve, and ends the run where they
    # differ.
    verify: bool = False

    def label(self):
        name = f"{self.solver}/{self.coarsest}" if self.coarsest else self.solver
        return "+".join(word for word in (name, self.preconditioner, self.caching) if word)

    def uses_capstan(self):
        return self.solver == PLAIN or is_method(self.solver) or is_method(self.coarsest)

    def has_multigrid(self):
        return "GAMG" in (self.solver, self.preconditioner)

    def coarsest_entries(self):
        """What the entry of multigrid says about its coarsest level."""
        entries = {}
        if self.coarsest:
            words = {"solver": "capstan", **method_entries(self.coarsest)} if is_method(self.coarsest) else {"solver": self.coarsest}
            entries["coarsestLevelCorr"] = COARSEST_LEVEL.format(
                solver=" ".join(f"{key} {value}{'' if value.endswith('}') else ';'}" for key, value in words.items()))
        if self.coarsest_cells:
            entries["nCellsInCoarsestLevel"] = str(self.coarsest_cells)
        return entries


def without_degree(word):
    return word.partition(":")[0]


def is_method(word):
    """True for a method of Capstan's, with a degree or without."""
    return word is not None and without_degree(word) in METHODS


def method_entries(word):
    """The entries of a dictionary that ask for a method of Capstan's."""
    method, _, degree = word.partition(":")
    return {"method": method, **({"capstan": f"{{ Polynomial_Degree {degree}; }}"} if degree else {})}


def check_degree(word):
    method, colon, degree = word.partition(":")
    if not colon:
        return
    if method not in WITH_POLYNOMIAL:
        raise WrongUse(f"--solver: found '{word}', but {method} has no degree; allowed with {' and '.join(WITH_POLYNOMIAL)}")
    if not degree.isdecimal() or int(degree) < 1:
        raise WrongUse(f"--solver: found '{word}'; a degree is a whole number, 1 or more, as in '{method}:4'")


def check_choice(choice, case=None):
    """Raises WrongUse where the words do not fit together, or not the case."""
    if choice.solver not in SOLVERS and not is_method(choice.solver):
        raise not_allowed("--solver", choice.solver, SOLVERS)
    check_degree(choice.solver)
    preconditioners = [*OPENFOAM_PRECONDITIONERS, *(TRILINOS_PRECONDITIONERS if choice.uses_capstan() else [])]
    if choice.preconditioner is not None:
        if choice.solver == OWN:
            raise WrongUse(f"--preconditioner: found '{choice.preconditioner}', but the tutorial's own solvers have their own; "
                           "allowed with --solver capstan, one of its methods, PCG or PBiCGStab")
        if choice.preconditioner not in preconditioners:
            raise not_allowed("--preconditioner", choice.preconditioner, preconditioners)
    if choice.coarsest is not None:
        if not choice.has_multigrid():
            raise WrongUse(f"--solver: found '{choice.label()}'; only GAMG, a solver or a preconditioner, has a coarsest level")
        if choice.coarsest not in COARSEST_METHODS and not is_method(choice.coarsest):
            raise not_allowed("--solver: coarsest level", choice.coarsest, COARSEST_METHODS)
        check_degree(choice.coarsest)
    if choice.caching is not None:
        if not choice.uses_capstan():
            raise WrongUse(f"--caching: found '{choice.caching}'; allowed with Capstan's solvers only, not with "
                           f"{choice.solver}")
        if choice.caching not in CACHING:
            raise not_allowed("--caching", choice.caching, CACHING)
    if choice.varied and choice.solver != OWN:
        raise WrongUse(f"varied: found with solver {choice.solver}; allowed with the tutorial's own solvers only")
    if choice.verify and choice.solver != PLAIN and not is_method(choice.solver):
        raise WrongUse(f"--verify: found with --solver {choice.solver}; allowed with Capstan's solvers only")
    if case is not None and case.asymmetric:
        symmetric = {**METHODS, **OPENFOAM}
        fitting = [name for name in SOLVERS if not symmetric.get(name)]
        if without_degree(choice.solver) not in fitting:
            raise WrongUse(f"--solver: found '{choice.solver}', but the matrix of {case.asymmetric[0]} in {case.name} is "
                           f"asymmetric; allowed: {', '.join(fitting)}")
        if choice.preconditioner in SYMMETRIC_PRECONDITIONERS:
            raise WrongUse(f"--preconditioner: found '{choice.preconditioner}', but the matrix of {case.asymmetric[0]} in "
                           f"{case.name} is asymmetric; did you mean 'DILU'?")


def is_pressure(key, pressure):
    """True where the entry of fvSolution is that of a pressure field: p, pFinal, "p.*"."""
    return any(lookup([key], name) for field in pressure for name in (field, field + "Final"))


def edit_solution(text, choice, case, name="fvSolution"):
    """The text of fvSolution (or faSolution) with the choice written into its solver entries."""
    solution = FoamText(text, name)
    for key in solution.keys("solvers"):
        entry = ["solvers", key]
        if not solution.is_dictionary(entry) or solution.get([*entry, "type"]) == "coupled":
            continue
        named = solution.get([*entry, "solver"]) is not None
        if named and choice.solver != OWN:
            edit_entry(solution, entry, choice, is_pressure(key, case.pressure))
        if named and choice.varied:
            vary_entry(solution, entry)
        if named or any(word.startswith("$") for word in solution.keys(entry)):
            edit_tolerances(solution, entry, choice)
    return solution.text


def edit_entry(solution, entry, choice, pressure):
    if not pressure and not choice.everything:
        return
    if not pressure and choice.solver in OPENFOAM:
        return
    words = {}
    if choice.solver in OPENFOAM:
        words["solver"] = choice.solver
        if choice.solver == "GAMG":
            words["smoother"] = solution.get([*entry, "smoother"]) or "GaussSeidel"
            words.update(choice.coarsest_entries())
        elif choice.preconditioner is None and solution.find([*entry, "preconditioner"]) is None:
            words["preconditioner"] = "DIC" if OPENFOAM[choice.solver] else "DILU"
    else:
        words["solver"] = "capstan"
        if choice.verify:
            words["verify"] = "yes"
        # A method for symmetric matrices cannot solve the other fields.
        if is_method(choice.solver) and (pressure or not METHODS[without_degree(choice.solver)]):
            words.update(method_entries(choice.solver))
        if choice.caching is not None:
            words["caching"] = f"{{ preconditioner {{ update {choice.caching}; {CACHING[choice.caching]}}} }}"
        if not choice.leftovers:
            for key in LEFTOVERS:
                solution.remove([*entry, key])
    if pressure and choice.preconditioner == "GAMG":
        coarsest = choice.coarsest_entries()
        words["preconditioner"] = GAMG_CYCLE.format(
            coarsest="".join(f"{key} {value}{'' if value.endswith('}') else ';'} " for key, value in coarsest.items()))
    elif pressure and choice.preconditioner is not None:
        words["preconditioner"] = choice.preconditioner
    for key, value in words.items():
        solution.set([*entry, key], value)


def vary_entry(solution, entry):
    """Another smoother, and for multigrid twice as many cells on the coarsest level."""
    smoother = solution.get([*entry, "smoother"])
    if smoother is not None:
        solution.set([*entry, "smoother"], "symGaussSeidel" if smoother == "GaussSeidel" else "GaussSeidel")
    if solution.get([*entry, "solver"]) == "GAMG":
        cells = solution.get([*entry, "nCellsInCoarsestLevel"]) or COARSEST_CELLS
        solution.set([*entry, "nCellsInCoarsestLevel"], str(2 * int(cells)))


def edit_tolerances(solution, entry, choice):
    if choice.tighter != 1:
        # An entry that gets its tolerance from another one by a macro gets the tighter one.
        text = solution.get([*entry, "tolerance"])
        inherits = any(word.startswith("$") for word in solution.keys(entry))
        if not (text is None and inherits) and not (text or "").startswith(("$", "#")):
            solution.set([*entry, "tolerance"], f"{choice.tighter * float(text or 1e-6):.10g}")
    if choice.tolerance is not None:
        solution.set([*entry, "tolerance"], choice.tolerance)
    if choice.rel_tol is not None:
        solution.set([*entry, "relTol"], choice.rel_tol)
    if choice.tolerance is not None and choice.rel_tol is not None and float(choice.rel_tol) == 0:
        # Solving tightly may take more than OpenFOAM's 1000.
        solution.set([*entry, "maxIter"], "5000")
