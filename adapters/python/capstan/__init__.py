"""Capstan's Krylov methods for Python: systems A x = b of numpy arrays, scipy.sparse matrices and LinearOperators.

    import capstan
    result = capstan.solve(A, b, method="capstan_sstep_gmres", M="muelu", rtol=1e-8)
    x, info = result                    # as scipy.sparse.linalg.gmres returns them
    result.plot()                       # its history; needs matplotlib

On several ranks (mpi4py) each rank has consecutive rows: of b and x its own rows, of a sparse A its own rows with columns in
the numbers of the whole matrix; a LinearOperator, or a function, takes and gives the rows of the rank, and may talk to the
other ranks. Functions are collective over the communicator. The library is libcapstanC, through capstan.h.
"""

import ctypes
import dataclasses
import json
import os
import pathlib
import warnings

import numpy

__all__ = ["CapstanError", "InputError", "Result", "Solver", "solve"]

_INPUT, _CALLBACK = 2, 5
_APPLY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double))


class CapstanError(RuntimeError):
    """What a function of the library says; status is its number in capstan.h."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class InputError(CapstanError, ValueError):
    """Something is wrong with the method, its parameters or the preconditioner."""


class _Outcome(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("converged", ctypes.c_int), ("reason", ctypes.c_int), ("iterations", ctypes.c_int),
                ("restarts", ctypes.c_int), ("residual", ctypes.c_double), ("residual_estimate", ctypes.c_double),
                ("scale", ctypes.c_double), ("operator_applications", ctypes.c_int64),
                ("preconditioner_applications", ctypes.c_int64), ("reductions_blocking", ctypes.c_int64),
                ("reductions_nonblocking", ctypes.c_int64), ("preconditioner_builds", ctypes.c_int64),
                ("solve_seconds", ctypes.c_double), ("setup_seconds", ctypes.c_double)]


class _Csr(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("rows", ctypes.c_int64), ("index_bits", ctypes.c_int),
                ("row_start", ctypes.c_void_p), ("columns", ctypes.c_void_p), ("values", ctypes.c_void_p)]


def _candidates():
    """Where the library may be, in turn: as the user says, beside an installation, where the linker looks."""
    given = os.environ.get("CAPSTAN_LIBRARY")
    if given:
        return [given]
    prefix = pathlib.Path(__file__).resolve().parents[4]
    beside = [*prefix.glob("lib*/libcapstanC.so"), *prefix.glob("lib*/*/libcapstanC.so")]
    return [str(path) for path in sorted(beside)] + ["libcapstanC.so.1"]


def _open_library():
    complaints = []
    for name in _candidates():
        try:
            library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            complaints.append(str(error))
            continue
        library.capstan_error_text.restype = ctypes.c_char_p
        library.capstan_method.restype = ctypes.c_char_p
        library.capstan_reason_text.restype = ctypes.c_char_p
        return library
    raise ImportError("capstan: libcapstanC.so was not found; set CAPSTAN_LIBRARY to its path. Tried:\n  "
                      + "\n  ".join(complaints))


class _Library:
    """The library, opened when it is first needed: MPI has to be there before it."""

    opened = None

    def __getattr__(self, name):
        if _Library.opened is None:
            _Library.opened = _open_library()
        return getattr(_Library.opened, name)


_library = _Library()


@dataclasses.dataclass
class Result:
    """How a solve went. It unpacks into x and info, as the solvers of scipy return them.

    history is an array of one row an iteration: its number, and the method's own residual over scale. residual is that of
    b - A x, computed at the end, over scale.
    """

    x: numpy.ndarray
    converged: bool
    reason: str
    iterations: int
    restarts: int
    residual: float
    scale: float
    operator_applications: int
    preconditioner_applications: int
    reductions: int
    solve_seconds: float
    setup_seconds: float
    method: str
    history: numpy.ndarray

    @property
    def info(self):
        """0: converged; else the iterations, or -1 where the method could not go on."""
        return 0 if self.converged else max(self.iterations, 1) if self.reason.startswith("max") else -1

    def __iter__(self):
        return iter((self.x, self.info))

    def plot(self, axes=None, **line):
        """Draws the history into axes (matplotlib's, new ones where there are none), and returns them."""
        if axes is None:
            from matplotlib import pyplot
            axes = pyplot.figure().add_subplot()
            axes.set_xlabel("iteration")
            axes.set_ylabel("residual")
        line.setdefault("label", self.method)
        axes.semilogy(self.history[:, 0], self.history[:, 1], **line)
        axes.legend()
        return axes


def _communicator(comm):
    from mpi4py import MPI
    return MPI.COMM_SELF if comm is None else comm


class Solver:
    """A solver that is kept for several systems of as many rows.

    method, tolerance, max_iterations and further keys are those of an entry of linear_solvers in a deck, such as
    preconditioner="muelu" or parameters={"Step Size": 8}. comm is a communicator of mpi4py; None: each process by itself.
    """

    def __init__(self, method="capstan_sstep_gmres", *, comm=None, **options):
        self._handle = ctypes.c_void_p()
        self._comm = _communicator(comm)
        self._kept, self._failure = {}, None
        text = json.dumps(dict(options, method=method))
        self._check(_library.capstan_create_f(ctypes.c_int(self._comm.py2f()), text.encode(), ctypes.byref(self._handle)))
        self._check(_library.capstan_keep_history(self._handle, 1))

    def __del__(self):
        self.close()

    def close(self):
        """Frees the solver; collective, and done by itself where the last reference goes."""
        if getattr(self, "_handle", None):
            _library.capstan_destroy(ctypes.byref(self._handle))

    @property
    def method(self):
        return _library.capstan_method(self._handle).decode()

    def _check(self, status):
        if status == 0:
            return
        failure, self._failure = self._failure, None
        text = (_library.capstan_error_text(self._handle) or b"").decode(errors="replace")
        error = (InputError if status == _INPUT else CapstanError)(status, text)
        if status == _CALLBACK and failure is not None:
            raise error from failure
        raise error

    def _callback(self, function, rows):
        """The function on arrays of a rank's rows, as C calls it. What it raises is raised again after the solve."""

        def apply(_, source, target):
            try:
                x = numpy.ctypeslib.as_array(source, (rows,)) if rows else numpy.empty(0)
                y = numpy.asarray(function(x), dtype=float).reshape(-1)
                if y.shape != (rows,):
                    raise ValueError(f"the function gave {y.size} numbers for {rows} rows")
                if rows:
                    numpy.ctypeslib.as_array(target, (rows,))[:] = y
                return 0
            except BaseException as error:  # pylint: disable=broad-except
                self._failure = error
                return 1

        return _APPLY(apply)

    def set_operator(self, A, rows=None):
        """A: a scipy.sparse matrix, a LinearOperator, or a function of an array; rows of the rank, for a function."""
        if hasattr(A, "tocsr"):
            self._set_matrix(A.tocsr())
            return
        matvec = A.matvec if hasattr(A, "matvec") else A
        if not callable(matvec):
            raise TypeError(f"A: found {type(A).__name__}; allowed: a scipy.sparse matrix, a LinearOperator or a function")
        if rows is None:
            if not hasattr(A, "shape"):
                raise TypeError("rows: missing; a function does not tell how many rows it has")
            rows = A.shape[0]
        self._kept = {"A": self._callback(matvec, rows)}
        self._rows = rows
        self._check(_library.capstan_set_operator(self._handle, ctypes.c_int64(rows), self._kept["A"], None))

    def _set_matrix(self, A):
        A.sum_duplicates()
        starts, columns = A.indptr.astype(numpy.int64), A.indices.astype(numpy.int64)
        values = numpy.ascontiguousarray(A.data, dtype=float)
        if numpy.iscomplexobj(A.data):
            raise TypeError("A: found complex numbers; allowed: real ones")
        matrix = _Csr(ctypes.sizeof(_Csr), A.shape[0], 64, starts.ctypes.data, columns.ctypes.data, values.ctypes.data)
        self._check(_library.capstan_set_matrix(self._handle, ctypes.byref(matrix)))
        self._kept, self._rows = {"A": values}, A.shape[0]

    def set_preconditioner(self, M):
        """M applies the inverse of a matrix like A: a LinearOperator, or a function, of this rank's rows; None: nothing."""
        if M is None:
            self._check(_library.capstan_set_preconditioner(self._handle, _APPLY(), None))
            self._kept.pop("M", None)
            return
        function = M.matvec if hasattr(M, "matvec") else (lambda r: M @ r) if hasattr(M, "tocsr") else M
        callback = self._callback(function, self._rows)
        self._check(_library.capstan_set_preconditioner(self._handle, callback, None))
        self._kept["M"] = callback

    def set_limits(self, tolerance, max_iterations, absolute_tolerance=0.0):
        self._check(_library.capstan_set_limits(self._handle, ctypes.c_double(tolerance), ctypes.c_double(absolute_tolerance),
                                                ctypes.c_int(max_iterations)))

    def solve(self, b, x0=None):
        """Solves A x = b from x0 (None: zeros); b is a vector of this rank's rows. Returns a Result."""
        b = numpy.ascontiguousarray(b, dtype=float).reshape(-1)
        x = numpy.zeros_like(b) if x0 is None else numpy.array(x0, dtype=float).reshape(-1)
        if hasattr(self, "_rows"):
            for name, vector in (("b", b), ("x0", x)):
                if vector.size != self._rows:
                    raise ValueError(f"{name}: found {vector.size} numbers; allowed: {self._rows}, the rows of A on this rank")
        outcome = _Outcome(size=ctypes.sizeof(_Outcome))
        self._check(_library.capstan_solve(self._handle, ctypes.c_void_p(b.ctypes.data), ctypes.c_void_p(x.ctypes.data),
                                           ctypes.byref(outcome)))
        return self._result(x, outcome)

    def _result(self, x, outcome):
        length = ctypes.c_int64(0)
        self._check(_library.capstan_history(self._handle, 0, None, None, ctypes.byref(length)))
        iterations, residuals = numpy.zeros(length.value, dtype=numpy.int32), numpy.zeros(length.value)
        self._check(_library.capstan_history(self._handle, 0, ctypes.c_void_p(iterations.ctypes.data),
                                             ctypes.c_void_p(residuals.ctypes.data), ctypes.byref(length)))
        reductions = outcome.reductions_blocking + outcome.reductions_nonblocking
        return Result(x=x, converged=bool(outcome.converged), reason=_library.capstan_reason_text(outcome.reason).decode(), iterations=outcome.iterations,
                      restarts=outcome.restarts, residual=outcome.residual, scale=outcome.scale,
                      operator_applications=outcome.operator_applications,
                      preconditioner_applications=outcome.preconditioner_applications, reductions=reductions,
                      solve_seconds=outcome.solve_seconds, setup_seconds=outcome.setup_seconds, method=self.method,
                      history=numpy.column_stack([iterations, residuals]))


def solve(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, restart=None, method="capstan_sstep_gmres", comm=None,
          parameters=None):
    """Solves A x = b until |b - A x| <= max(rtol |b|, atol), in 2-norms over all ranks.

    A, b, x0, rtol, atol, maxiter, M and restart are as scipy.sparse.linalg.gmres has them, but that maxiter counts
    iterations (ten times the rows where there is none); M may be the name of a preconditioner in a deck as well, such as
    "muelu", "riluk" or "jacobi", where A is a sparse matrix. method and parameters: as in a deck. Returns a Result.
    """
    comm = _communicator(comm)
    b = numpy.asarray(b, dtype=float)
    maxiter = 10 * comm.allreduce(b.size) if maxiter is None else int(maxiter)
    stop = {"Residual Scaling": "Norm of RHS", "Absolute Tolerance": float(atol)}
    options = {"parameters": dict(parameters or {}, **stop), "max_iterations": maxiter, "tolerance": float(rtol)}
    if restart is not None:
        options["kspace"] = int(restart)
    if isinstance(M, str):
        options["preconditioner"] = M
    solver = Solver(method, comm=comm, **options)
    solver.set_operator(A, rows=b.size if callable(A) else None)
    if M is not None and not isinstance(M, str):
        solver.set_preconditioner(M)
    result = solver.solve(b, x0)
    if not numpy.isfinite(result.residual):
        warnings.warn(f"capstan.solve: {result.reason}", RuntimeWarning, stacklevel=2)
    return result
