#!/usr/bin/env python3
"""Tests of ./capstan preload hypre, petsc and saturne: what is preloaded, what cannot meet, what is said.

See launcher_copy.py: nothing is installed or built. The ways of each MPI: test_applications.py.
"""

import shlex
import unittest

from launcher_copy import STAND_INS, LauncherCase

MPI = "libmpi.so.40 => /usr/lib/libmpi.so.40 (0x1)\n"
HYPRE = "libHYPRE-2.26.0.so => /usr/lib/libHYPRE-2.26.0.so (0x1)\n"
PETSC = "libpetsc_real.so.3.18 => /usr/lib/libpetsc_real.so.3.18 (0x1)\n"
# What ldd says of each file, and readelf of libraries.
LINKED = {
    "libcapstanHypre.so": MPI, "libcapstanSaturne.so": MPI, "libcapstanPetsc.so": MPI + PETSC,
    "ij": HYPRE + MPI, "cs_solver": "libsaturne-6.0.so => /lib/libsaturne-6.0.so (0x1)\n" + MPI, "ex2": PETSC + HYPRE + MPI,
    "ex2-newer": PETSC.replace("3.18", "3.22") + MPI, "intel": HYPRE + MPI.replace("so.40", "so.12"),
    "lost": HYPRE.replace("/usr/lib/libHYPRE-2.26.0.so (0x1)", "not found") + MPI, "old": HYPRE + MPI,
    "static": MPI, "other": MPI, "script": "",
}
HOLDS = {"script": b"#!/bin/sh\n", "static": b"\x7fELF hypre_ParVector"}
LDD = """for file; do :; done
cat "$WORK/linked/${file##*/}" 2>/dev/null || echo "not a dynamic executable"
[ "$1 ${file##*/}" != "-r old" ] || echo "undefined symbol: HYPRE_FlexGMRESGetConverged ($LD_PRELOAD)" """
READELF = """for file; do :; done
awk '{ print " 0x1 (NEEDED)  Shared library: [" $1 "]" }' "$WORK/linked/${file##*/}" """
REDIRECTS = {"CAPSTAN_OPTIONS": "redirect: {hypre_pcg: capstan_cg, saturne_pressure: capstan_cg}"}


