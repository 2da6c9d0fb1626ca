#pragma once

/// \file
/// The linear solver type "Capstan" of Stratimikos.

#include <Teuchos_ParameterList.hpp>
#include <Thyra_LinearOpWithSolveFactoryBase.hpp>
#include <Thyra_PreconditionerFactoryBase.hpp>
#include <string>

#include "adapters/stratimikos/solve_operator.hpp"
#include "adapters/stratimikos/solver_list.hpp"

namespace capstan::stratimikos {

/// Makes operators with solves of Capstan's methods. Functions keep the contracts of the base class. Making a
/// preconditioner is collective.
class SolveFactory final : public Thyra::LinearOpWithSolveFactoryBase<double> {
 public:
  using Source = Thyra::LinearOpSourceBase<double>;
  using Preconditioner = Thyra::PreconditionerBase<double>;
  using PreconditionerFactory = Thyra::PreconditionerFactoryBase<double>;
  using SolveOp = Thyra::LinearOpWithSolveBase<double>;

  bool acceptsPreconditionerFactory() const override { return true; }
  void setPreconditionerFactory(const Teuchos::RCP<PreconditionerFactory>& factory, const std::string& name) override;
  Teuchos::RCP<PreconditionerFactory> getPreconditionerFactory() const override { return factory_; }
  void unsetPreconditionerFactory(Teuchos::RCP<PreconditionerFactory>* factory, std::string* name) override;

  bool isCompatible(const Source& forward) const override;
  Teuchos::RCP<SolveOp> createOp() const override { return Teuchos::rcp(new SolveOperator); }
  void initializeOp(const Teuchos::RCP<const Source>& forward, SolveOp* op, Thyra::ESupportSolveUse use) const override;
  /// As initializeOp(), with the preconditioner as it is where the operator has one of its own.
  void initializeAndReuseOp(const Teuchos::RCP<const Source>& forward, SolveOp* op) const override;
  bool supportsPreconditionerInputType(Thyra::EPreconditionerInputType type) const override;
  void initializePreconditionedOp(const Teuchos::RCP<const Source>& forward,
                                  const Teuchos::RCP<const Preconditioner>& preconditioner, SolveOp* op,
                                  Thyra::ESupportSolveUse use) const override;
  /// Throws std::invalid_argument without a preconditioner factory.
  void initializeApproxPreconditionedOp(const Teuchos::RCP<const Source>& forward,
                                        const Teuchos::RCP<const Source>& approximate, SolveOp* op,
                                        Thyra::ESupportSolveUse use) const override;
  void uninitializeOp(SolveOp* op, Teuchos::RCP<const Source>* forward,
                      Teuchos::RCP<const Preconditioner>* preconditioner, Teuchos::RCP<const Source>* approximate,
                      Thyra::ESupportSolveUse* use) const override;

  /// Throws as readSolverList() does; the factory then is as it was.
  void setParameterList(const Teuchos::RCP<Teuchos::ParameterList>& list) override;
  Teuchos::RCP<Teuchos::ParameterList> getNonconstParameterList() override { return list_; }
  Teuchos::RCP<Teuchos::ParameterList> unsetParameterList() override;
  Teuchos::RCP<const Teuchos::ParameterList> getParameterList() const override { return list_; }
  Teuchos::RCP<const Teuchos::ParameterList> getValidParameters() const override { return validSolverList(); }
  std::string description() const override;

 private:
  /// \param reuse whether a preconditioner of the operator's own stays as it is
  void initialize(SolveParts parts, SolveOp* op, bool reuse) const;

  Teuchos::RCP<PreconditionerFactory> factory_;
  std::string factoryName_;
  Teuchos::RCP<Teuchos::ParameterList> list_;
  SolverChoice choice_;
};

}  // namespace capstan::stratimikos
