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
_TEST = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_double), ctypes.c_int)


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
    above = pathlib.Path(__file__).resolve().parents
    beside = [path for prefix in above[4:5] for names in ("lib*/libcapstanC.so", "lib*/*/libcapstanC.so") for path in prefix.glob(names)]
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
    if comm is None:
        return MPI.COMM_SELF
    if not isinstance(comm, MPI.Comm):
        raise TypeError(f"comm: found {type(comm).__name__}; allowed: a communicator of mpi4py")
    if comm == MPI.COMM_NULL or comm.Is_inter():
        raise ValueError("comm: found none, one that was freed, or one between groups")
    return comm


def _together(comm, check):
    """What check() returns, unless it raises on any rank: then all ranks raise, and none waits for another one."""
    value, failure = None, None
    try:
        value = check()
    except Exception as error:  # pylint: disable=broad-except
        failure = error
    if not comm.allreduce(failure is not None, op=max):
        return value
    try:
        raise failure or ValueError("another rank has found something wrong")
    finally:
        failure = None  # its traceback holds this frame


def _alike(comm, name, kind, rows=0, columns=None):
    """Raises on all ranks where they were given different kinds: each takes other calls, in which ranks would wait for ever.
    Likewise where columns, None on a rank that tells none, are not the rows of all ranks."""
    told = frozenset([] if columns is None else [columns])
    kinds, rows, told = comm.allreduce((frozenset([kind]), rows, told), op=lambda a, b: (a[0] | b[0], a[1] + b[1], a[2] | b[2]))
    if len(kinds) > 1:
        raise TypeError(f"{name}: found {', '.join(sorted(kinds))} on the ranks; allowed: one of them on all")
    if told and told != {rows}:
        raise ValueError(f"{name}: found {' and '.join(map(str, sorted(told)))} columns; allowed: {rows}, the rows of all ranks together")


def _csr(matrix):
    """A scipy.sparse matrix by rows in double precision, each entry once; that of the user stays as it is."""
    _real("A", getattr(matrix, "data", None) if matrix.dtype == object else numpy.empty(0, matrix.dtype))
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    # Before duplicates are summed, by tocsr() and astype() as well: a small integer type may not hold their sum.
    if matrix.dtype != float and matrix.format in ("csr", "csc", "bsr"):
        matrix = type(matrix)((matrix.data.astype(float), matrix.indices, matrix.indptr), shape=matrix.shape)
    elif matrix.dtype != float and matrix.format == "coo":
        matrix = type(matrix)((matrix.data.astype(float), (matrix.row, matrix.col)), shape=matrix.shape)
    found = matrix.tocsr().astype(float, copy=False)
    if not found.has_canonical_format:
        found = found.copy()
        found.sum_duplicates()
    return found


def _real(name, values):
    """An array of double precision; what would lose numbers, or was none, is refused."""
    found = numpy.asarray(values)
    if found.dtype.kind not in "fiub" and not (found.dtype == object and all(isinstance(each, (int, float)) for each in found.flat)):
        kind = "complex numbers" if found.dtype.kind == "c" else type(values).__name__ + " of " + str(found.dtype)
        raise TypeError(f"{name}: found {kind}; allowed: real numbers")
    return found.astype(float)


def _vector(name, values, rows=None):
    found = _real(name, values)
    if found.ndim != 1 and found.shape != (found.size, 1):
        raise ValueError(f"{name}: found the shape {found.shape}; allowed: a vector")
    if rows is not None and found.size != rows:
        raise ValueError(f"{name}: found {found.size} numbers; allowed: {rows}, the rows of A on this rank")
    return found.reshape(-1)


def _whole(name, value, least=0):
    if isinstance(value, bool) or not hasattr(value, "__index__") or not least <= value.__index__() < 2**31:
        raise ValueError(f"{name}: found {value!r}; allowed: a whole number from {least} on")
    return value.__index__()


