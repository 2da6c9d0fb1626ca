#pragma once

/// \file
/// Capstan's solvers for applications over Thyra: one call to Stratimikos' builder of linear solvers.

#include <Teuchos_AbstractFactory.hpp>
#include <Teuchos_RCP.hpp>
#include <Thyra_LinearOpWithSolveFactoryBase.hpp>
#include <string>

namespace capstan {

using StratimikosStrategy = Teuchos::AbstractFactory<Thyra::LinearOpWithSolveFactoryBase<double>>;

/// Makes the factories of the linear solver type "Capstan". Local.
Teuchos::RCP<const StratimikosStrategy> stratimikosStrategy();

/// Adds the linear solver type "Capstan" to a builder, before its parameter list is set. Local.
///
/// \param builder Stratimikos::DefaultLinearSolverBuilder, or Stratimikos::LinearSolverBuilder<double>
/// \param name of the type in the builder's parameter list
/// \param makeDefault whether it is the type of a list that names none
template <class Builder>
void enableStratimikos(Builder& builder, const std::string& name = "Capstan", bool makeDefault = false) {
  builder.setLinearSolveStrategyFactory(stratimikosStrategy(), name, makeDefault);
}

}  // namespace capstan
