#!/usr/bin/env python3
"""Test of prove.sh with stand-ins for compilers, cmake and ninja: what it refuses, and the parts that Trilinos 17 is built in."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "launcher"))
from launcher_copy import STAND_INS, LauncherCase  # noqa: E402

NVCC = 'echo "Cuda compilation tools, release ${FAKE_NVCC:-12.4}, V12"'
COMPILER = 'echo "g++ (stand-in) 12"'


class Prove(LauncherCase):
    STAND_INS = {**STAND_INS, "nvcc": NVCC, "nvidia-smi": "exit 9", "mpicxx": "exit 0", "g++-13": COMPILER, "c++": COMPILER, "cc": "exit 0",
                 "g++-11": COMPILER, "dpkg-deb": "exit 1"}

    def setUp(self):
        super().setUp()
        self.source = self.work / "trilinos"
        for file in ("tpetra/CMakeLists.txt", "kokkos/bin/nvcc_wrapper"):
            (self.source / "packages" / file).parent.mkdir(parents=True)
            (self.source / "packages" / file).touch()
        (self.root / "regression/source_build/unity.cmake").touch()

    def prove(self, *arguments, **environment):
        self.calls.write_text("", encoding="utf-8")
        return self.run_script("regression/source_build/prove.sh", *arguments, CAPSTAN_TRILINOS_SOURCE=str(self.source), **environment)

    def configured(self):
        """The packages that were switched on, for each configuration of Trilinos; and Capstan's command lines."""
        calls = [call.split() for call in self.called("cmake") if " -S " in call]
        trilinos = [[word[len("-DTrilinos_ENABLE_"):-len("=ON")] for word in call if word.startswith("-DTrilinos_ENABLE_")
                     and word.endswith("=ON") and not word.endswith("INSTANTIATION=ON")] for call in calls if "-DTPL_ENABLE_MPI=ON" in call]
        return trilinos, [call for call in calls if "-DTPL_ENABLE_MPI=ON" not in call]

    def test_what_does_not_fit_is_refused_before_work_starts(self):
        for words, said in ((("--backend", "opencl"), "allowed: openmp, cuda, cuda17, serial-static, protected, hip"),
                            (("--backend", "cuda", "--headers"), "--headers is for the backends cuda17 and hip"),
                            (("--backend", "openmp", "--until", "base"), "--until is for --backend cuda17 and --headers"),
                            (("--backend", "cuda17", "--until", "belos"), "found 'belos'; allowed: base, tpetra, ifpack2, muelu"),
                            (("--backend", "hip", "--headers", "--until", "base"),
                             "found 'base'; allowed: operators, exchange, kernels, belos_ext, plugin, tests"),
                            (("--backend", "cuda17", "--headers", "--pack", "x"), "--backend hip and --headers only compile"),
                            (("--backend", "hip", "--no-build"), "--backend hip and --headers only compile")):
            status, _, errors = self.prove(*words)
            self.assertEqual(status, 2, words)
            self.assertIn(said, errors)
        self.assertEqual(self.called("cmake"), [])

    def test_trilinos_17_is_built_in_parts_without_unified_memory(self):
        base, tpetra = ["Kokkos", "KokkosKernels", "Teuchos"], ["Tpetra", "TpetraTSQR", "Belos"]
        status, output, errors = self.prove("--backend", "cuda17", "--until", "muelu")
        self.assertEqual(status, 0, output + errors)
        trilinos, capstan = self.configured()
        self.assertEqual(trilinos, [base, base + tpetra, base + tpetra + ["Ifpack2"], base + tpetra + ["Ifpack2", "MueLu"]])
        calls = self.calls.read_text(encoding="utf-8")
        self.assertNotIn("UVM", calls)
        self.assertIn("-DCMAKE_CXX_STANDARD=20", calls)
        self.assertIn("-DTpetra_INST_INT_LONG_LONG=ON", calls)
        self.assertIn("-DTpetra_INST_INT_INT=OFF", calls)
        self.assertIn("-DTpetra_INST_SERIAL=OFF", calls)
        self.assertIn("-DCAPSTAN_LIBRARY_ONLY=OFF", capstan[0])
        self.assertIn("PASSED: cuda17, all compiled and linked without warnings; NOT RUN: nvidia-smi finds no GPU", output)

    def test_trilinos_13_is_built_at_once_with_unified_memory(self):
        status, output, errors = self.prove("--backend", "cuda", FAKE_NVCC="11.8")
        self.assertEqual(status, 0, output + errors)
        trilinos, capstan = self.configured()
        self.assertEqual(trilinos, [["Tpetra", "TpetraTSQR", "Belos"]])
        calls = self.calls.read_text(encoding="utf-8")
        self.assertIn("-DKokkos_ENABLE_CUDA_UVM=ON", calls)
        self.assertIn("-DCMAKE_CXX_STANDARD=17", calls)
        self.assertIn("-DCAPSTAN_LIBRARY_ONLY=ON", capstan[0])

    def test_a_build_that_was_stopped_goes_on_with_the_part_it_had_reached(self):
        prefix = self.root / "build-cuda17/trilinos"
        self.assertEqual(self.prove("--backend", "cuda17", "--until", "base")[0], 0)
        (prefix / "installed").touch()
        (self.work / "compile-error").touch()
        status, output, errors = self.prove("--backend", "cuda17")
        self.assertEqual(status, 1)
        self.assertIn("x.cpp:1: error: broken", errors)
        self.assertIn("FAILED: cuda17, Trilinos built with the part base, Capstan not built", output)
        (self.work / "compile-error").unlink()
        status, output, errors = self.prove("--backend", "cuda17")
        self.assertEqual(status, 0, output + errors)
        self.assertIn(f"part base: the one in {prefix}", output)
        trilinos, capstan = self.configured()
        self.assertEqual(len(trilinos), 1)
        self.assertIn("Belos", trilinos[0])
        self.assertIn("-DCAPSTAN_LIBRARY_ONLY=ON", capstan[0])
        self.assertTrue((prefix / "installed").exists())

    def test_an_older_nvcc_is_not_taken_for_trilinos_17(self):
        for version, unpacked in (("11.8", True), ("12.3", True), ("12.10", False), ("13.0", False)):
            output = self.prove("--backend", "cuda17", "--until", "base", FAKE_NVCC=version)[1]
            self.assertEqual("unpacking CUDA 12.4" in output, unpacked, version)


if __name__ == "__main__":
    unittest.main()