def _positive(name, value):
    if isinstance(value, bool) or not hasattr(value, "__float__") or not 0 <= float(value) < float("inf"):
        raise ValueError(f"{name}: found {value!r}; allowed: a number from 0 on")
    return float(value)


class Solver:
    """A solver that is kept for several systems of as many rows.

    method, tolerance, max_iterations and further keys are those of an entry of linear_solvers in a deck, such as
    preconditioner="muelu" or parameters={"Step Size": 8}. comm is a communicator of mpi4py; None: each process by itself.
    """

    def __init__(self, method="capstan_sstep_gmres", *, comm=None, **options):
        self._handle = ctypes.c_void_p()
        self._comm = _communicator(comm)
        self._kept, self._kept_test = {}, None
        # What a function has raised. Functions hold this, and not the solver: its end is collective, and comes with the last
        # reference on all ranks, not when a garbage collector finds a circle.
        self._raised = []
        self._rows, self._zero_guess = None, False
        text = _together(self._comm, lambda: json.dumps(dict(options, method=method)))
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
        cause = self._take_failure() if status == _CALLBACK else None
        text = (_library.capstan_error_text(self._handle) or b"").decode(errors="replace")
        try:
            if cause is not None and not isinstance(cause, Exception):
                raise cause  # such as KeyboardInterrupt
            raise (InputError if status == _INPUT else CapstanError)(status, text) from cause
        finally:
            cause = None

    def _take_failure(self):
        failure = self._raised[0] if self._raised else None
        self._raised.clear()
        return failure

    def _callback(self, function, rows):
        """The function on arrays of a rank's rows, as C calls it. What it raises is raised again after the solve."""
        raised = self._raised

        def apply(_, source, target):
            try:
                # A copy: the function may keep it, or write to it.
                x = numpy.ctypeslib.as_array(source, (rows,)).copy() if rows else numpy.empty(0)
                y = _vector("what a function gave", function(x))
                if y.size != rows:
                    raise ValueError(f"the function gave {y.size} numbers for {rows} rows")
                if rows:
                    numpy.ctypeslib.as_array(target, (rows,))[:] = y
                return 0
            except BaseException as error:  # pylint: disable=broad-except
                if not raised:
                    raised.append(error)
                return 1

        return _APPLY(apply)

    def set_operator(self, A, rows=None):
        """A: a scipy.sparse matrix, an array, a LinearOperator, or a function of an array; rows of the rank, for a function."""
        matrix, function, rows, columns = _together(self._comm, lambda: self._parts(A, rows))
        _alike(self._comm, "A", "a function" if matrix is None else "entries", rows, columns)
        if matrix is not None:
            self._set_matrix(matrix)
            return
        callback = self._callback(function, rows)
        self._check(_library.capstan_set_operator(self._handle, ctypes.c_int64(rows), callback, None))
        self._kept, self._rows = {"A": callback}, rows

    @staticmethod
    def _parts(A, rows):
        """(entries, None, rows, columns) or (None, function, rows, None) of A. Entries: starts of rows, columns, values. columns is
        that of the whole matrix, None where there are no rows."""
        if hasattr(A, "tocsr"):
            A = _csr(A)
            entries = A.indptr.astype(numpy.int64), A.indices.astype(numpy.int64), A.data.astype(float)
            return entries, None, A.shape[0], A.shape[1] if A.shape[0] else None
        if isinstance(A, (numpy.ndarray, list)):
            values = _real("A", A)
            if values.ndim != 2:
                raise ValueError(f"A: found the shape {values.shape}; allowed: two dimensions")
            row, column = numpy.nonzero(values)
            starts = numpy.searchsorted(row, numpy.arange(values.shape[0] + 1))
            entries = starts.astype(numpy.int64), column.astype(numpy.int64), values[row, column]
            return entries, None, values.shape[0], values.shape[1] if values.shape[0] else None
        function = A.matvec if hasattr(A, "matvec") else A
        if not callable(function) or isinstance(A, type):
            raise TypeError(f"A: found {type(A).__name__}; allowed: a scipy.sparse matrix, an array, a LinearOperator or a function")
        shape = getattr(A, "shape", None)
        if shape is not None and (len(shape) != 2 or shape[0] != shape[1]):
            raise ValueError(f"A: found the shape {shape}; allowed: as many columns as rows")
        if rows is None and shape is None:
            raise TypeError("rows: missing; a function does not tell how many rows it has")
        return None, function, _whole("rows", shape[0] if shape is not None else rows), None

    def _set_matrix(self, entries):
        starts, columns, values = entries
        rows = starts.size - 1
        matrix = _Csr(ctypes.sizeof(_Csr), rows, 64, starts.ctypes.data, columns.ctypes.data, values.ctypes.data)
        self._check(_library.capstan_set_matrix(self._handle, ctypes.byref(matrix)))
        self._kept, self._rows = {"A": values}, rows

    def set_preconditioner(self, M):
        """M applies the inverse of a matrix like A: a LinearOperator, a matrix, or a function, of this rank's rows; None: nothing."""
        function = _together(self._comm, lambda: None if M is None else self._function_of(M))
        _alike(self._comm, "M", "nothing" if M is None else "a function")
        callback = _APPLY() if M is None else self._callback(function, self._rows or 0)
        self._check(_library.capstan_set_preconditioner(self._handle, callback, None))
        self._kept["M"] = callback

    def _function_of(self, M):
        shape = getattr(M, "shape", None)
        if shape is not None and shape != (self._rows, self._rows):
            raise ValueError(f"M: found the shape {shape}; allowed: {self._rows} rows and columns, as A has on this rank")
        if hasattr(M, "matvec"):
            return M.matvec
        if hasattr(M, "tocsr") or isinstance(M, numpy.ndarray):
            return lambda r: M @ r
        if not callable(M) or isinstance(M, type):
            raise TypeError(f"M: found {type(M).__name__}; allowed: a matrix, a LinearOperator, a function or a name")
        return M

    def set_callback(self, function):
        """Has function(norm) called after each iteration of later solves, with the method's own residual norm, not scaled; None:
        nothing, also where other ranks have a function. It costs an all-reduce an iteration: what it raises on a rank ends the
        solve on all, and is raised again."""
        def is_given():
            if function is not None and not callable(function):
                raise TypeError(f"callback: found {type(function).__name__}; allowed: a function")
            return function is not None

        comm, raised = self._comm, self._raised
        given = _together(comm, is_given)

        def test(_, iteration, residuals, __):
            if given and iteration > 0 and not raised:
                try:
                    function(residuals[0])
                except BaseException as error:  # pylint: disable=broad-except
                    raised.append(error)
            return int(comm.allreduce(bool(raised), op=max))

        callback = _TEST(test) if comm.allreduce(given, op=max) else _TEST()
        self._check(_library.capstan_set_test(self._handle, callback, None))
        self._kept_test = callback

    def set_limits(self, tolerance, max_iterations, absolute_tolerance=0.0):
        limits = _together(self._comm, lambda: (ctypes.c_double(_positive("tolerance", tolerance)),
                                                ctypes.c_double(_positive("absolute_tolerance", absolute_tolerance)),
                                                ctypes.c_int(_whole("max_iterations", max_iterations))))
        self._check(_library.capstan_set_limits(self._handle, *limits))

    def solve(self, b, x0=None):
        """Solves A x = b from x0 (None: zeros); b is a vector of this rank's rows. Returns a Result."""
        b, x = _together(self._comm, lambda: self._vectors(b, x0))
        zero = bool(self._comm.allreduce(x0 is None, op=min))
        if self._zero_guess != zero:
            self._check(_library.capstan_set_zero_guess(self._handle, ctypes.c_int(zero)))
            self._zero_guess = zero
        outcome = _Outcome(size=ctypes.sizeof(_Outcome))
        self._raised.clear()
        self._check(_library.capstan_solve(self._handle, ctypes.c_void_p(b.ctypes.data), ctypes.c_void_p(x.ctypes.data),
                                           ctypes.byref(outcome)))
        self._share_failure()
        return self._result(x, outcome)

    def _share_failure(self):
        """What a function has raised on a rank in a solve that has an outcome all the same ends it on all ranks."""
        if not any(isinstance(each, (_APPLY, _TEST)) and each for each in (*self._kept.values(), self._kept_test)):
            return
        failure = self._take_failure()
        if self._comm.allreduce(failure is not None, op=max):
            try:
                raise failure or CapstanError(_CALLBACK, "a function or the callback of another rank has failed")
            finally:
                failure = None

    def _vectors(self, b, x0):
        b = _vector("b", b, self._rows)
        return b, numpy.zeros_like(b) if x0 is None else _vector("x0", x0, b.size)

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


