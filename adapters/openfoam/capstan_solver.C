// SPDX-License-Identifier: GPL-3.0-or-later
#include "adapters/openfoam/capstan_solver.H"
#include "adapters/openfoam/field_solve.H"
#include "adapters/openfoam/foam_compat.H"
#include "addToRunTimeSelectionTable.H"

namespace Foam {

defineTypeNameAndDebug(capstanSolver, 0);
lduMatrix::solver::addsymMatrixConstructorToTable<capstanSolver> addCapstanSolverSymMatrixConstructorToTable_;
lduMatrix::solver::addasymMatrixConstructorToTable<capstanSolver> addCapstanSolverAsymMatrixConstructorToTable_;

capstanSolver::capstanSolver(const word& fieldName, const lduMatrix& matrix,
                             const FieldField<Field, scalar>& interfaceBouCoeffs,
                             const FieldField<Field, scalar>& interfaceIntCoeffs,
                             const lduInterfaceFieldPtrsList& interfaces, const dictionary& solverControls)
    : lduMatrix::solver(fieldName, matrix, interfaceBouCoeffs, interfaceIntCoeffs, interfaces, solverControls) {}

solverPerformance capstanSolver::solve(scalarField& psi, const scalarField& source, const direction component) const {
  const capstan::foam::Limits limits{tolerance_, relTol_, minIter_, maxIter_,
                                     capstan::foam::scalesResiduals(controlDict_)};
  try {
    capstan::foam::FieldSolve solve(*this, {matrix_, interfaceBouCoeffs_, interfaces_}, component, controlDict_,
                                    limits);
    return solve.run(psi, source);
  } catch (const Foam::error&) {
    throw;
  } catch (const std::exception& error) {
    FatalIOErrorInFunction(controlDict_) << "solver capstan, field " << fieldName_ << ": " << error.what()
                                         << exit(FatalIOError);
  }
  return solverPerformance();
}

}  // namespace Foam
