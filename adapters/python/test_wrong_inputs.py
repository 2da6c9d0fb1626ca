"""Wrong inputs of capstan.solve() and capstan.Solver: each is an exception of Python's, on all ranks, or a solve that says that
it has not converged. test_python.py runs them."""

import functools
import itertools
import unittest
import warnings

import numpy
from mpi4py import MPI
from scipy import sparse
from scipy.sparse import linalg

import capstan

COMM = MPI.COMM_WORLD
ROWS = 12
NAN, INF = float("nan"), float("inf")
REFUSED = (ValueError, TypeError, OverflowError, capstan.CapstanError)


class OwnError(Exception):
    """What functions of the tests raise."""


def system():
    count = ROWS * COMM.size
    whole = sparse.diags([-1.0, 2.5, -1.0], [-1, 0, 1], shape=(count, count), format="csr")
    return whole[ROWS * COMM.rank:ROWS * (COMM.rank + 1)].tocsr(), numpy.sin(1.0 + numpy.arange(ROWS) + 100 * COMM.rank)


def raising(error):
    def function(_):
        raise error

    return function


def called(times, then):
    """A function that gives what it gets so many times, and then what `then` gives."""
    count = itertools.count()
    return lambda x: x.copy() if next(count) < times else then(x)


def operator(function, shape=(ROWS, ROWS), dtype=float):
    return linalg.LinearOperator(shape, matvec=function, dtype=dtype)


def spoiled(A, where, value):
    A = A.copy()
    getattr(A, where)[3] = value
    return A


# What a function gives in place of a vector.
RESULTS = {"nothing": lambda x: None, "too few": lambda x: x[:5], "too many": lambda x: numpy.append(x, 1), "text": lambda x: "text",
           "a number": lambda x: 3.0, "complex": lambda x: 1j * x, "NaN": lambda x: NAN * x, "Inf": lambda x: x + INF,
           "a matrix": lambda x: numpy.outer(x, x), "objects": lambda x: [object()] * len(x), "texts": lambda x: ["1"] * len(x),
           "a dictionary": lambda x: {}, "itself": lambda x: RESULTS}
ERRORS = {error.__name__: error for error in (OwnError, ValueError, ZeroDivisionError, MemoryError, StopIteration, KeyError, AssertionError,
                                              RecursionError, UnicodeError, OSError)}
