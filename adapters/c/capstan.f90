!> Capstan's methods for programs in Fortran: the functions of capstan.h, which says what they do.
!>
!> Compile this file with the program, and link libcapstanC. Communicators are those of MPI's Fortran interface (of mpi_f08:
!> comm%mpi_val). Texts end with c_null_char: trim(text) // c_null_char.
module capstan
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), parameter :: capstan_success = 0, capstan_error_argument = 1, capstan_error_input = 2, &
    capstan_error_order = 3, capstan_error_mpi = 4, capstan_error_callback = 5, capstan_error_preconditioner = 6, &
    capstan_error_memory = 7, capstan_error_lone = 8, capstan_error_internal = 9

  integer(c_int), parameter :: capstan_not_started = 0, capstan_converged = 1, capstan_max_iterations = 2, &
    capstan_max_restarts = 3, capstan_stagnation = 4, capstan_attainable_accuracy = 5, capstan_inconsistent = 6, &
    capstan_breakdown = 7, capstan_non_finite = 8, capstan_user_test = 9

  !> How a solve went. size is set when the variable is made.
  type, bind(c) :: capstan_outcome
    integer(c_size_t) :: size = 104
    integer(c_int) :: converged = 0
    integer(c_int) :: reason = 0
    integer(c_int) :: iterations = 0
    integer(c_int) :: restarts = 0
    real(c_double) :: residual = 0
    real(c_double) :: residual_estimate = 0
    real(c_double) :: scale = 0
    integer(c_int64_t) :: operator_applications = 0, preconditioner_applications = 0
    integer(c_int64_t) :: reductions_blocking = 0, reductions_nonblocking = 0
    integer(c_int64_t) :: preconditioner_builds = 0
    real(c_double) :: solve_seconds = 0, setup_seconds = 0
  end type capstan_outcome

  !> Rows of this rank. The arrays begin at 0 in their numbers: columns, and row_start(1) = 0.
  type, bind(c) :: capstan_csr
    integer(c_size_t) :: size = 48
    integer(c_int64_t) :: rows = 0
    integer(c_int) :: index_bits = 64
    type(c_ptr) :: row_start = c_null_ptr, columns = c_null_ptr, values = c_null_ptr
  end type capstan_csr

  abstract interface
    !> y = A x or z = M^-1 r for the rows of this rank; the result is 0, or another number for a failure.
    function capstan_apply(context, x, y) bind(c) result(failure)
      import :: c_ptr, c_int
      type(c_ptr), value :: context, x, y
      integer(c_int) :: failure
    end function capstan_apply
    !> This rank's part of a norm: 0, or another number for a failure.
    function capstan_norm(context, r, part) bind(c) result(failure)
      import :: c_ptr, c_int, c_double
      type(c_ptr), value :: context, r
      real(c_double), intent(out) :: part
      integer(c_int) :: failure
    end function capstan_norm
    !> After an iteration: 0, or another number to end the solve. residuals: norms of the columns, from the method.
    function capstan_test(context, iteration, residuals, columns) bind(c) result(ends)
      import :: c_ptr, c_int, c_double
      type(c_ptr), value :: context
      integer(c_int), value :: iteration, columns
      real(c_double), intent(in) :: residuals(*)
      integer(c_int) :: ends
    end function capstan_test
  end interface

  interface
    function capstan_version() bind(c) result(version)
      import :: c_int
      integer(c_int) :: version
    end function capstan_version
    function capstan_create(comm, text, solver) bind(c, name="capstan_create_f") result(status)
      import :: c_int, c_char, c_ptr
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: text(*)
      type(c_ptr), intent(out) :: solver
      integer(c_int) :: status
    end function capstan_create
    subroutine capstan_destroy(solver) bind(c)
      import :: c_ptr
      type(c_ptr), intent(inout) :: solver
    end subroutine capstan_destroy
    function capstan_set_operator(solver, rows, apply, context) bind(c) result(status)
      import :: c_int, c_int64_t, c_ptr, c_funptr
      type(c_ptr), value :: solver, context
      integer(c_int64_t), value :: rows
      type(c_funptr), value :: apply
      integer(c_int) :: status
    end function capstan_set_operator
    function capstan_set_matrix(solver, matrix) bind(c) result(status)
      import :: c_int, c_ptr, capstan_csr
      type(c_ptr), value :: solver
      type(capstan_csr), intent(in) :: matrix
      integer(c_int) :: status
    end function capstan_set_matrix
    function capstan_matrix_changed(solver) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver
      integer(c_int) :: status
    end function capstan_matrix_changed
    function capstan_set_symmetric(solver, symmetric) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver
      integer(c_int), value :: symmetric
      integer(c_int) :: status
    end function capstan_set_symmetric
    function capstan_set_diagonal(solver, diagonal) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver
      integer(c_int), value :: diagonal
      integer(c_int) :: status
    end function capstan_set_diagonal
    function capstan_set_zero_guess(solver, zero) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver
      integer(c_int), value :: zero
      integer(c_int) :: status
    end function capstan_set_zero_guess
    function capstan_set_preconditioner(solver, apply, context) bind(c) result(status)
      import :: c_int, c_ptr, c_funptr
      type(c_ptr), value :: solver, context
      type(c_funptr), value :: apply
      integer(c_int) :: status
    end function capstan_set_preconditioner
    function capstan_set_limits(solver, tolerance, absolute_tolerance, max_iterations) bind(c) result(status)
      import :: c_int, c_ptr, c_double
      type(c_ptr), value :: solver
      real(c_double), value :: tolerance, absolute_tolerance
      integer(c_int), value :: max_iterations
      integer(c_int) :: status
    end function capstan_set_limits
    function capstan_set_test(solver, test, context) bind(c) result(status)
      import :: c_int, c_ptr, c_funptr
      type(c_ptr), value :: solver, context
      type(c_funptr), value :: test
      integer(c_int) :: status
    end function capstan_set_test
    function capstan_set_norm(solver, norm, power, context) bind(c) result(status)
      import :: c_int, c_ptr, c_funptr
      type(c_ptr), value :: solver, context
      type(c_funptr), value :: norm
      integer(c_int), value :: power
      integer(c_int) :: status
    end function capstan_set_norm
    function capstan_keep_history(solver, keep) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver
      integer(c_int), value :: keep
      integer(c_int) :: status
    end function capstan_keep_history
    function capstan_solve(solver, b, x, outcome) bind(c) result(status)
      import :: c_int, c_ptr, c_double, capstan_outcome
      type(c_ptr), value :: solver
      real(c_double), intent(in) :: b(*)
      real(c_double), intent(inout) :: x(*)
      type(capstan_outcome), intent(inout) :: outcome
      integer(c_int) :: status
    end function capstan_solve
    function capstan_solve_columns(solver, columns, b, ldb, x, ldx, outcome) bind(c) result(status)
      import :: c_int, c_int64_t, c_ptr, c_double, capstan_outcome
      type(c_ptr), value :: solver
      integer(c_int), value :: columns
      real(c_double), intent(in) :: b(*)
      real(c_double), intent(inout) :: x(*)
      integer(c_int64_t), value :: ldb, ldx
      type(capstan_outcome), intent(inout) :: outcome
      integer(c_int) :: status
    end function capstan_solve_columns
    function capstan_column_outcome(solver, column, outcome) bind(c) result(status)
      import :: c_int, c_ptr, capstan_outcome
      type(c_ptr), value :: solver
      integer(c_int), value :: column
      type(capstan_outcome), intent(inout) :: outcome
      integer(c_int) :: status
    end function capstan_column_outcome
    function capstan_history(solver, column, iterations, residuals, length) bind(c) result(status)
      import :: c_int, c_int64_t, c_ptr, c_double
      type(c_ptr), value :: solver
      integer(c_int), value :: column
      integer(c_int), intent(inout) :: iterations(*)
      real(c_double), intent(inout) :: residuals(*)
      integer(c_int64_t), intent(inout) :: length
      integer(c_int) :: status
    end function capstan_history
    function capstan_error_pointer(solver) bind(c, name="capstan_error_text") result(text)
      import :: c_ptr
      type(c_ptr), value :: solver
      type(c_ptr) :: text
    end function capstan_error_pointer
    function capstan_reason_pointer(reason) bind(c, name="capstan_reason_text") result(text)
      import :: c_int, c_ptr
      integer(c_int), value :: reason
      type(c_ptr) :: text
    end function capstan_reason_pointer
    function capstan_method_pointer(solver) bind(c, name="capstan_method") result(text)
      import :: c_ptr
      type(c_ptr), value :: solver
      type(c_ptr) :: text
    end function capstan_method_pointer
    function string_length(text) bind(c, name="strlen") result(length)
      import :: c_size_t, c_ptr
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function string_length
    function create_from_file(comm, file, name, solver) bind(c, name="capstan_create_from_file_f") result(status)
      import :: c_int, c_char, c_ptr
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: file(*), name(*)
      type(c_ptr), intent(out) :: solver
      integer(c_int) :: status
    end function create_from_file
  end interface
  private :: string_length, capstan_error_pointer, capstan_reason_pointer, capstan_method_pointer, create_from_file

contains

  !> From a file that rank 0 reads; name: of the solver in a deck, empty: the only one.
  function capstan_create_from_file(comm, file, name, solver) result(status)
    integer(c_int), intent(in) :: comm
    character(len=*), intent(in) :: file, name
    type(c_ptr), intent(out) :: solver
    integer(c_int) :: status
    status = create_from_file(comm, trim(file) // c_null_char, trim(name) // c_null_char, solver)
  end function capstan_create_from_file

  function capstan_error_text(solver) result(text)
    type(c_ptr), intent(in) :: solver
    character(len=:), allocatable :: text
    text = text_of(capstan_error_pointer(solver))
  end function capstan_error_text

  function capstan_reason_text(reason) result(text)
    integer(c_int), intent(in) :: reason
    character(len=:), allocatable :: text
    text = text_of(capstan_reason_pointer(reason))
  end function capstan_reason_text

  function capstan_method(solver) result(text)
    type(c_ptr), intent(in) :: solver
    character(len=:), allocatable :: text
    text = text_of(capstan_method_pointer(solver))
  end function capstan_method

  function text_of(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(pointer, letters, [string_length(pointer)])
    allocate (character(len=size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function text_of

end module capstan
