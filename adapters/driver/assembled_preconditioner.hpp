// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Trilinos' preconditioners for a system of the application: its matrix assembled in compressed rows.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/driver/choices.hpp"
#include "adapters/driver/trilinos_types.hpp"
#include "adapters/preconditioners/preconditioner.hpp"

namespace capstan::driver {

/// A preconditioner on the matrix it was built for, kept from solve to solve.
///
/// The matrix changes only together with the preconditioner: one that is kept would else mix new coefficients with
/// what it made of the old ones. Member functions are collective over the graph's communicator unless said otherwise.
class AssembledPreconditioner {
 public:
  /// \param label names the matrix: the field's name.
  AssembledPreconditioner(std::shared_ptr<const CsrGraph> graph, const std::string& label);

  /// y = A x, by the assembled matrix. \param x, y local rows.
  void apply(const double* x, double* y) const;

  /// Whether there is one that was built for an equal choice. Local.
  bool has(const PreconditionerChoice& choice) const { return preconditioner_ && choice_ == choice; }

  /// What update() found, alike on all ranks.
  struct Updated {
    std::string unusable;  ///< why no solve should be tried with it; empty: nothing against it
    std::string remark;    ///< for the user; empty when there is nothing to say
  };

  /// Builds it for these coefficients, or renews the one there is if the choice is equal. The 1st, 2nd, 4th, 8th, ...
  /// time, and as long as it was unusable the last time, random vectors tell whether it is of use: that takes less than
  /// two iterations' time, or five of multigrid.
  /// \param values in the order of CsrPattern::columns.   \param symmetricMethod it is for conjugate gradients
  /// \throws std::exception for unknown names, wrong types, or where it cannot be built; there is none then.
  Updated update(const PreconditionerChoice& choice, const std::vector<double>& values, bool symmetricMethod);

  /// What it is to a Krylov method: M^-1, or null before it is built. Local.
  Teuchos::RCP<const Operator> op() const;

 private:
  std::shared_ptr<const CsrGraph> graph_;
  Teuchos::RCP<Matrix> matrix_;
  std::optional<preconditioning::Preconditioner> preconditioner_;
  PreconditionerChoice choice_;  // it was built for
  long updates_ = 0;             // for that choice
  bool unusable_ = false;        // it was, the last time it was looked at
};

}  // namespace capstan::driver
