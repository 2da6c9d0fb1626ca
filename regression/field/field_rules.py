"""What is asked of the solves of a case from the field.

A solve is a dictionary as `capstan-solve --report` writes it. Every solve of Capstan's is judged by what holds always: no false
"Converged", no x that is worse than the guess (zero in all these decks), none lost that Belos' solver of the family solves. EXPECTED
adds what the cases themselves say; a case with a deck of which nothing more is asked has an empty list.
"""

from dataclasses import dataclass

FAMILIES = {
    "GMRES": ("capstan_gmres", "capstan_sstep_gmres", "capstan_pipelined_gmres", "capstan_pipelined_sstep_gmres"),
    "CG": ("capstan_cg", "capstan_pipelined_cg", "capstan_ecg", "capstan_embedded_cg", "capstan_cr",
           "capstan_pipelined_cr"),
    "BICGSTAB": ("capstan_bicgstab", "capstan_pipelined_bicgstab"),
    "IDR": ("capstan_idr",),
}
# The x of a solve that failed may have the guess's residual, but for rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Expected:
    """An outcome of a system, for a family ("" for all) with a preconditioner ("" for any)."""

    system: str
    converged: bool | None  # None: either
    family: str = ""
    preconditioner: str = ""
    most: int = 0  # iterations; 0: any
    alone: bool = False  # of one rank alone: there the preconditioner is what the case says
    residual: float = 1  # a relative residual that is reached, converged or not


@dataclass(frozen=True)
class Variant:
    """A case's deck with changes, and what is asked then; what holds always is asked besides."""

    case: str
    changes: tuple  # of all solvers, as --set takes them
    expected: tuple = ()
    ours: bool = False  # Capstan's solvers alone: Belos' do not know the parameter
    only: tuple = ()  # families; (): all
    preconditioners: tuple = ()  # likewise
    traps: bool = False  # floating point traps are on

    def title(self):
        return " with " + ", ".join([*self.changes, *(["floating point traps"] if self.traps else [])])