def solve(A, b, x0=None, *, rtol=1e-5, atol=0.0, restart=None, maxiter=None, M=None, callback=None, callback_type=None,
          method="capstan_sstep_gmres", comm=None, parameters=None):
    """Solves A x = b until |b - A x| <= max(rtol |b|, atol), in 2-norms over all ranks.

    A, b, x0, rtol, atol, restart, maxiter, M and callback are as scipy.sparse.linalg.gmres has them, but that maxiter counts
    iterations (ten times the rows where there is none), and that callback(norm) is called with residual norms over that of b
    (callback_type "pr_norm"; "x" is refused: the methods have no x before the end). M may be the name of a preconditioner
    in a deck as well, such as "muelu", "riluk" or "jacobi", where A has entries. method and parameters: as in a deck.
    Returns a Result.
    """
    comm = _communicator(comm)

    def options_of():
        if callback_type not in (None, "legacy", "pr_norm"):
            raise ValueError(f"callback_type: found {callback_type!r}; allowed: 'pr_norm'")
        if not isinstance(method, str):
            raise TypeError(f"method: found {type(method).__name__}; allowed: the name of a method")
        vector = _vector("b", b)
        for key in parameters or {}:
            plain = " ".join(str(key).lower().replace("_", " ").replace("-", " ").split())
            if plain in ("absolute tolerance", "residual scaling"):
                raise ValueError(f"parameters: found '{key}'; allowed in its place: the arguments atol, and rtol, which scales by b")
        stop = {"Residual Scaling": "Norm of RHS", "Absolute Tolerance": _positive("atol", atol)}
        options = {"parameters": dict(parameters or {}, **stop), "tolerance": _positive("rtol", rtol),
                   **({} if restart is None else {"kspace": _whole("restart", restart, 1)}),
                   **({"preconditioner": M} if isinstance(M, str) else {}),
                   **({} if maxiter is None else {"max_iterations": _whole("maxiter", maxiter)})}
        return vector, None if x0 is None else _vector("x0", x0, vector.size), options

    vector, guess, options = _together(comm, options_of)
    _alike(comm, "M", "None" if M is None else "a name" if isinstance(M, str) else "a matrix or function")
    # Of all ranks: rows, how many have a callback, how many have a part of b that is not zero, and (b, b).
    rows, callbacks, parts, square = comm.allreduce(numpy.array([vector.size, callback is not None, vector.any(), vector @ vector], float))
    options.setdefault("max_iterations", int(min(10 * rows, 2**31 - 1)))
    solver = Solver(method, comm=comm, **options)
    try:
        solver.set_operator(A, rows=vector.size if callable(A) else None)
        if M is not None and not isinstance(M, str):
            solver.set_preconditioner(M)
        if callbacks:
            scale = numpy.sqrt(square) or 1.0
            solver.set_callback((lambda norm: callback(norm / scale)) if callable(callback) else callback)
        # For b = 0 there is no relative tolerance: x is 0, as scipy has it.
        result = solver.solve(vector, guess if parts else None)
    finally:
        solver.close()  # also where its reference stays in a traceback
    if not numpy.isfinite(result.residual):
        warnings.warn(f"capstan.solve: {result.reason}", RuntimeWarning, stacklevel=2)
    return result
