#!/usr/bin/env python3
"""capstan for Python beside scipy's own solvers; run under mpirun on any number of ranks.

usage: mpirun -np N test_python.py LIBRARY
"""

import gc
import inspect
import os
import pathlib
import re
import sys
import unittest

import numpy
from mpi4py import MPI
from scipy import sparse
from scipy.sparse import linalg

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import capstan  # noqa: E402
from test_wrong_inputs import WrongInputs  # noqa: E402, F401

COMM = MPI.COMM_WORLD


def line(rows=60, shift=0.01, convection=0.0):
    """All rows of a tridiagonal matrix, and those of this rank."""
    count = rows * COMM.size
    whole = sparse.diags([-1 - convection, 2 + shift, -1 + convection], [-1, 0, 1], shape=(count, count), format="csr")
    return whole, whole[rows * COMM.rank:rows * (COMM.rank + 1)].tocsr()


def mine(vector, rows=60):
    return vector[rows * COMM.rank:rows * (COMM.rank + 1)]


class Solves(unittest.TestCase):
    def setUp(self):
        self.whole, self.rows = line()
        self.b = numpy.sin(1e3 * numpy.arange(1.0, self.whole.shape[0] + 1))
        self.exact = linalg.spsolve(self.whole.tocsc(), self.b)

    def gathered(self, x):
        return numpy.concatenate(COMM.allgather(x))

    def test_as_scipy_does(self):
        for method in ("capstan_cg", "capstan_gmres", "capstan_sstep_gmres", "capstan_cg_pipeline", "capstan_bicgstab"):
            with self.subTest(method):
                result = capstan.solve(self.rows, mine(self.b), rtol=1e-10, method=method, comm=COMM)
                x, info = result
                self.assertEqual(info, 0)
                self.assertTrue(result.converged)
                self.assertEqual(result.reason, "converged")
                numpy.testing.assert_allclose(self.gathered(x), self.exact, atol=1e-7)
                residual = numpy.linalg.norm(self.b - self.whole @ self.gathered(x)) / numpy.linalg.norm(self.b)
                self.assertLessEqual(residual, 1e-10 * (1 + 1e-6))
                self.assertAlmostEqual(result.residual, residual, delta=1e-13)
                self.assertEqual(len(result.history), result.iterations)

    def test_as_many_iterations_as_scipys_gmres(self):
        norms = []
        tolerance = "rtol" if "rtol" in inspect.signature(linalg.gmres).parameters else "tol"  # before scipy 1.12
        linalg.gmres(self.whole, self.b, **{tolerance: 1e-8}, atol=0, restart=400, maxiter=1, callback=norms.append, callback_type="pr_norm")
        result = capstan.solve(self.rows, mine(self.b), rtol=1e-8, restart=400, method="capstan_gmres", comm=COMM)
        self.assertAlmostEqual(result.iterations, len(norms), delta=1)

    def test_the_signature_and_the_answers_of_scipys(self):
        """The names of gmres, which later scipy has, and the answers of gmres and cg."""
        taken = inspect.signature(capstan.solve).parameters
        for name, there in inspect.signature(linalg.gmres).parameters.items():
            if name not in ("tol", "restrt"):  # gone since scipy 1.14
                self.assertIn(name, taken)
                self.assertEqual(taken[name].default, {"atol": 0.0}.get(name, there.default))
        self.assertEqual(taken["rtol"].default, 1e-5)
        tolerance = "rtol" if "rtol" in inspect.signature(linalg.gmres).parameters else "tol"
        for theirs, ours in ((linalg.gmres, "capstan_gmres"), (linalg.cg, "capstan_cg")):
            x, info = theirs(self.whole, self.b, **{tolerance: 1e-10}, atol=0, maxiter=500)
            self.assertEqual(info, 0)
            found, info = capstan.solve(self.rows, mine(self.b), rtol=1e-10, method=ours, comm=COMM)
            self.assertEqual(info, 0)
            self.assertLessEqual(numpy.linalg.norm(self.gathered(found) - x), 1e-6 * numpy.linalg.norm(x))

    def test_the_callback(self):
        for method in ("capstan_cg", "capstan_gmres", "capstan_sstep_gmres"):
            norms = []
            result = capstan.solve(self.rows, mine(self.b), rtol=1e-8, method=method, comm=COMM, callback=norms.append)
            self.assertTrue(result.converged)
            self.assertGreaterEqual(len(norms), 3 if "sstep" in method else result.iterations - 1)
            self.assertLess(norms[0], 10)
            self.assertLessEqual(norms[-1], 1e-7)

    def test_arrays(self):
        dense = self.rows.toarray()
        result = capstan.solve(dense, mine(self.b)[:, None], rtol=1e-10, M="jacobi", method="capstan_cg", comm=COMM)
        numpy.testing.assert_allclose(self.gathered(result.x), self.exact, atol=1e-7)
        result = capstan.solve(dense, mine(self.b), rtol=1e-10, M=numpy.eye(60) / 2, method="capstan_cg", comm=COMM)
        numpy.testing.assert_allclose(self.gathered(result.x), self.exact, atol=1e-7)

    def test_what_is_kept_of_a_function_and_what_is_changed(self):
        """A function may keep what it was given, or write to it; the matrix of the user stays as it is."""
        kept = []

        def careless(x):
            kept.append(x)
            y = mine(self.whole @ self.gathered(x))
            x[:] = numpy.nan
            return y

        result = capstan.solve(careless, mine(self.b), rtol=1e-8, method="capstan_cg", comm=COMM)
        self.assertTrue(result.converged)
        self.assertTrue(all(numpy.isnan(x).all() for x in kept))
        twice = sparse.coo_matrix((numpy.ones(120), (numpy.arange(120) // 2, 60 * COMM.rank + numpy.arange(120) // 2)), shape=(60, 60 * COMM.size))
        unsorted = sparse.csr_matrix((twice.data, twice.col, numpy.arange(0, 121, 2)), shape=twice.shape)
        self.assertTrue(capstan.solve(unsorted, mine(self.b), comm=COMM).converged)
        self.assertEqual(unsorted.nnz, 120)

    def test_small_integers_that_are_summed(self):
        """Duplicates are summed in double precision: 100 + 100 is no number of int8."""
        row, column = numpy.repeat(numpy.arange(60), 2), 60 * COMM.rank + numpy.repeat(numpy.arange(60), 2)
        values = numpy.full(120, 100, dtype=numpy.int8)
        shape = (60, 60 * COMM.size)
        for A in (sparse.coo_matrix((values, (row, column)), shape=shape), sparse.csr_matrix((values, column, numpy.arange(0, 121, 2)), shape=shape)):
            with self.subTest(A.format):
                result = capstan.solve(A, mine(self.b), rtol=1e-12, method="capstan_cg", comm=COMM)
                numpy.testing.assert_allclose(result.x, mine(self.b) / 200, rtol=1e-9)
                self.assertEqual((A.nnz, A.dtype), (120, numpy.int8))

    def test_keys_of_parameters_that_are_arguments(self):
        for key, name in (("Absolute Tolerance", "atol"), ("absolute_tolerance", "atol"), ("Residual Scaling", "rtol"), ("residual_scaling", "rtol")):
            with self.subTest(key), self.assertRaisesRegex(ValueError, f"{key}.*{name}"):
                capstan.solve(self.rows, mine(self.b), method="capstan_cg", parameters={key: 1e-3}, comm=COMM)

    def test_a_short_path(self):
        """Where the module lies in no installation, the linker is asked."""
        kept = capstan.__file__, os.environ.pop("CAPSTAN_LIBRARY")
        try:
            capstan.__file__ = "/__init__.py"
            self.assertEqual(capstan._candidates(), ["libcapstanC.so.1"])  # pylint: disable=protected-access
        finally:
            capstan.__file__, os.environ["CAPSTAN_LIBRARY"] = kept

    def test_functions_and_linear_operators(self):
        def product(x):
            return mine(self.whole @ self.gathered(x))

        shape = (60, 60)
        for A in (product, linalg.LinearOperator(shape, matvec=product, dtype=float)):
            result = capstan.solve(A, mine(self.b), rtol=1e-10, method="capstan_cg", comm=COMM)
            numpy.testing.assert_allclose(self.gathered(result.x), self.exact, atol=1e-7)

    def test_preconditioners(self):
        plain = capstan.solve(self.rows, mine(self.b), rtol=1e-8, method="capstan_cg", comm=COMM)
        for M in ("riluk", linalg.LinearOperator((60, 60), matvec=lambda r: r / 2.01, dtype=float), lambda r: 3 * r):
            result = capstan.solve(self.rows, mine(self.b), rtol=1e-8, M=M, method="capstan_cg", comm=COMM)
            self.assertTrue(result.converged)
            self.assertGreater(result.preconditioner_applications, 0)
            self.assertLessEqual(result.iterations, plain.iterations + 1)

    def test_the_absolute_tolerance_and_limits(self):
        norm = numpy.linalg.norm(self.b)
        loose = capstan.solve(self.rows, mine(self.b), rtol=1e-12, atol=1e-2 * norm, method="capstan_cg", comm=COMM)
        self.assertTrue(loose.converged)
        self.assertGreater(loose.residual, 1e-6)
        x, info = capstan.solve(self.rows, mine(self.b), rtol=1e-12, maxiter=3, method="capstan_cg", comm=COMM)
        self.assertEqual(info, 3)
        again = capstan.solve(self.rows, mine(self.b), x, rtol=1e-8, method="capstan_cg", comm=COMM)
        self.assertEqual(again.info, 0)
        self.assertEqual(capstan.solve(self.rows, 0 * mine(self.b), method="capstan_cg", comm=COMM).info, 0)

    def test_what_a_function_raises(self):
        def fails(x):
            if COMM.rank == 0:
                raise ZeroDivisionError("on one rank")
            return x

        with self.assertRaises(capstan.CapstanError) as caught:
            capstan.solve(fails, mine(self.b), method="capstan_cg", comm=COMM)
        self.assertEqual(caught.exception.status, 5)
        if COMM.rank == 0:
            self.assertIsInstance(caught.exception.__cause__, ZeroDivisionError)
        with self.assertRaises(capstan.CapstanError):
            capstan.solve(lambda x: x[:3], mine(self.b), method="capstan_cg", comm=COMM)

    def test_wrong_arguments(self):
        b = mine(self.b)
        for text, call in (("capstan_cg", lambda: capstan.solve(self.rows, b, method="capstan_gc", comm=COMM)),
                           ("no effect", lambda: capstan.solve(self.rows, b, method="capstan_cg", parameters={"Step Size": 3}, comm=COMM)),
                           ("entries of A", lambda: capstan.solve(lambda x: x, b, M="riluk", comm=COMM))):
            with self.assertRaisesRegex(ValueError, text):
                call()
        with self.assertRaisesRegex(ValueError, "rows of A"):
            capstan.solve(self.rows, b[:5], comm=COMM)
        with self.assertRaisesRegex(TypeError, "LinearOperator"):
            capstan.solve("A", b, comm=COMM)
        with self.assertRaisesRegex(TypeError, "complex"):
            capstan.solve(self.rows * 1j, b, comm=COMM)

    def test_one_process_by_itself(self):
        whole, _ = line(20)
        part = whole[:20, :20].tocsr()
        b = numpy.ones(20)
        result = capstan.solve(part, b, rtol=1e-10, method="capstan_cg")
        numpy.testing.assert_allclose(part @ result.x, b, atol=1e-8)

    def test_a_solver_that_is_kept(self):
        solver = capstan.Solver("capstan_gmres", comm=COMM, tolerance=1e-8, max_iterations=300, preconditioner="riluk")
        self.assertEqual(solver.method, "CAPSTAN GMRES")
        solver.set_operator(self.rows)
        first, second = solver.solve(mine(self.b)), solver.solve(mine(self.b))
        self.assertTrue(first.converged and second.converged)
        self.assertEqual(second.setup_seconds, 0)
        solver.set_limits(1e-2, 5)
        self.assertLessEqual(solver.solve(mine(self.b)).iterations, 5)
        solver.close()

    def test_a_guess_on_some_ranks_alone(self):
        solver = capstan.Solver("capstan_gmres", comm=COMM, tolerance=1e-8, max_iterations=300)
        solver.set_operator(self.rows)
        b = mine(self.b)
        for x0 in (None, b if COMM.rank == 0 else None, None):
            result = solver.solve(b, x0)
            self.assertTrue(result.converged)
        solver.close()

    def test_what_one_rank_alone_is_given(self):
        """A callback of one rank is called there; what would let the others wait is refused on all ranks."""
        first, norms = COMM.rank == 0, []
        result = capstan.solve(self.rows, mine(self.b), rtol=1e-8, method="capstan_cg", comm=COMM, callback=norms.append if first else None)
        self.assertTrue(result.converged)
        self.assertEqual(len(norms) > 0, first)
        if COMM.size == 1:
            return
        solver = capstan.Solver("capstan_gmres", comm=COMM, tolerance=1e-8, max_iterations=300)
        solver.set_operator(self.rows)
        for name, use in {"M is a function": lambda: capstan.solve(self.rows, mine(self.b), comm=COMM, M=numpy.copy if first else None),
                          "M is a name": lambda: capstan.solve(self.rows, mine(self.b), comm=COMM, M="jacobi" if first else None),
                          "A is a function": lambda: capstan.solve(numpy.copy if first else self.rows, mine(self.b), comm=COMM),
                          "M goes": lambda: solver.set_preconditioner(None if first else numpy.copy),
                          "a callback that is none": lambda: solver.set_callback(3 if first else None),
                          "limits": lambda: solver.set_limits("x" if first else 1e-3, 3)}.items():
            with self.subTest(name), self.assertRaises((TypeError, ValueError, capstan.CapstanError)):
                use()
        self.assertTrue(solver.solve(mine(self.b)).converged)
        solver.close()

    def test_a_callback_that_raises_once_the_tolerance_is_met(self):
        def late(norm):
            if COMM.rank == 0 and norm <= 1e-6:
                raise ZeroDivisionError("late")

        for method in ("capstan_cg", "capstan_gmres"):
            with self.subTest(method), self.assertRaises(ZeroDivisionError if COMM.rank == 0 else capstan.CapstanError):
                capstan.solve(self.rows, mine(self.b), rtol=1e-6, method=method, comm=COMM, callback=late)

    def test_solvers_end_with_their_last_reference(self):
        """Their end is collective, and garbage collectors find circles when they like."""
        def product(x):
            return mine(self.whole @ self.gathered(x))

        def fails(x):
            raise ZeroDivisionError("always")

        gc.collect()
        gc.disable()
        try:
            A = linalg.LinearOperator((60, 60), matvec=product, dtype=float)
            capstan.solve(A, mine(self.b), rtol=1e-3, M=numpy.copy, callback=lambda norm: None, comm=COMM)
            with self.assertRaises(capstan.CapstanError):
                capstan.solve(fails, mine(self.b), comm=COMM)
            solver = capstan.Solver("capstan_gmres", comm=COMM)
            solver.set_operator(product, rows=60)
            solver.set_callback(lambda norm: None)
            solver.solve(mine(self.b))
            del solver
            left = sum(type(each) is capstan.Solver for each in gc.get_objects())  # pylint: disable=unidiomatic-typecheck
        finally:
            gc.enable()
        self.assertEqual(left, 0)

    def test_without_a_right_hand_side_x_is_zero(self):
        for x0 in (None, mine(self.b), 1e-9 * mine(self.b)):
            x, info = capstan.solve(self.rows, 0 * mine(self.b), x0, method="capstan_cg", comm=COMM)
            self.assertEqual((info, numpy.abs(x).max()), (0, 0))
        self.assertEqual(linalg.gmres(self.whole, 0 * self.b, self.b)[0].any(), False)

    def test_the_example_of_the_page(self):
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs/c.md").read_text(encoding="utf-8")
        example = re.search(r"begin example: python -->\s+```python\n(.*?)```", page, re.DOTALL)[1]
        names = {}
        exec(compile(example, "docs/c.md", "exec"), names)  # pylint: disable=exec-used
        self.assertEqual(names["info"], 0)

    def test_the_picture(self):
        import matplotlib
        matplotlib.use("Agg")
        result = capstan.solve(self.rows, mine(self.b), rtol=1e-8, method="capstan_cg", comm=COMM)
        axes = result.plot()
        self.assertEqual(len(axes.lines[0].get_xdata()), result.iterations)
        self.assertIs(result.plot(axes), axes)


if __name__ == "__main__":
    os.environ["CAPSTAN_LIBRARY"] = sys.argv.pop(1)
    unittest.main()
