!> A program in Fortran that solves what client.c solves.
module line_matrix
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  integer, parameter :: rows = 60
  real(c_double), parameter :: diagonal = 2.01_c_double
  integer :: rank = 0, ranks = 1, ierr = 0
contains
  function multiply(context, x_pointer, y_pointer) bind(c) result(failure)
    type(c_ptr), value :: context, x_pointer, y_pointer
    integer(c_int) :: failure
    real(c_double), pointer :: x(:), y(:)
    real(c_double) :: before, after
    integer :: down, up
    if (c_associated(context)) continue
    call c_f_pointer(x_pointer, x, [rows])
    call c_f_pointer(y_pointer, y, [rows])
    before = 0
    after = 0
    down = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    up = merge(rank + 1, MPI_PROC_NULL, rank + 1 < ranks)
    call MPI_Sendrecv(x(1), 1, MPI_DOUBLE_PRECISION, down, 1, after, 1, MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(x(rows), 1, MPI_DOUBLE_PRECISION, up, 2, before, 1, MPI_DOUBLE_PRECISION, down, 2, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierr)
    y = diagonal * x
    y(2:) = y(2:) - x(:rows - 1)
    y(:rows - 1) = y(:rows - 1) - x(2:)
    y(1) = y(1) - before
    y(rows) = y(rows) - after
    failure = 0
  end function multiply
end module line_matrix

program client
  use capstan
  use line_matrix
  implicit none
  integer(c_int32_t), target :: starts(rows + 1), columns(3 * rows)
  real(c_double), target :: values(3 * rows)
  type(capstan_csr) :: matrix
  type(c_ptr) :: solver
  integer(c_int) :: status
  character(len=*), parameter :: limits = ", tolerance: 1e-8, max_iterations: 300"

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call fill()
  matrix%rows = rows
  matrix%index_bits = 32
  matrix%row_start = c_loc(starts)
  matrix%columns = c_loc(columns)
  matrix%values = c_loc(values)

  call make("{method: capstan_cg" // limits // "}")
  call expect(capstan_set_matrix(solver, matrix))
  call solve("entries")
  call make("{method: capstan_sstep_gmres" // limits // ", preconditioner: jacobi}")
  call expect(capstan_set_matrix(solver, matrix))
  call solve("entries")
  call make("{method: capstan_cg" // limits // "}")
  call expect(capstan_set_operator(solver, int(rows, c_int64_t), c_funloc(multiply), c_null_ptr))
  call solve("a function")

  status = capstan_create(MPI_COMM_WORLD, "method: capstan_gc" // c_null_char, solver)
  if (status /= capstan_error_input .or. index(capstan_error_text(c_null_ptr), "capstan_cg") == 0) error stop "no error"
  call MPI_Finalize(ierr)

contains

  subroutine make(text)
    character(len=*), intent(in) :: text
    call expect(capstan_create(MPI_COMM_WORLD, text // c_null_char, solver))
  end subroutine make

  subroutine expect(found)
    integer(c_int), intent(in) :: found
    if (found == capstan_success) return
    print '(a)', capstan_error_text(solver)
    error stop 1
  end subroutine expect

  subroutine fill()
    integer :: i, row, column, entries
    entries = 0
    starts(1) = 0
    do i = 1, rows
      row = rows * rank + i - 1
      do column = max(row - 1, 0), min(row + 1, rows * ranks - 1)
        entries = entries + 1
        columns(entries) = column
        values(entries) = merge(diagonal, -1.0_c_double, column == row)
      end do
      starts(i + 1) = entries
    end do
  end subroutine fill

  subroutine solve(how)
    character(len=*), intent(in) :: how
    type(capstan_outcome) :: outcome
    real(c_double) :: b(rows), x(rows)
    integer :: i
    if (outcome%size /= c_sizeof(outcome) .or. matrix%size /= c_sizeof(matrix)) error stop "sizes"
    b = [(sin(1e3_c_double * (rows * rank + i)), i=1, rows)]
    x = 0
    call expect(capstan_solve(solver, b, x, outcome))
    if (rank == 0) then
      print '(5a, i0, a)', capstan_method(solver), ", ", how, ": ", capstan_reason_text(outcome%reason) // " after ", &
        outcome%iterations, " iterations"
    end if
    call capstan_destroy(solver)
  end subroutine solve

end program client
