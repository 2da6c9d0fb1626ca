#pragma once
/// \file
/// Preconditioners by name: those of Nalu-wind's decks (Ifpack2's relaxations and incomplete factorisations, MueLu),
/// hypre's BoomerAMG (boomeramg.hpp), and explicit ones of ours (explicit_preconditioners.hpp).
///
/// MueLu's coarse solve is checked when a hierarchy is built. Some builds of Trilinos (Debian 12's among them) have a
/// direct coarse solver that answers wrongly on more than one rank, which would only show as poor convergence.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "adapters/preconditioners/parameter_messages.hpp"
#include "adapters/preconditioners/types.hpp"

namespace capstan::preconditioning {

/// Which side of the matrix the preconditioner stands on.
enum class Side { Right, Left };

/// One preconditioner a user can name.
struct PreconditionerName {
  std::string name;        ///< as written in a deck, lower case
  std::string ifpack2;     ///< Ifpack2's name for it; empty for "none", multigrid, and explicit ones
  std::string relaxation;  ///< Ifpack2's "relaxation: type"; empty when it is none
  std::string summary;
};

/// Every name `PreconditionerOptions::name` accepts. Local.
const std::vector<PreconditionerName>& preconditionerNames();

/// The row of `preconditionerNames` with this name (case-insensitive), or null. Local.
const PreconditionerName* findPreconditioner(const std::string& name);

/// What a deck says about a preconditioner.
struct PreconditionerOptions {
  std::string name = "none";  ///< one of preconditionerNames()
  Teuchos::ParameterList
      parameters;      ///< Ifpack2's, MueLu's or the preconditioner's own; they override those of the name
  std::string origin;  ///< MueLu only: where `parameters` came from, for messages
  Side side = Side::Right;
  bool recompute = true;  ///< build anew for every solve
  /// Without recompute: keep the structure (aggregates, sparsity), renew the values. MueLu with "reuse: type" and
  /// smoothers scaled by row sums (Capstan's presets) is built anew, since those smoothers would keep the old sums.
  bool reuse = false;
};

/// The preconditioner cannot be built, or does not do what it should. Thrown alike on all ranks.
class PreconditionerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The result of trying a coarse solver on a right-hand side whose solution is known to exist.
struct CoarseCheck {
  bool direct = false;            ///< the coarse solver claims to solve exactly: it factorises
  double relativeResidual = 0.0;  ///< of one coarse solve from a zero guess
  std::string solver;             ///< its own description
  long long rows = 0;             ///< of the coarse matrix

  /// A direct solver must solve; an iterative one must at least stay finite.
  bool passed() const;
};

/// Tries the coarse solver of a MueLu preconditioner once. Collective. Empty when `op` is not MueLu's or has no coarse
/// solver that can be reached.
std::optional<CoarseCheck> checkCoarseSolve(const Operator& op);

/// Puts a user's own parameters over those of a file or preset, lists within lists likewise. Where the user names
/// another "coarse: type" or "smoother: type", the file's parameters for the old one ("coarse: params", ...) go. Local.
void overrideParameters(Teuchos::ParameterList& file, const Teuchos::ParameterList& own);

/// Says what is wrong with the parameters, or nothing: unknown names, wrong types. Builds no hierarchy. Collective,
/// the same answer on all ranks.
std::optional<ParameterProblem> validatePreconditioner(const PreconditionerOptions& options,
                                                       const Teuchos::RCP<const Communicator>& comm);

/// Whether it is one of multigrid, an application of which is a cycle (PreconditionerCheck). Local.
bool isMultigrid(const std::string& name);

/// A preconditioner and its upkeep over a sequence of solves, with Nalu-wind's meaning of recompute and reuse.
class Preconditioner {
 public:
  /// Local. \throws PreconditionerError for an unknown name, or one that this build cannot make.
  explicit Preconditioner(PreconditionerOptions options);

  /// Brings the preconditioner up to date with A, whose values may have changed in place. Collective.
  /// \throws PreconditionerError when it cannot be built, or when its coarse solver fails `checkCoarseSolve`.
  void update(const Teuchos::RCP<Matrix>& A);

  /// M^-1; null for "none", and before the first update().
  Teuchos::RCP<Operator> op() const { return operator_; }
  const PreconditionerOptions& options() const { return options_; }
  int builds() const { return builds_; }      ///< times built from nothing
  int renewals() const { return renewals_; }  ///< times renewed with the old structure
  /// What update() has to say that is no error (empty: nothing); the same on all ranks.
  const std::string& warning() const { return warning_; }

 private:
  void build(const Teuchos::RCP<Matrix>& A);
  void renew(const Teuchos::RCP<Matrix>& A);
  void requireSoundCoarseSolve();

  PreconditionerOptions options_;
  const PreconditionerName* name_;
  Teuchos::RCP<Operator> operator_;
  const Matrix* builtFor_ = nullptr;
  int builds_ = 0;
  int renewals_ = 0;
  std::string warning_;
};

}  // namespace capstan::preconditioning
