"""What is asked of the solves of a case from the field.

A solve is a dictionary as `capstan-solve --report` writes it. Every solve of Capstan's is judged by what holds always: no false
"Converged", no x that is worse than the guess (zero in all these decks), none lost that Belos' solver of the family solves. EXPECTED
adds what the cases themselves say.
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
    converged: bool
    family: str = ""
    preconditioner: str = ""
    most: int = 0  # iterations; 0: any
    alone: bool = False  # of one rank alone: there the preconditioner is what the case says


EXPECTED = {
    "G01": [Expected("A", False), Expected("A", False, "CG", most=500), Expected("consistent", True),
            Expected("consistent", True, "CG", "jacobi", 165)],
    "G04": [Expected("A_symmetric", True, "CG", most=350), Expected("A", True, "CG")],
    "G08": [Expected("A", True, most=4)],
    "G10": [Expected("A", True, "CG", "jacobi", 110)],
    "G12": [Expected("A", True, "CG", most=41), Expected("inconsistent", False), Expected("inconsistent", False, "CG", most=900)],
    "G14": [Expected("A", True, "CG", "none", 60), Expected("A", True, "CG", "jacobi", 45), Expected("torque", False)],
    "G20": [Expected("A", True, "", "riluk")],
    "G24": [Expected("A", True), Expected("A", True, most=3, alone=True)],
    "G26": [Expected("A", True, "GMRES", most=17), Expected("A", True, "BICGSTAB")],
    "R01": [Expected("A", True, "GMRES", "none", 60)],
    "R10": [Expected("A", True, "CG", "none", 170), Expected("A", True, "CG", "jacobi", 102), Expected("A_neumann", True, "CG")],
    "R11": [Expected("p", True, "CG", "none", 130), Expected("p", True, "CG", "jacobi", 115)],
    "R17": [Expected("A", True), Expected("A", True, "GMRES", most=10)],
}


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


def always(solves):
    """Problems of solves beside one another, whatever the case."""
    problems = []
    for solve in filter(is_ours, solves):
        if solve["claimed_converged"] and not solve["converged"]:
            problems.append(f"{name_of(solve)}: claims to be converged, relative residual {solve['relative_residual']:.2e}")
        residual = solve["relative_residual"]
        if solve["scaled_by"] == "initial residual" and not residual <= 1 + ROUNDING:
            problems.append(f"{name_of(solve)}: x is worse than the guess, relative residual {residual:.3e}")
        peers = [peer for peer in solves if not is_ours(peer) and peer["converged"] and peer["system"] == solve["system"]
                 and peer["preconditioner"] == solve["preconditioner"] and family_of(peer["method"]) == family_of(solve["method"])]
        if peers and not solve["converged"]:
            problems.append(f"{name_of(solve)}: not solved ({solve['reason']}), {peers[0]['method']} solves it in {peers[0]['iterations']}")
    return problems


def of_case(case, solves, ranks=1):
    """Problems with what the case itself says."""
    problems = []
    for expected in EXPECTED.get(case, []):
        if expected.alone and ranks > 1:
            continue
        those = [solve for solve in filter(is_ours, solves)
                 if solve["system"] == expected.system and expected.family in ("", family_of(solve["method"]))
                 and expected.preconditioner in ("", solve["preconditioner"])]
        if not those:
            problems.append(f"{expected}: no such solve")
        for solve in those:
            if solve["converged"] != expected.converged:
                problems.append(f"{name_of(solve)}: {'converged' if solve['converged'] else solve['reason']}, expected "
                                f"{'converged' if expected.converged else 'another end'}")
            elif expected.most and solve["iterations"] > expected.most:
                problems.append(f"{name_of(solve)}: {solve['iterations']} iterations, {expected.most} at most")
    return problems