EXPECTED = {
    "G01": [Expected("A", False), Expected("A", False, "CG", most=500), Expected("consistent", True),
            Expected("consistent", True, "CG", "jacobi", 165)],
    "G04": [Expected("A_symmetric", True, "CG", most=350), Expected("A", True, "CG")],
    "G06": [Expected("A", True, "CG"), Expected("A", True, "CG", "jacobi", 420)],
    "G08": [Expected("A", True, most=4)],
    "G10": [Expected("A", True, "CG", "jacobi", 110)],
    "G12": [Expected("A", True, "CG", most=41), Expected("inconsistent", False), Expected("inconsistent", False, "CG", most=900),
            Expected("A_indefinite", True, "GMRES", most=100)],
    "G13": [],
    "G14": [Expected("A", True, "CG", "none", 60), Expected("A", True, "CG", "jacobi", 45), Expected("torque", False)],
    "G16": [],
    "G18": [Expected("A", True, "GMRES", most=100)],
    "G20": [Expected("A", True, "GMRES", "jacobi", 248), Expected("A", True, "", "riluk", 100)],
    "G22": [Expected("A", True, "GMRES", most=14)],
    "G24": [Expected("A", True), Expected("A", True, most=3, alone=True)],
    "G26": [Expected("A", True, "GMRES", most=17), Expected("A", True, "BICGSTAB")],
    "G28": [Expected("A", True, "GMRES", "riluk", 70)],
    "R01": [Expected("A", True, "GMRES", "none", 53)],
    "R03": [Expected("A", True, "GMRES", "none", 549), Expected("A", True, "GMRES", "jacobi", 260)],
    "R05": [Expected("A", True, "GMRES", "none", 440)],
    "R07": [Expected("A", False)],
    "R10": [Expected("A", True, "CG", "none", 170), Expected("A", True, "CG", "jacobi", 102),
            Expected("A_neumann", True, "CG", "none", 365), Expected("A_neumann", True, "CG", "jacobi", 170)],
    "R11": [Expected("p", True, "CG", "none", 130), Expected("p", True, "CG", "jacobi", 115), Expected("Ux", True, "CG", "none", 35),
            Expected("Ux", True, "CG", "jacobi", 4)],
    "R13": [Expected("A", True, "GMRES", "none", 816)],
    "R16": [Expected("A", True, "GMRES", "none", 578)],
    "R17": [Expected("A", True), Expected("A", True, "GMRES", most=9)],
}
LEFT = ("preconditioner_side=left", "parameters.Implicit Residual Scaling=Norm of Preconditioned Initial Residual")
TOGETHER = ("parameters.Block Size=2",)
CONSTANT, NO_CONSTANT = ("parameters.Null Space=constant",), ("parameters.Null Space=none",)
VARIANTS = [
    Variant("G01", ("tolerance=1e-10",), (Expected("A", False), Expected("consistent", True, "CG", "jacobi"))),
    Variant("G01", CONSTANT, (Expected("A", False), Expected("consistent", True, "CG", "jacobi", 165)), True, ("CG",)),
    Variant("G01", NO_CONSTANT, (Expected("A", False), Expected("consistent", True, "CG", "jacobi", 165)), True, ("CG",)),
    Variant("G08", ("tolerance=0",), (Expected("A", None, residual=1e-12),), True),
    Variant("G10", ("tolerance=1e-12",), (Expected("A", True, "CG", "jacobi"),)),
    # Below what rounding leaves: GMRES and CG end there, by whatever name.
    Variant("G10", ("tolerance=1e-15",), tuple(Expected("A", None, family, preconditioner, residual=1e-13)
                                               for family in ("CG", "GMRES") for preconditioner in ("jacobi", "riluk", "muelu"))),
    *(Variant("G13", (f"preconditioner_side={side}", f"preconditioner_parameters.fact: drop tolerance={drop}"),
              preconditioners=("ilut",)) for side in ("right", "left") for drop in ("0.0", "1e-2", "1e-1")),
    Variant("G13", ("preconditioner_side=left",), preconditioners=("riluk",)),
    Variant("G16", LEFT),
    Variant("G16", ("parameters.Residual Scaling=Norm of RHS",), ours=True),
    Variant("G18", ("kspace=30",), only=("GMRES",)),
    Variant("G22", ("max_iterations=13",), (Expected("A", False, "GMRES"),)),
    Variant("G22", ("max_iterations=100", "kspace=300"), (Expected("A", True, "GMRES", most=14),), only=("GMRES",)),
    Variant("G22", TOGETHER, (Expected("A", True, "GMRES", most=14),), only=("GMRES",)),
    Variant("G22", ("max_iterations=13", *TOGETHER), (Expected("A", False, "GMRES"),), only=("GMRES",)),
    Variant("G24", ("tolerance=1e-8",), (Expected("A", True, most=2, alone=True),)),
    Variant("G24", ("tolerance=1e-15",)),
    *(Variant("G24", (f"tolerance={tolerance}",), ours=True, traps=True) for tolerance in ("1e-8", "1e-12", "1e-15")),
    Variant("G28", ("kspace=30",), (Expected("A", True, "GMRES", "riluk"),), only=("GMRES",)),
    Variant("G28", ("kspace=2000",), (Expected("A", True, "GMRES", "riluk", 70),), only=("GMRES",)),
    Variant("R03", ("kspace=60",), only=("GMRES",)),
    Variant("R05", ("kspace=60",), only=("GMRES",)),
    Variant("R13", ("kspace=60",), only=("GMRES",)),
    Variant("R13", ("kspace=300",), only=("GMRES",)),
    Variant("R16", ("kspace=60",), only=("GMRES",)),
]
# GMRES types are to get as far as BLOCK GMRES, in at most a tenth more iterations and a block of an s-step method.
AS_BLOCK_GMRES = {"G28": 10, "R03": 10, "R05": 15, "R07": 10, "R13": 10, "R16": 10}
# Besides 1, 2 and 4.
MORE_RANKS = {"R01": [3], "R03": [3], "R10": [8], "R17": [12]}


def family_of(method):
    """The family of one of Capstan's methods, or of a solver of Belos'; "" for another one."""
    for family, methods in FAMILIES.items():
        if method in methods:
            return family
    words = method.upper().split()
    return next((family for family in FAMILIES if family in words), "")


def is_ours(solve):
    return solve["method"].lower().startswith("capstan")


def name_of(solve):
    return f"{solve['system']}, {solve['solver']}"


def is_false(solve):
    """Whether it claims to be converged and is not."""
    return solve["claimed_converged"] and not solve["converged"]


def has_failed(solve):
    """Whether something was thrown out of it."""
    return solve["failure"] is not None


