#pragma once

/// \file
/// Stratimikos' linear solver type "Belos" with a "Solver Type" that is one of ours.

#include <Thyra_BelosLinearOpWithSolveFactory.hpp>
#include <string>

#include "adapters/stratimikos/solve_factory.hpp"

namespace capstan::stratimikos {

/// Stratimikos' own factory for Belos until a list arrives whose "Solver Type" is for Capstan (isForCapstan()), from
/// then on Capstan's, until a list arrives whose type is not. Stratimikos' validator is not asked about a list for
/// Capstan, as its types are a closed list.
class ServedBelos final : public Thyra::BelosLinearOpWithSolveFactory<double> {
 public:
  using Belos = Thyra::BelosLinearOpWithSolveFactory<double>;
  using Source = SolveFactory::Source;
  using Preconditioner = SolveFactory::Preconditioner;
  using SolveOp = SolveFactory::SolveOp;

  void setParameterList(const Teuchos::RCP<Teuchos::ParameterList>& list) override;
  Teuchos::RCP<Teuchos::ParameterList> getNonconstParameterList() override;
  Teuchos::RCP<Teuchos::ParameterList> unsetParameterList() override;
  Teuchos::RCP<const Teuchos::ParameterList> getParameterList() const override;
  Teuchos::RCP<const Teuchos::ParameterList> getValidParameters() const override;
  std::string description() const override;

  bool isCompatible(const Source& forward) const override;
  Teuchos::RCP<SolveOp> createOp() const override;
  void initializeOp(const Teuchos::RCP<const Source>& forward, SolveOp* op, Thyra::ESupportSolveUse use) const override;
  void initializeAndReuseOp(const Teuchos::RCP<const Source>& forward, SolveOp* op) const override;
  void initializePreconditionedOp(const Teuchos::RCP<const Source>& forward,
                                  const Teuchos::RCP<const Preconditioner>& preconditioner, SolveOp* op,
                                  Thyra::ESupportSolveUse use) const override;
  void initializeApproxPreconditionedOp(const Teuchos::RCP<const Source>& forward,
                                        const Teuchos::RCP<const Source>& approximate, SolveOp* op,
                                        Thyra::ESupportSolveUse use) const override;
  void uninitializeOp(SolveOp* op, Teuchos::RCP<const Source>* forward,
                      Teuchos::RCP<const Preconditioner>* preconditioner, Teuchos::RCP<const Source>* approximate,
                      Thyra::ESupportSolveUse* use) const override;

 private:
  /// Ours, with what the base class has been told since.
  const SolveFactory& ours() const;

  Teuchos::RCP<SolveFactory> ours_;  ///< null: Belos' own
  Teuchos::RCP<Teuchos::ParameterList> list_;
};

}  // namespace capstan::stratimikos
