#pragma once
/// \file
/// A contestant that Belos::SolverFactory makes: one of Belos' own solvers, or of Capstan's.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <memory>
#include <string>

#include "adapters/preconditioners/types.hpp"
#include "perf/solvers/contestant.hpp"

namespace capstan::perf {

/// What all solvers of a system share.
struct SharedSystem {
  Teuchos::RCP<preconditioning::Matrix> A;
  Teuchos::RCP<preconditioning::MultiVector> b;
  Teuchos::RCP<preconditioning::MultiVector> x;  ///< each solve begins at zero
  Teuchos::RCP<preconditioning::MultiVector> r;  ///< scratch
};

/// \param description all but `parameters`, which are taken from the list
/// \param parameters of the method, the tolerance among them
/// \param label of the system and the solver; Capstan tells problems apart by it
/// \param M^{-1}; null: none. \param left on which side it stands. \param anew make the solver anew for each solve
/// A solver that cannot be made is a contestant still: its first solve throws what went wrong. Collective.
std::unique_ptr<Contestant> makeFactoryContestant(Description description, const Teuchos::ParameterList& parameters,
                                                  const std::string& label, const SharedSystem& system,
                                                  const Teuchos::RCP<const preconditioning::Operator>& M, bool left,
                                                  bool anew = false);

/// |x| in the 2-norm of the first column. Collective.
double norm(const preconditioning::MultiVector& x);

}  // namespace capstan::perf
