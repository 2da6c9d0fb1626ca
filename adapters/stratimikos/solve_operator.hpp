#pragma once

/// \file
/// The operator with solves that the linear solver type "Capstan" makes.

#include <BelosSolverManager.hpp>
#include <Thyra_LinearOpSourceBase.hpp>
#include <Thyra_LinearOpWithSolveBase.hpp>
#include <Thyra_PreconditionerBase.hpp>
#include <string>

#include "adapters/stratimikos/solver_list.hpp"
#include "adapters/stratimikos/thyra_operators.hpp"

namespace capstan::stratimikos {

/// What an operator with solves is made of.
struct SolveParts {
  Teuchos::RCP<const Thyra::LinearOpSourceBase<double>> forward;
  Teuchos::RCP<const Thyra::LinearOpSourceBase<double>> approximate;  ///< what the preconditioner is made of; or null
  Teuchos::RCP<const Thyra::PreconditionerBase<double>> preconditioner;
  Teuchos::RCP<Thyra::PreconditionerBase<double>> ownPreconditioner;  ///< the same, where the factory has made it
  Thyra::ESupportSolveUse use = Thyra::SUPPORT_SOLVE_UNSPECIFIED;
  SolverChoice choice;
};

/// Solves with one of Capstan's methods. Functions of the base class keep their contracts: solves are collective, and
/// every outcome of the numerics is a status, the same on all ranks; std::invalid_argument is for misuse alone.
class SolveOperator final : public Thyra::LinearOpWithSolveBase<double> {
 public:
  /// Takes the parts. Local. Throws std::invalid_argument where one is not on Tpetra's vectors, and as the solver does
  /// for its parameters; the operator then is as it was.
  void initialize(const SolveParts& parts);

  /// Gives the parts away, but for a preconditioner of its own, which can be used again.
  SolveParts uninitialize();

  /// The factory's, of the last initialize(), or null.
  const Teuchos::RCP<Thyra::PreconditionerBase<double>>& ownPreconditioner() const { return parts_.ownPreconditioner; }

  Teuchos::RCP<const VectorSpace> range() const override;
  Teuchos::RCP<const VectorSpace> domain() const override;
  std::string description() const override;

 private:
  using Manager = Belos::SolverManager<double, Types::MultiVector, Types::Operator>;

  bool opSupportedImpl(Thyra::EOpTransp transposed) const override;
  void applyImpl(Thyra::EOpTransp transposed, const MultiVector& x, const Teuchos::Ptr<MultiVector>& y, double alpha,
                 double beta) const override;
  bool solveSupportsImpl(Thyra::EOpTransp transposed) const override;
  bool solveSupportsNewImpl(Thyra::EOpTransp transposed,
                            const Teuchos::Ptr<const Thyra::SolveCriteria<double>> criteria) const override;
  bool solveSupportsSolveMeasureTypeImpl(Thyra::EOpTransp transposed,
                                         const Thyra::SolveMeasureType& type) const override;
  Thyra::SolveStatus<double> solveImpl(Thyra::EOpTransp transposed, const MultiVector& b,
                                       const Teuchos::Ptr<MultiVector>& x,
                                       const Teuchos::Ptr<const Thyra::SolveCriteria<double>> criteria) const override;

  /// Makes the solver anew where its parameters differ from those of the last solve: it merges, and so would keep what
  /// one solve's criteria have set.
  void prepareManager(const Thyra::SolveCriteria<double>* criteria) const;
  Thyra::SolveStatus<double> statusOf(bool converged) const;

  SolveParts parts_;
  Teuchos::RCP<const Types::Operator> matrix_, left_, right_;
  bool changedByLeft_ = false;  ///< of parametersOf(criteria)
  mutable Teuchos::RCP<Manager> manager_;
  mutable Teuchos::ParameterList managersList_;
};

}  // namespace capstan::stratimikos
