! Walls; the one at y = 1 moves along x. Faces across z are planes of symmetry.
subroutine cs_f_user_boundary_conditions(nvar, nscal, icodcl, itrifb, itypfb, izfppp, dt, rcodcl)
  use paramx
  use numvar
  use mesh
  implicit none
  integer :: nvar, nscal
  integer :: icodcl(nfabor, nvar), itrifb(nfabor), itypfb(nfabor), izfppp(nfabor)
  double precision :: dt(ncelet), rcodcl(nfabor, nvar, 3)
  integer :: face

  do face = 1, nfabor
    ! A layer of cells has symmetry below and above; a cube, which begins at z = 2, has walls.
    if (abs(surfbo(3, face)) > 0.9d0 * surfbn(face) .and. cdgfbo(3, face) < 1.5d0) then
      itypfb(face) = isymet
    else
      itypfb(face) = iparoi
      if (cdgfbo(2, face) > 1.d0 - 1.d-9) rcodcl(face, iu, 1) = 1.d0
    end if
  end do
end subroutine cs_f_user_boundary_conditions
