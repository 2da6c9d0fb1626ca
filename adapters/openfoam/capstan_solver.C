// SPDX-License-Identifier: GPL-3.0-or-later
#include "adapters/openfoam/capstan_solver.H"
#include "adapters/openfoam/field_system.H"
#include "adapters/openfoam/foam_compat.H"
#include "adapters/openfoam/trilinos_library.hpp"
#include "addToRunTimeSelectionTable.H"
#include "belos_ext/parameters/user_options_error.hpp"

namespace Foam {

defineTypeNameAndDebug(capstanSolver, 0);
lduMatrix::solver::addsymMatrixConstructorToTable<capstanSolver> addCapstanSolverSymMatrixConstructorToTable_;
lduMatrix::solver::addasymMatrixConstructorToTable<capstanSolver> addCapstanSolverAsymMatrixConstructorToTable_;

capstanSolver::capstanSolver(const word& fieldName, const lduMatrix& matrix,
                             const FieldField<Field, scalar>& interfaceBouCoeffs,
                             const FieldField<Field, scalar>& interfaceIntCoeffs,
                             const lduInterfaceFieldPtrsList& interfaces, const dictionary& solverControls)
    : lduMatrix::solver(fieldName, matrix, interfaceBouCoeffs, interfaceIntCoeffs, interfaces, solverControls) {}

// What no entry of fvSolution is to blame for.
static void reportOutside(const word& fieldName, const std::exception& error) {
  FatalErrorInFunction << "solver capstan, field " << fieldName << ": " << error.what() << exit(FatalError);
}

solverPerformance capstanSolver::solve(scalarField& psi, const scalarField& source, const direction component) const {
  const capstan::foam::Limits limits{tolerance_, relTol_, minIter_, maxIter_,
                                     capstan::foam::scalesResiduals(controlDict_)};
  try {
    return capstan::foam::solveField(*this, {matrix_, interfaceBouCoeffs_, interfaces_}, component, controlDict_,
                                     limits, psi, source);
  } catch (const Foam::error&) {
    throw;
  } catch (const capstan::UserOptionsError& error) {
    reportOutside(fieldName_, error);
  } catch (const capstan::foam::LibraryError& error) {
    reportOutside(fieldName_, error);
  } catch (const std::exception& error) {
    FatalIOErrorInFunction(controlDict_) << "solver capstan, field " << fieldName_ << ": " << error.what()
                                         << exit(FatalIOError);
  }
  return solverPerformance();
}

}  // namespace Foam