# No vectors.
VECTORS = {"None": None, "text": "b", "texts": ["1"] * ROWS, "empty": [], "complex": numpy.ones(ROWS) * 1j, "two columns": numpy.ones((ROWS, 2)),
           "a row": numpy.ones((1, ROWS)), "short": numpy.ones(ROWS - 1), "long": numpy.ones(ROWS + 1), "objects": [object()] * ROWS,
           "a dictionary": {}, "a number": 3.0, "ragged": [[1, 2], [3]] * (ROWS // 2), "dates": numpy.zeros(ROWS, dtype="datetime64[s]"),
           "records": numpy.zeros(ROWS, dtype=[("a", float)]), "a function": len, "sparse": sparse.eye(ROWS)}
NUMBERS = {"text": "abc", "NaN": NAN, "Inf": INF, "negative": -1, "complex": 1j, "a list": [1], "an object": object(), "bytes": b"1"}


def vectors():
    A, b = system()
    for name, value in VECTORS.items():
        yield f"b: {name}", functools.partial(capstan.solve, A, value)
        if value is not None:
            yield f"x0: {name}", functools.partial(capstan.solve, A, b, value)
    for value in (NAN, INF, -INF, 1e308):
        bad = b.copy()
        bad[COMM.rank::5] = value
        yield f"b has {value}", functools.partial(capstan.solve, A, bad)
        if value != 1e308:
            yield f"x0 has {value}", functools.partial(capstan.solve, A, b, bad)


def matrices():
    A, b = system()
    wide = ROWS * COMM.size
    for name, value in {"None": None, "text": "A", "a number": 3.0, "an object": object(), "a list of numbers": [1.0] * ROWS, "empty": [],
                        "a type": float, "complex": A * 1j, "dense, complex": A.toarray() * 1j, "dense, three": numpy.ones((ROWS, 2, 2)),
                        "tall": A[:, :wide - 3], "dense, tall": A[:, :wide - 3].toarray(),
                        "dense, few rows": numpy.ones((ROWS - 1, wide)), "dense, texts": numpy.full((ROWS, wide), "x"),
                        "wide": sparse.eye(ROWS, wide + 3, k=wide + 2 - ROWS, format="csr"), "few rows": A[:ROWS - 2], "zeros": 0 * A,
                        "no entries": sparse.csr_matrix((ROWS, wide)), "a column too far": spoiled(A, "indices", wide + 7),
                        "a negative column": spoiled(A, "indices", -1), "NaN": spoiled(A, "data", NAN), "Inf": spoiled(A, "data", INF),
                        "starts that fall": spoiled(A, "indptr", 0), "starts too far": spoiled(A, "indptr", 10 ** 6),
                        "not square": operator(lambda x: x, (ROWS, ROWS + 1)), "of other rows": operator(lambda x: x, (ROWS + 1,) * 2),
                        "complex operator": operator(lambda x: 1j * x, dtype=complex)}.items():
        yield f"A: {name}", functools.partial(capstan.solve, value, b)
    for layout in ("coo", "csc", "bsr", "lil", "dok"):
        yield f"A: {layout} with NaN", functools.partial(capstan.solve, sparse.csr_matrix(spoiled(A, "data", NAN)).asformat(layout), b)


def functions():
    A, b = system()
    for name, result in RESULTS.items():
        yield f"A gives {name}", functools.partial(capstan.solve, result, b)
        yield f"A, an operator, gives {name}", functools.partial(capstan.solve, operator(result), b)
        yield f"A gives {name} later", functools.partial(capstan.solve, called(3, result), numpy.arange(1.0, ROWS + 1), method="capstan_cg", M=lambda r: r * numpy.arange(1, ROWS + 1), rtol=1e-12)
        yield f"M gives {name}", functools.partial(capstan.solve, A, b, M=result)
        yield f"M gives {name} later", functools.partial(capstan.solve, A, b, M=called(2, result), rtol=1e-12)
    for name, error in ERRORS.items():
        yield f"A raises {name}", functools.partial(capstan.solve, raising(error("own")), b)
        yield f"M raises {name}", functools.partial(capstan.solve, A, b, M=raising(error("own")))
        yield f"the callback raises {name}", functools.partial(capstan.solve, A, b, callback=raising(error("own")))
        yield f"A raises {name} on one rank", functools.partial(capstan.solve, raising(error("own")) if COMM.rank == 0 else lambda x: x, b)
    yield "the callback raises on one rank", functools.partial(capstan.solve, A, b, callback=raising(OwnError()) if COMM.rank == 0 else lambda _: None)
    for name, value in {"text": "c", "a number": 3, "two arguments": lambda x, y: None}.items():
        yield f"callback: {name}", functools.partial(capstan.solve, A, b, callback=value)
    for name, value in {"a number": 3.0, "a list": [1.0] * ROWS, "an object": object(), "a type": float, "few rows": sparse.eye(ROWS - 1),
                        "dense, few": numpy.ones((3, 3)), "complex": sparse.eye(ROWS) * 1j, "NaN": sparse.eye(ROWS) * NAN, "zeros": lambda r: 0 * r,
                        "unknown": "no such name", "empty": "", "broken": "{jacobi", "a tuple": ("jacobi",)}.items():
        yield f"M: {name}", functools.partial(capstan.solve, A, b, M=value)


def settings():
    A, b = system()
    for name, value in NUMBERS.items():
        for key in ("rtol", "atol", "maxiter", "restart"):
            yield f"{key}: {name}", functools.partial(capstan.solve, A, b, **{key: value})
    for key, value in (("maxiter", 1.5), ("maxiter", 2 ** 40), ("maxiter", True), ("restart", 0), ("restart", 2 ** 40), ("restart", 2.5),
                       ("rtol", None), ("atol", None), ("rtol", True), ("callback_type", "x"), ("callback_type", 3), ("tol", 1e-3), ("method", None),
                       ("method", ""), ("method", "gmres"), ("method", 3), ("method", "capstan_gc"), ("method", ["capstan_cg"]), ("method", "capstan_cg}"),
                       ("comm", 3), ("comm", "world"), ("comm", MPI.COMM_NULL), ("comm", MPI), ("comm", freed()), ("parameters", 3), ("parameters", "x"),
                       ("parameters", {"Step Size": "many"}), ("parameters", {"Step Size": -1}), ("parameters", {"Step Size": 1e99}),
                       ("parameters", {"Step Size": [4]}), ("parameters", {"Step Size": None}), ("parameters", {"Step Size": object()}),
                       ("parameters", {"No Such Key": 1}), ("parameters", {3: 4}), ("parameters", {"": 1}), ("parameters", {"Step Size": {"a": 1}}),
                       ("parameters", {"Verbosity": "loud"}), ("parameters", {"Num Blocks": -2}), ("parameters", {"Absolute Tolerance": 1e-3}), ("parameters", {"absolute_tolerance": 1e-3}),
                       ("parameters", {"Residual Scaling": "None"}), ("parameters", {"residual_scaling": "None"})):
        yield f"{key}: {value!r}", functools.partial(capstan.solve, A, b, **{key: value})


def freed():
    comm = COMM.Dup()
    comm.Free()
    return comm


def orders():
    A, b = system()

    def solver(*steps):
        made = capstan.Solver("capstan_gmres", comm=COMM, tolerance=1e-12, max_iterations=100)
        for step in steps:
            result = step(made)
        return result

    yield "solve before A", lambda: solver(lambda s: s.solve(b))
    yield "M before A", lambda: solver(lambda s: s.set_preconditioner(lambda r: r))
    yield "closed", lambda: solver(lambda s: s.close(), lambda s: s.set_operator(A))
    yield "closed before a solve", lambda: solver(lambda s: s.set_operator(A), lambda s: s.close(), lambda s: s.close(), lambda s: s.solve(b))
    yield "rows: negative", lambda: solver(lambda s: s.set_operator(lambda x: x, rows=-1))
    yield "rows: text", lambda: solver(lambda s: s.set_operator(lambda x: x, rows="x"))
    yield "rows: missing", lambda: solver(lambda s: s.set_operator(lambda x: x))
    yield "limits: NaN", lambda: solver(lambda s: s.set_limits(NAN, 3))
    yield "limits: negative", lambda: solver(lambda s: s.set_limits(-1.0, 3))
    yield "limits: many", lambda: solver(lambda s: s.set_limits(1e-3, 2 ** 40))
    yield "limits: text", lambda: solver(lambda s: s.set_limits("x", 3))
    yield "other rows than A", lambda: solver(lambda s: s.set_operator(A), lambda s: s.solve(numpy.ones(ROWS + 2)))
    for name, use in {"solves": lambda s: s.solve(b), "sets A": lambda s: s.set_operator(A), "sets M": lambda s: s.set_preconditioner(None),
                      "sets limits": lambda s: s.set_limits(1e-3, 3)}.items():
        def within(x, made, use=use):
            use(made)
            return x

        yield f"M {name} by the solver that it serves", lambda within=within: solver(
            lambda s: s.set_operator(A), lambda s: s.set_preconditioner(lambda r: within(r, s)), lambda s: s.solve(b))
    if COMM.size > 1:
        first = COMM.rank == 0
        yield "A: square on each rank", lambda: capstan.solve(sparse.eye(ROWS, format="csr"), b, comm=COMM)
        yield "A: dense, square on each rank", lambda: capstan.solve(numpy.eye(ROWS), b, comm=COMM)
        yield "A: other columns on one rank", lambda: capstan.solve(A if first else A[:, :ROWS], b, comm=COMM)
        yield "b on one rank", lambda: capstan.solve(A, b if first else None, comm=COMM)
        yield "A on one rank", lambda: capstan.solve(A if first else "A", b, comm=COMM)
        yield "M on one rank", lambda: capstan.solve(A, b, comm=COMM, M=(lambda r: r) if first else sparse.eye(3))
        yield "rtol on one rank", lambda: capstan.solve(A, b, comm=COMM, rtol=1e-3 if first else -1)
        yield "x0 on one rank", lambda: capstan.solve(A, b, None if first else "x", comm=COMM)


KINDS = (vectors, matrices, functions, settings, orders)


class WrongInputs(unittest.TestCase):
    def test_each(self):
        count, refused = 0, 0
        for kind in KINDS:
            for name, use in kind():
                if COMM.size > 1 and isinstance(use, functools.partial) and "comm" not in use.keywords:
                    use.keywords["comm"] = COMM
                elif isinstance(use, functools.partial) and "comm" not in use.keywords and COMM.size == 1:
                    use.keywords["comm"] = COMM
                with self.subTest(name), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    count += 1
                    refused += self.outcome(use)
        self.assertGreaterEqual(count, 200)
        if COMM.rank == 0:
            print(f"{count} wrong inputs, {refused} refused", flush=True)

    def outcome(self, use):
        """Whether it was refused; a solve must not have converged."""
        try:
            result = use()
        except (*REFUSED, OwnError, *ERRORS.values()) as error:
            self.assertTrue(str(error) or isinstance(error, (OwnError, AssertionError)), repr(error))
            return True
        self.assertFalse(result.converged, result)
        self.assertNotEqual(result.info, 0)
        return False
