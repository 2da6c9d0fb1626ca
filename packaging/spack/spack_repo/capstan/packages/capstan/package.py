# SPDX-License-Identifier: BSD-3-Clause
"""Capstan for Spack: spack repo add packaging/spack/spack_repo/capstan; spack install capstan. See docs/building.md."""

import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class Capstan(CMakePackage, CudaPackage, ROCmPackage):
    """Communication-avoiding and pipelined Krylov solvers for Trilinos applications and OpenFOAM: a plugin of
    Belos::SolverFactory, whose solvers need few global reductions or hide them behind other work."""

    homepage = "https://capstan.example.org"
    # The source tree that this recipe lies in.
    git = "file://" + str(pathlib.Path(__file__).resolve().parents[6])

    license("BSD-3-Clause AND GPL-3.0-or-later", checked_by="capstan")

    version("main", branch="main")

    variant("shared", default=True, description="Build libcapstan.so, which applications can preload")
    variant("openfoam", default=False, description="Build the linear solver of OpenFOAM")
    variant("hypre", default=False, description="Build the preconditioner boomeramg")
    variant("stratimikos", default=False, description="Build the linear solver type of Stratimikos")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("ninja", type="build")

    depends_on("mpi")
    depends_on("trilinos@13.2:17 +mpi+tpetra+belos+ifpack2+muelu")
    depends_on("trilinos+shared", when="+shared")
    depends_on("trilinos~shared", when="~shared")
    depends_on("trilinos+stratimikos+thyra", when="+stratimikos")
    depends_on("boost+context")
    depends_on("yaml-cpp")
    depends_on("fmt")
    depends_on("cli11")
    depends_on("nlohmann-json")
    depends_on("zlib-api")
    depends_on("hypre+mpi", when="+hypre")
    depends_on("openfoam@1912:2512", when="+openfoam")
    depends_on("python@3.8:", type="run")

    # The code for devices is Trilinos'.
    for _arch in CudaPackage.cuda_arch_values:
        depends_on(f"trilinos+cuda+wrapper cuda_arch={_arch}", when=f"+cuda cuda_arch={_arch}")
    for _arch in ROCmPackage.amdgpu_targets:
        depends_on(f"trilinos+rocm amdgpu_target={_arch}", when=f"+rocm amdgpu_target={_arch}")
    depends_on("trilinos~cuda", when="~cuda")
    depends_on("trilinos~rocm", when="~rocm")

    # What OpenFOAM loads at run time, and what is preloaded, is shared.
    conflicts("+openfoam", when="~shared")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("BUILD_TESTING", False),
            self.define("CAPSTAN_BENCHMARKS", False),
            self.define("CAPSTAN_PCH", False),
            self.define_from_variant("CAPSTAN_HYPRE", "hypre"),
            self.define_from_variant("CAPSTAN_STRATIMIKOS", "stratimikos"),
            self.define("CAPSTAN_OPENFOAM", self.spec["openfoam"].prefix if self.spec.satisfies("+openfoam") else "OFF"),
        ]
