#!/usr/bin/env python3
"""check_abi.py notices what breaks programs, and lets pass what does not, on small headers."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("check_abi.py")
HEADER = """#include <mpi.h>
#define CAPSTAN_API
/* CAPSTAN_API int in_a_comment(void); */
typedef enum kind { NONE = 0, ONE = 1 } kind;
typedef struct sized {
  size_t size;
  int count;
  double value;
} sized;
typedef struct plain {
  int count;
} plain;
typedef int (*apply)(void* context, const double* x);
typedef struct solver solver;
CAPSTAN_API int create(MPI_Comm comm, solver** made);
CAPSTAN_API int set(solver* one, apply function,
                    void* context);
CAPSTAN_API int solve(solver* one, const double* b, double* x, sized* outcome);
CAPSTAN_API const char* told(const solver* one, const plain* what);
"""


def run(*words):
    return subprocess.run([sys.executable, SCRIPT, *map(str, words)], capture_output=True, text=True, check=False)


class CheckAbi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.header, cls.old = cls.folder / "old.h", cls.folder / "old.abi"
        cls.header.write_text(HEADER, encoding="utf-8")
        done = run("--header", cls.header, "--soname", "libx.so.1", "--against", cls.old, "--update")
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def compared(self, *changes, soname="libx.so.1"):
        text = HEADER
        for old, new in changes:
            self.assertEqual(text.count(old), 1, old)
            text = text.replace(old, new)
        path = self.folder / "new.h"
        path.write_text(text, encoding="utf-8")
        return run("--header", path, "--soname", soname, "--against", self.old)

    def test_what_programs_bear(self):
        for name, *changes in (("a function", ("CAPSTAN_API const", "CAPSTAN_API int more(void);\nCAPSTAN_API const")),
                               ("a number", ("ONE = 1", "ONE = 1, TWO = 2")),
                               ("a member at the end", ("double value;", "double value;\n  int more;")),
                               ("members at the end", ("double value;", "double value, more; /* and; more */\n  int even, yet;")),
                               ("names of parameters", ("double* x, sized", "double* y, sized"))):
            with self.subTest(name):
                done = self.compared(*changes)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("nothing changed", self.compared().stdout)
        self.assertIn("TWO", self.compared(("ONE = 1", "ONE = 1, TWO = 2")).stdout)

    def test_what_breaks_programs(self):
        for name, says, *changes in (
                ("a function is gone", "create", ("CAPSTAN_API int create(MPI_Comm comm, solver** made);\n", "")),
                ("a parameter is another", "set", ("apply function,", "int function,")),
                ("one more parameter", "set", ("apply function,", "apply function, int more,")),
                ("a callback is another", "apply", ("const double* x);\ntypedef", "const double* x, int n);\ntypedef")),
                ("a result is another", "told", ("const char* told", "int told")),
                ("a member in the middle", "sized", ("int count;\n  double", "int count;\n  double more;\n  double")),
                ("a member is another", "sized", ("double value;", "float value;")),
                ("a member is gone", "sized", ("  double value;\n", "")),
                ("a member at the end, and another is changed", "sized", ("int count;\n  double value;", "long count;\n  double value;\n  int more;")),
                ("a structure without a size grows", "plain", ("int count;\n} plain", "int count, more;\n} plain")),
                ("a number is another", "ONE", ("ONE = 1", "ONE = 2"))):
            with self.subTest(name):
                done = self.compared(*changes)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn(says, done.stdout)

    def test_another_soversion_may_change_all(self):
        done = self.compared(("double value;", "float value;"), soname="libx.so.2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("libx.so.2 is another library than libx.so.1", done.stdout)

    def test_wrong_uses(self):
        for words, says in ((("--against", self.folder / "none"), "no such file; --update writes it"), (("--against", self.header), "abidiff")):
            done = run("--header", self.header, *words)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(says, done.stderr)
        done = self.compared(("CAPSTAN_API const char* told(const solver* one, const plain* what);", "CAPSTAN_API unknown f(void);"))
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
