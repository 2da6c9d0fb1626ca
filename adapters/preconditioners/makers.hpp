#pragma once
/// \file
/// What makes the preconditioners of Ifpack2, MueLu and hypre. It is a library of its own, opened when the first of
/// them is asked for: to open Trilinos' multigrid takes a process 0.1 s, which no run that needs none is to wait for.
/// Where Trilinos is static it is linked in.

#include "adapters/preconditioners/preconditioner.hpp"

namespace capstan::preconditioning {

/// Its functions throw what Trilinos and hypre throw, alike on all ranks.
class Makers {
 public:
  virtual bool hasBoomerAmg() const = 0;
  /// What is wrong with the parameters, or nothing. Collective.
  virtual std::optional<ParameterProblem> problem(const PreconditionerName& name, const Teuchos::ParameterList& own,
                                                  const Teuchos::RCP<const Communicator>& comm) const = 0;
  /// M^-1 of A. Collective.
  virtual Teuchos::RCP<Operator> make(const PreconditionerName& name, const Teuchos::RCP<Matrix>& A,
                                      const Teuchos::ParameterList& own) const = 0;
  /// The values of one that make() has made, for those of A now; its structure stays. Not of hypre. Collective.
  virtual void renew(const PreconditionerName& name, const Teuchos::RCP<Matrix>& A, Operator& made) const = 0;
  /// As the function of that name. Collective.
  virtual std::optional<CoarseCheck> checkCoarseSolve(const Operator& op) const = 0;

 protected:
  Makers() = default;
  ~Makers() = default;
  Makers(const Makers&) = default;
  Makers& operator=(const Makers&) = default;
};

/// Those of the library, which the first call opens. Local.
/// \throws PreconditionerError where it cannot be opened, or is of another release; the next call tries again
const Makers& makers();

/// Those that are linked in: inside the library, in tests, and where Trilinos is static. Local.
const Makers& linkedMakers();

/// Tells two releases of what is passed to the library apart. Raise the first number where a function changes and no
/// size does.
constexpr unsigned long makersStamp =
    1009 * (1009 * (1009 * 1 + sizeof(PreconditionerName)) + sizeof(ParameterProblem)) + sizeof(CoarseCheck);

/// The one function of the library that is found by its name: null where it is of another release. Local.
constexpr const char* makersFunction = "capstanPreconditionerMakers";

}  // namespace capstan::preconditioning