def is_worse(solve, guesses):
    """Whether x is worse than the guess, which is zero, in the norm that is judged.

    guesses: || b - A x || of the guess, for each right-hand side of a system.
    """
    if solve["scaled_by"] == "preconditioned initial residual" or solve["capstan"] is None:
        return False  # another norm is judged; nothing was solved
    if solve["scaled_by"] == "initial residual":
        first = 1  # of the guess itself, also where M is on the left and its norm is meant
    else:
        scales = [one["scale"] for one in solve["capstan"]["right_hand_sides"]]
        first = max(size / scale for size, scale in zip(guesses[solve["system"]], scales))
    return not solve["relative_residual"] <= (1 + ROUNDING) * first


def lost_to(solve, solves):
    """Belos' solver of the family that solves what this one does not; None: there is none."""
    peers = (peer for peer in solves if not solve["converged"] and not is_ours(peer) and peer["converged"]
             and peer["relative_residual"] <= peer["tolerance"] * (1 + ROUNDING) and peer["system"] == solve["system"]
             and peer["preconditioner"] == solve["preconditioner"] and family_of(peer["method"]) == family_of(solve["method"]))
    return next(peers, None)


def always(solves, guesses):
    """Problems of solves beside one another, whatever the case."""
    problems = [] if any(map(is_ours, solves)) else ["no solve of Capstan's"]
    for solve in filter(is_ours, solves):
        if has_failed(solve):
            problems.append(f"{name_of(solve)}: failed: {' '.join(solve['failure'].split())}")
        if is_false(solve):
            problems.append(f"{name_of(solve)}: claims to be converged, relative residual {solve['relative_residual']:.2e}")
        if is_worse(solve, guesses):
            problems.append(f"{name_of(solve)}: x is worse than the guess, relative residual {solve['relative_residual']:.3e}")
        peer = lost_to(solve, solves)
        if peer is not None:
            problems.append(f"{name_of(solve)}: not solved ({solve['reason']}), {peer['method']} solves it in {peer['iterations']}")
    return problems


def as_block_gmres(case, solves):
    """GMRES types that stay behind BLOCK GMRES."""
    problems = []
    for peer in [solve for solve in solves if case in AS_BLOCK_GMRES and solve["method"].upper() == "BLOCK GMRES"]:
        for solve in filter(is_ours, solves):
            alike = all(solve[key] == peer[key] for key in ("system", "preconditioner"))
            if not alike or family_of(solve["method"]) != "GMRES":
                continue
            if peer["converged"] and solve["iterations"] > 1.1 * peer["iterations"] + AS_BLOCK_GMRES[case]:
                problems.append(f"{name_of(solve)}: {solve['iterations']} iterations, BLOCK GMRES {peer['iterations']}")
            # Where neither gets anywhere, residuals are alike.
            if not peer["converged"] and peer["relative_residual"] < 1 and solve["relative_residual"] > 1.5 * peer["relative_residual"]:
                problems.append(f"{name_of(solve)}: relative residual {solve['relative_residual']:.2e}, BLOCK GMRES "
                                f"{peer['relative_residual']:.2e}")
    return problems


def of_case(case, solves, ranks=1, variant=None):
    """Problems with what the case itself says, or a variant of it."""
    problems = as_block_gmres(case, solves)
    for expected in EXPECTED.get(case, []) if variant is None else variant.expected:
        if expected.alone and ranks > 1:
            continue
        those = [solve for solve in filter(is_ours, solves)
                 if solve["system"] == expected.system and expected.family in ("", family_of(solve["method"]))
                 and expected.preconditioner in ("", solve["preconditioner"])]
        if not those:
            problems.append(f"{expected}: no such solve")
        for solve in those:
            if expected.converged is not None and solve["converged"] != expected.converged:
                problems.append(f"{name_of(solve)}: {'converged' if solve['converged'] else solve['reason']}, expected "
                                f"{'converged' if expected.converged else 'another end'}")
            elif solve["relative_residual"] > expected.residual:
                problems.append(f"{name_of(solve)}: relative residual {solve['relative_residual']:.2e}, {expected.residual:g} expected")
            elif expected.most and solve["iterations"] > expected.most:
                problems.append(f"{name_of(solve)}: {solve['iterations']} iterations, {expected.most} at most")
    return problems
