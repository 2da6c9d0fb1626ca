#!/usr/bin/env python3
"""Shows that check_layers.py catches each kind of violation, and nothing else."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent

CLEAN = {
    "tpetra_ext/kernels/gram.hpp": '#include <Kokkos_Core.hpp>\n#include <vector>\n',
    "tpetra_ext/kernels/test/gram_test.cpp": '#include <gtest/gtest.h>\n#include "tpetra_ext/kernels/gram.hpp"\n',
    "tpetra_ext/topology/plan.hpp": '#include <vector>\n',
    "tpetra_ext/topology/hypercube/cube.hpp": '#include "tpetra_ext/topology/plan.hpp"\n',
    "tpetra_ext/topology/exchange/send.hpp": '#include <mpi.h>\n#include "tpetra_ext/topology/plan.hpp"\n',
    "tpetra_ext/topology/test/plan_test.cpp": '#include <mpi.h>\n#include "tpetra_ext/topology/exchange/send.hpp"\n',
    "tpetra_ext/compat/trilinos.hpp": "#if TRILINOS_MAJOR_MINOR_VERSION >= 140000\n#endif\n",
    "tpetra_ext/compat/host_rows.hpp": "matrix.getLocalRowView(row, columns, values);\n",
    "tpetra_ext/compat/local_views.hpp": "auto view = v.getLocalViewDevice(access);\n",
    "adapters/deck/rows.hpp": "A.getLocalRowCopy(i, columns, values, count);\n",
    "tpetra_ext/batch.hpp": '#include <mpi.h>\n#include <Tpetra_Map.hpp>\n#include "tpetra_ext/kernels/gram.hpp"\n',
    "belos_ext/solvers/cg/cg.hpp": '#include "tpetra_ext/batch.hpp"\n',
    "belos_ext/parameters/output.cpp": '#include <BelosTypes.hpp>\n',
    "belos_ext/manager/monitor.hpp": '#include <BelosIteration.hpp>\n',
    "belos_ext/test/cg_test.cpp": '#include <Ifpack2_Factory.hpp>\n#include "belos_ext/solvers/cg/cg.hpp"\nx->getData(0);\n',
    "adapters/openfoam/foam.C": '#include "lduMatrix.H"\n#include <Tpetra_Map.hpp>\n',
    "adapters/driver/host.hpp": '#include <mpi.h>\n#include <string>\n#include "adapters/driver/choices.hpp"\n',
    "adapters/driver/choices.hpp": "",
    "adapters/driver/driven_solve.cpp": '#include <Tpetra_Map.hpp>\n#include "adapters/driver/host.hpp"\n',
    "app-inputs/README.md": "",
    "regression/app.cpp": '#include "adapters/deck/deck.hpp"\n#include "local.hpp"\n',
    "regression/local.hpp": "",
    "adapters/deck/deck.hpp": '#include <yaml-cpp/yaml.h>\n#include "belos_ext/solvers/cg/cg.hpp"\n',
    "belos_ext/dense/matrix.hpp": "",
    "belos_ext/basis/bases.hpp": '#include "belos_ext/dense/matrix.hpp"\n',
    "belos_ext/basis/test/bases_test.cpp": '#include "belos_ext/solvers/cg/cg.hpp"\n#include "belos_ext/basis/bases.hpp"\n',
    "perf/bench.cpp": '#include "adapters/deck/deck.hpp"\n',
    "perf/names.cpp": '#include <fmt/ranges.h>\nprint(fmt::join(names, ", "));\n',
}

# One line added to a clean file, and what the complaint must say.
VIOLATIONS = [
    ("perf/bench.cpp", 'print(fmt::join(names, ", "));', "fmt::join() is in <fmt/ranges.h>"),
    ("tpetra_ext/batch.hpp", '#include "belos_ext/solvers/cg/cg.hpp"', "tpetra_ext must not include belos_ext"),
    ("belos_ext/solvers/cg/cg.hpp", '#include "adapters/deck/deck.hpp"', "belos_ext must not include adapters"),
    ("belos_ext/solvers/cg/cg.hpp", '#include "../../../adapters/deck/deck.hpp"', "belos_ext must not include adapters"),
    ("adapters/deck/deck.hpp", '#include "regression/local.hpp"', "adapters must not include regression"),
    ("adapters/driver/driven_solve.cpp", '#include "adapters/deck/deck.hpp"', "knows no application"),
    ("adapters/driver/host.hpp", "#include <Tpetra_Map.hpp>", "the standard library and MPI alone"),
    ("adapters/driver/host.hpp", '#include "belos_ext/solvers/cg/cg.hpp"', "the standard library and MPI alone"),
    ("perf/bench.cpp", '#include "regression/local.hpp"', "perf must not include regression"),
    ("tpetra_ext/kernels/gram.hpp", "#include <Tpetra_Map.hpp>", "kernels/ includes only Kokkos"),
    ("tpetra_ext/kernels/gram.hpp", "#include <mpi.h>", "kernels/ includes only Kokkos"),
    ("tpetra_ext/kernels/gram.hpp", '#include "tpetra_ext/batch.hpp"', "kernels/ includes only Kokkos"),
    ("tpetra_ext/kernels/test/gram_test.cpp", "#include <Teuchos_RCP.hpp>", "kernels/ includes only Kokkos"),
    ("tpetra_ext/topology/plan.hpp", "#include <mpi.h>", "plans are plain data"),
    ("tpetra_ext/topology/hypercube/cube.hpp", '#include "tpetra_ext/topology/exchange/send.hpp"', "plans are plain data"),
    ("tpetra_ext/batch.hpp", "#include <BelosTypes.hpp>", "knows no Krylov method"),
    ("belos_ext/solvers/cg/cg.hpp", "#include <BelosTypes.hpp>", "no Belos"),
    ("belos_ext/parameters/output.cpp", "#include <BelosIteration.hpp>", "in manager/ alone"),
    ("belos_ext/solvers/cg/cg.hpp", "  #  include <mpi.h>", "no communication"),
    ("belos_ext/solvers/cg/cg.hpp", "#include <Kokkos_Core.hpp>", "no communication"),
    ("belos_ext/solvers/cg/cg.hpp", "#include <Teuchos_CommHelpers.hpp>", "no communication"),
    ("belos_ext/solvers/cg/cg.hpp", "#include <Ifpack2_Factory.hpp>", "no preconditioner package"),
    ("belos_ext/solvers/cg/cg.hpp", "#if TRILINOS_MAJOR_MINOR_VERSION > 1", "differences between Trilinos versions"),
    ("belos_ext/test/cg_test.cpp", "map->getNodeNumElements();", "differences between Trilinos versions"),
    ("tpetra_ext/kernels/gram.hpp", "#if KOKKOS_VERSION >= 40000", "differences between Trilinos versions"),
    ("tpetra_ext/compat/local_views.hpp", "#elif CAPSTAN_TRILINOS_VERSION < 1", "differences between Trilinos versions"),
    ("tpetra_ext/kernels/gram.hpp", "using Host = typename View::HostMirror;", "differences between Trilinos versions"),
    ("belos_ext/test/cg_test.cpp", "Kokkos::Serial::concurrency();", "differences between Trilinos versions"),
    ("belos_ext/dense/matrix.hpp", '#include "belos_ext/basis/bases.hpp"',
     "folders in a circle: belos_ext/basis -> belos_ext/dense -> belos_ext/basis"),
    ("tpetra_ext/batch.hpp", "const auto x = v.getLocalViewHost(access);", "host access to vectors"),
    ("belos_ext/solvers/cg/cg.hpp", "const auto x = v->getData(0);", "host access to vectors"),
    ("belos_ext/solvers/cg/cg.hpp", "const auto x = compat::hostView(v, ReadOnly);", "host access to vectors"),
    ("tpetra_ext/batch.hpp", "const auto x = v.getLocalViewDevice(access);", "views of Tpetra's objects"),
    ("tpetra_ext/batch.hpp", "const auto a = matrix.getLocalMatrixDevice();", "views of Tpetra's objects"),
    ("adapters/deck/deck.hpp", "const auto values = a->getLocalMatrixHost ().values;", "views of Tpetra's objects"),
    ("adapters/deck/deck.hpp", "const auto x = v->getDataNonConst(0);", "views of Tpetra's objects"),
    ("tpetra_ext/batch.hpp", "Kokkos::parallel_for(n, KOKKOS_LAMBDA(int i) { x(i) = 0; });", "kernels are functors"),
    ("tpetra_ext/kernels/gram.hpp", "Kokkos::parallel_for(n, KOKKOS_CLASS_LAMBDA(int i) { x(i) = 0; });", "kernels are functors"),
    ("tpetra_ext/batch.hpp", 'Kokkos::parallel_for("sum", range, sum);', "kernels are launched by kernels::launch()"),
    ("tpetra_ext/kernels/gram.hpp", "Kokkos::fence();", "waited for by kernels::fence()"),
    ("tpetra_ext/batch.hpp", "  exec.fence();", "waited for by kernels::fence()"),
    ("adapters/deck/deck.hpp", "  Kokkos::fence();", "waited for by kernels::fence()"),
    ("tpetra_ext/batch.hpp", "const Kokkos::RangePolicy<Space> rows(0, n);", "given to a queue that is carried"),
    ("tpetra_ext/kernels/gram.hpp", "using Policy = Kokkos::TeamPolicy<Exec>;", "given to a queue that is carried"),
    ("tpetra_ext/batch.hpp", "  run(typename Types::ExecutionSpace());", "given to a queue that is carried"),
    ("adapters/deck/deck.hpp", "  kernels::Queue<Space> queue(space);", "given to a queue that is carried"),
    ("tpetra_ext/batch.hpp", "  const auto host = Kokkos::create_mirror_view_and_copy(space, view);", "kernels::copyAndWait()"),
    ("tpetra_ext/batch.hpp", "  Kokkos::deep_copy(view, host);", "views are copied by kernels::copyAndWait()"),
    ("adapters/deck/deck.hpp", '#include "nowhere.hpp"', "no file 'nowhere.hpp'"),
    ("adapters/deck/deck.hpp", "#include <fvCFD.H>", "only adapters/openfoam"),
]


class CheckLayers(unittest.TestCase):
    def check(self, extra=None):
        """Writes the clean tree, with one line added where asked for, and runs the check on it."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in CLEAN.items():
                file = pathlib.Path(folder, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text + (extra[1] + "\n" if extra and extra[0] == name else ""))
            run = subprocess.run([sys.executable, str(HERE / "check_layers.py"), folder], capture_output=True, text=True,
                                 check=False)
            return run.returncode, run.stdout + run.stderr

    def test_clean_tree_passes(self):
        status, output = self.check()
        self.assertEqual(status, 0, output)

    def test_each_violation_is_caught(self):
        for file, line, complaint in VIOLATIONS:
            with self.subTest(file=file, line=line):
                status, output = self.check((file, line))
                self.assertEqual(status, 1, output)
                number = CLEAN[file].count("\n") + 1
                self.assertIn(f"{file}:{number}: ", output)
                self.assertIn(complaint, output)

    def test_wrong_folder_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run([sys.executable, str(HERE / "check_layers.py"), folder], capture_output=True, text=True,
                                 check=False)
            self.assertNotEqual(run.returncode, 0)


if __name__ == "__main__":
    unittest.main()
