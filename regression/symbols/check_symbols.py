#!/usr/bin/env python3
"""Checks what a shared library shows to the process that loads it, and which processors can run it.

usage: check_symbols.py exports LIBRARY
       check_symbols.py instructions LIBRARY BASELINE

exports: every dynamic symbol defined is one that may be seen, and those that must be seen are there.
instructions: code for AVX and AVX-512 stands only in the kernels made for them, namespaces detail::avx2 and detail::avx512, and
              only in libraries that hold such kernels. BASELINE is CAPSTAN_BASELINE.

Exit status: 0 all is well, 1 something is not, 2 wrong use.
"""

import os
import pathlib
import re
import subprocess
import sys

# Thunks, tables and type information of namespace capstan or of OpenFOAM's solver class, by their mangled names.
OURS = r"_Z(?:T[ISVTC]|Th\w+_|Tv\w+_|Tc\w+_|Z|GV|GVZ)*N?K?{}\w*"
# One in a process, and therefore one among all libraries.
SHARED_DATA = (r"_Z(GV)?N5Belos4Impl19SolverFactoryParentI\w+10factories_E\w*",
               r"_Z(GV)?N7Teuchos22PerformanceMonitorBaseINS_4TimeEE9counters_\w*", r"_ZN7Teuchos7MpiCommIiE11tagCounter_E")
# Likewise: Belos' own solvers, where they are made by name.
SOLVERS = (r"_Z(GV)?ZN5Belos4Impl19SolverFactoryParentI\w+18get_solverManagers\w*",)
# A function of Stratimikos' builder that the library stands before.
BUILDER = (r"_ZN11Stratimikos26DefaultLinearSolverBuilder29setLinearSolveStrategyFactoryE\w+",
           r"_ZN11Stratimikos19LinearSolverBuilderIdE29setLinearSolveStrategyFactoryE\w+")
# Those that the header declares.
C_FUNCTIONS = re.findall(r"CAPSTAN_API[^;(]*?(capstan_\w+)\(", (pathlib.Path(__file__).resolve().parents[2]
                                                               / "adapters/c/capstan.h").read_text(encoding="utf-8"))
# Functions of hypre's that the library stands before.
HYPRES = (r"(HYPRE_(ParCSR|Struct|SStruct)?|hypre_)(PCG|GMRES|FlexGMRES|LGMRES|COGMRES|BiCGSTAB)Create",
          r"HYPRE_(ParCSR)?(PCG|GMRES|FlexGMRES|LGMRES|COGMRES|BiCGSTAB)(Destroy|Solve|SetPrecond(itioner|Matrix)?|SetTol|SetAbsoluteTol|SetMaxIter|SetMinIter"
          r"|SetStopCrit|SetConvergenceFactorTol|SetModifyPC|GetNumIterations|GetFinalRelativeResidualNorm|GetConverged)")
ALLOWED = {
    "libcapstan.so": (r"capstan_register_solvers", OURS.format("7capstan")) + SHARED_DATA,
    "libcapstan_preload.so": (r"(?!)",),
    "libcapstanStratimikos.so": (OURS.format("7capstan"),) + BUILDER,
    "libcapstanC.so": (r"capstan_(?!register_solvers)\w+",) + SHARED_DATA + SOLVERS,
    "libcapstanPreconditioners.so": ("capstanPreconditionerMakers",) + SHARED_DATA + SOLVERS,
    "libcapstanPetsc.so": ("PetscDLLibraryRegister_capstanPetsc",),
    "libcapstanHypre.so": HYPRES,
    "libcapstanSaturne.so": ("cs_user_linear_solvers",),
    "libcapstanFoam.so": (OURS.format("4Foam13capstanSolver"),),
    "libcapstanFoamTrilinos.so": ("capstanFoamTrilinosSide",) + SHARED_DATA + SOLVERS,
    "libcapstan_latency.so": (r"P?MPI_\w+", "capstan_latency_set"),
}
REQUIRED = {
    "libcapstan.so": (r"capstan_register_solvers", r"_ZN7capstan15registerSolversEv", r"_ZN5Belos\w+10factories_E\w*"),
    "libcapstan_preload.so": (),
    "libcapstanStratimikos.so": (r"_ZN7capstan19stratimikosStrategyEv",) + BUILDER,
    "libcapstanC.so": tuple(C_FUNCTIONS),
    "libcapstanPreconditioners.so": ("capstanPreconditionerMakers",),
    "libcapstanPetsc.so": ("PetscDLLibraryRegister_capstanPetsc",),
    "libcapstanSaturne.so": ("cs_user_linear_solvers",),
    "libcapstanHypre.so": ("HYPRE_ParCSRPCGSolve", "HYPRE_GMRESSolve", "HYPRE_BiCGSTABSetTol", "HYPRE_COGMRESSetModifyPC", "HYPRE_StructPCGCreate"),
    "libcapstanFoam.so": (r"_ZTVN4Foam13capstanSolverE",),
    "libcapstanFoamTrilinos.so": ("capstanFoamTrilinosSide",) + SOLVERS,
    "libcapstan_latency.so": (r"MPI_Init", r"MPI_Allreduce", r"MPI_Iallreduce", r"MPI_Wait"),
}
HOLDS_KERNELS = {"libcapstan.so": ("avx512", "avx2"), "libcapstanFoam.so": ("avx2",)}


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def plain_name(library):
    """libx.so of /lib/libx.so.1.2."""
    return re.sub(r"\.so[0-9.]*$", ".so", os.path.basename(library))


def check_exports(library):
    """The complaints, a line each."""
    name = plain_name(library)
    symbols = [line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", library).splitlines()]
    allowed = re.compile("|".join(ALLOWED[name]))
    problems = [f"{name} exports {symbol}" for symbol in symbols if not allowed.fullmatch(symbol)]
    for pattern in REQUIRED[name]:
        if not any(re.fullmatch(pattern, symbol) for symbol in symbols):
            problems.append(f"{name} exports nothing that matches {pattern}")
    return problems


def check_instructions(library, baseline):
    """The complaints, a line each."""
    name = plain_name(library)
    avx_everywhere = baseline not in ("x86-64", "x86-64-v2")
    label = re.compile(r"^[0-9a-f]+ <(.*)>:$")
    found = {"avx512": 0, "avx2": 0}
    problems = {}
    function = ""
    with subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", library], stdout=subprocess.PIPE, text=True) as objdump:
        for line in objdump.stdout:
            match = label.match(line)
            if match:
                function = match.group(1)
                isa = next((isa for isa in found if f"6detail{len(isa)}{isa}" in function), "")
            elif "%zmm" in line or "%k" in line:
                if isa == "avx512":
                    found["avx512"] += 1
                else:
                    problems[f"{name}: {function} has AVX-512 code"] = True
            elif "%ymm" in line or "\tv" in line:
                if isa:
                    found["avx2"] += isa == "avx2"
                elif not avx_everywhere:
                    problems[f"{name}: {function} has AVX code"] = True
    if objdump.returncode != 0:
        return [f"objdump {library} failed"]
    for isa, count in found.items():
        if (count > 0) != (isa in HOLDS_KERNELS.get(name, ())):
            problems[f"{name} holds {'' if count else 'no '}{isa} kernels"] = True
    return list(problems)


def main(words):
    if len(words) == 2 and words[0] == "exports" and plain_name(words[1]) in ALLOWED:
        problems = check_exports(words[1])
    elif len(words) == 3 and words[0] == "instructions":
        problems = check_instructions(words[1], words[2])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    for problem in problems[:40]:
        print(problem)
    if len(problems) > 40:
        print(f"and {len(problems) - 40} more")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