class PreloadHosts(LauncherCase):
    STAND_INS = {**STAND_INS, "ldd": LDD, "readelf": READELF,
                 "mpirun": '[ "$1" = --version ] && { echo "mpirun (Open MPI) 4.1.4"; exit 0; }; echo "mpirun $*"', "srun": "exit 1", "mpiexec.hydra": 'echo "HYDRA build details:"'}

    def setUp(self):
        super().setUp()
        self.install_everything()
        (self.work / "linked").mkdir()
        self.libraries = self.build_without_blanks() / "lib"
        self.libraries.mkdir(parents=True)
        (self.libraries / "libcapstan.so").touch()
        for name, text in LINKED.items():
            (self.work / "linked" / name).write_text(text, encoding="utf-8")
            program = (self.libraries if name.startswith("lib") else self.work / "bin") / name
            program.write_bytes(HOLDS.get(name, b"\x7fELF"))
            program.chmod(0o755)

    def dry(self, host, *words, **environment):
        status, output, errors = self.capstan("preload", host, "--dry-run", "--", *words, **environment)
        self.assertEqual(status, 0, errors)
        return shlex.split(output), errors

    def test_the_library_of_the_host_is_preloaded(self):
        for host, library, program in (("hypre", "libcapstanHypre.so", "ij"), ("saturne", "libcapstanSaturne.so", "cs_solver")):
            one = f"LD_PRELOAD={self.libraries}/{library}"
            command, errors = self.dry(host, "mpirun", "-n", "4", program, "--mpi", **REDIRECTS)
            self.assertEqual(command, ["mpirun", "-x", one, "-x", "CAPSTAN_OPTIONS", "-n", "4", program, "--mpi"])
            self.assertNotIn("note:", errors)
            self.assertEqual(self.dry(host, program, **REDIRECTS)[0], ["env", one, program])
        self.assertTrue(any(call.endswith(" capstan_products") for call in self.called("ninja")))

    def test_petsc_is_told_by_its_options(self):
        one = f"-dll_append {self.libraries}/libcapstanPetsc.so"
        tail = ["-n", "2", "ex2", "-ksp_type", "capstan_cg"]
        self.assertEqual(self.dry("petsc", "mpirun", *tail)[0], ["mpirun", "-x", f"PETSC_OPTIONS={one}", *tail])
        both = f"PETSC_OPTIONS={one} -ksp_type capstan_cg"
        for words in ([], ["-x", "PETSC_OPTIONS"]):
            command, errors = self.dry("petsc", "mpirun", *words, "ex2", PETSC_OPTIONS="-ksp_type capstan_cg")
            self.assertEqual(command, ["mpirun", "-x", both, "ex2"])
            self.assertNotIn("note:", errors)
        self.assertEqual(self.dry("petsc", "mpirun", "-x", "PETSC_OPTIONS=-ksp_type capstan_cg", "ex2")[0], ["mpirun", "-x", both, "ex2"])
        self.assertEqual(self.dry("petsc", "mpiexec.hydra", *tail)[0], ["mpiexec.hydra", "-genv", "PETSC_OPTIONS", one, *tail])
        self.assertEqual(self.dry("petsc", "srun", *tail)[0], ["srun", f"--export=ALL,PETSC_OPTIONS={one}", *tail])
        self.assertEqual(self.dry("petsc", *tail[2:])[0], ["env", f"PETSC_OPTIONS={one}", *tail[2:]])

    def test_where_nothing_is_asked_for_that_is_said(self):
        for host, program in (("hypre", "ij"), ("saturne", "cs_solver"), ("petsc", "ex2")):
            self.assertIn("note: no option names a method for ", self.dry(host, "mpirun", program)[1])
        file = self.work / "options.yaml"
        file.write_text("redirect: {hypre_pcg: capstan_cg}", encoding="utf-8")
        self.assertNotIn("note:", self.dry("hypre", "mpirun", "ij", CAPSTAN_OPTIONS_FILE=str(file))[1])

    def test_what_cannot_meet_is_told(self):
        for host, program, said in (
                ("hypre", "other", "other does not use hypre"), ("saturne", "ij", "ij does not use code_saturne"), ("petsc", "ij", "ij does not use PETSc"),
                ("hypre", "static", "hypre is linked into "), ("hypre", "intel", "needs libmpi.so.12, and "),
                ("hypre", "lost", "libHYPRE-2.26.0.so, which "), ("hypre", "old", "lacks HYPRE_FlexGMRESGetConverged"),
                ("petsc", "ex2-newer", "needs libpetsc_real.so.3.22, and "), ("petsc", "script", "script is a script")):
            with self.subTest(f"{host}, {program}"):
                status, output, errors = self.capstan("preload", host, "--", "mpirun", program)
                self.assertIn(status, (1, 2))
                self.assertIn(said, errors)
                self.assertEqual(output, "")
        status, output, _ = self.capstan("preload", "petsc", "--no-check", "--", "mpirun", "script", "-ksp_type", "capstan_cg")
        self.assertEqual((status, output), (0, f"mpirun -x PETSC_OPTIONS=-dll_append {self.libraries}/libcapstanPetsc.so script -ksp_type capstan_cg\n"))

    def test_the_application_is_found_behind_what_starts_it(self):
        self.assertEqual(self.dry("hypre", "mpirun", "other", "ij", **REDIRECTS)[0][-2:], ["other", "ij"])

    def test_wrong_use(self):
        (self.libraries / "libcapstanPetsc.so").unlink()
        for words, status, said in ((("hyper", "--", "mpirun", "ij"), 2, "Did you mean 'hypre'?"), (("hypre", "mpirun", "ij"), 2, "wants -- and a command"),
                                    (("petsc", "--", "mpirun", "ex2"), 3, "libcapstanPetsc.so is missing: PETSc was not found when Capstan was built")):
            found, _, errors = self.capstan("preload", *words)
            self.assertEqual(found, status)
            self.assertIn(said, errors)


if __name__ == "__main__":
    unittest.main()
