#pragma once
/// \file
/// What takes part in a contest: a solver of any library, ready to solve one linear system again and again.

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace capstan::perf {

/// How a contestant is listed in the results.
struct Description {
  std::string name;     ///< unique in its system
  std::string method;   ///< the library's own name for it
  std::string library;  ///< "capstan", "belos", "petsc" or "hypre"
  std::string group;  ///< methods that are compared with each other: a family, "GMRES", "CG" or "BiCGStab", or "other"
  std::string preconditioner;
  double tolerance = 0.0;
  nlohmann::json parameters;  ///< name to value, as text
};

/// What a solver says about one solve.
struct Outcome {
  bool claimed = false;  ///< it says that it converged
  int iterations = 0;
};

/// How often one solve applied the matrix and the preconditioner, to one vector each.
struct Applications {
  long matrix = 0;
  long preconditioner = 0;  ///< 0 without one
};

/// A solver with its system. All members are collective over the contest's communicator.
class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual const Description& description() const = 0;
  /// Puts the first guess back (zero). Not timed.
  virtual void prepare() = 0;
  /// The part that is timed. \throws std::exception when the solver does.
  virtual Outcome solve() = 0;
  /// |b - A x| / |b| in the 2-norm, from the solution found. Not timed.
  virtual double relativeResidual() = 0;
  /// Applications of the last solve(), where they are known. May solve again to count them, so that x changes. Not
  /// timed. \throws std::exception when the solver does.
  virtual std::optional<Applications> applications() = 0;
  /// What else the solver tells about its last solve; null: nothing.
  virtual nlohmann::json details() const { return nullptr; }
};

using Contestants = std::vector<std::unique_ptr<Contestant>>;

/// The group of a method: the family of one of ours, else from the words of its name. Local.
std::string groupOf(const std::string& method);

}  // namespace capstan::perf
