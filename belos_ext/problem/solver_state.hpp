#pragma once

/// \file
/// What a method has learnt from a solve, and what the next one may use.

#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belos_ext/parameters/solver_options.hpp"

namespace capstan {

/// Something that took work to make and that later solves may use: a communication plan, for instance. Every rank holds
/// its own part. Plain data, as it may outlive MPI and Kokkos; it never changes, as several solvers may hold it.
/// Whoever takes it out checks that it fits the operator at hand.
class KeptObject {
 public:
  virtual ~KeptObject() = default;
  /// Of what the object was made from, so that parts which belong together have the same on all ranks. Local.
  virtual std::uint64_t checksum() const = 0;
  /// Of memory, on this rank. Local.
  virtual std::size_t bytes() const = 0;
};

/// What the last solves of enlarged CG took with one of its factors.
struct FactorTimes {
  std::vector<double> seconds;     ///< of an iteration
  std::vector<double> iterations;  ///< for a digit of the residual; as many
  long solve = 0;                  ///< the number of the last one, among those with all factors
};

/// What works in the place of a pipeline that has failed.
struct WorkingPipeline {
  int depth = 0;            ///< reductions in flight; 0: the classical method
  int block = 1;            ///< vectors, the most
  double failedAt = 0;      ///< the scaled residual, as a tolerance is meant, of the first failure
  bool sure = false;        ///< the pipeline that failed had the shifts of the next solve; else it is tried once more
  std::uint64_t asked = 0;  ///< stands for the options that it failed with
  /// The depth that has handed over to the classical method, after most of a solve. It may be better all the same.
  int handsOver = 0;
  double itsPace = 0;        ///< products with A for a digit of such a solve
  double classicalPace = 0;  ///< of a classical one; 0: there has been none to compare it with
  long until = 0;            ///< SolverState::solves with which it is forgotten, where A cannot be read; else 0
};

/// What a solve leaves for the next one. Replicated, but for the objects: every rank of the solve stores the same.
struct SolverState {
  std::vector<std::complex<double>> shifts;  ///< in the order of use
  std::optional<EigenvalueBounds> eigenvalueBounds;
  std::optional<EigenvalueBounds> polynomialBounds;  ///< of M^{-1} A, where CG has a polynomial
  double polynomialPace = 0;                         ///< iterations for a digit with these bounds; 0: not known
  double shownOfBounds = 1;                          ///< largest Ritz value of a solve over the upper bound
  int stepSize = 0;                                  ///< tuned; 0: none
  std::vector<int> exactSteps;  ///< that the last panels of s-step GMRES kept, or would have kept: panel_errors.hpp
  double productRounding = 0;  ///< of s-step GMRES, in eps, by an error of H that was measured and did no harm; 0: none
  std::optional<WorkingPipeline> workingPipeline;  ///< as long as A has the values it has, if they can be read
  bool preconditionerVaries = false;               ///< M has been seen not to be linear, or, by CG, not to be symmetric
  bool singleBasis = false;                        ///< GMRES: every cycle would have borne a basis in single precision
  std::vector<int> iterations;                     ///< of the last solves that converged, the latest last
  std::map<int, FactorTimes> factorTimes;          ///< by the factor of enlarged CG
  long solves = 0;                                 ///< how many solves have contributed
  std::map<std::string, std::shared_ptr<const KeptObject>> objects;  ///< by their names; none is null

  /// The object of that name and type, or null. Local.
  template <class Object>
  std::shared_ptr<const Object> object(const std::string& name) const {
    const auto found = objects.find(name);
    return found == objects.end() ? nullptr : std::dynamic_pointer_cast<const Object>(found->second);
  }
};

/// Whether the one is to be preferred, as it rests on more failures: those that are sure count, the shorter one of two
/// alike. Local.
bool isShorter(const std::optional<WorkingPipeline>& one, const std::optional<WorkingPipeline>& other);

/// Adds the iterations of a solve that has converged; forgets the oldest of many. Local.
void rememberIterations(SolverState& state, int iterations);

/// Of the objects of a state. Local.
std::size_t bytesOf(const SolverState& state);

/// Of what a solve would use; another one where there is nothing. The same on all ranks that may use it together.
/// Local.
std::uint64_t checksumOf(const std::optional<SolverState>& state);

/// The state with its numbers rounded, so that ranks whose checksums are equal hold equal numbers, to the last bit.
/// Local.
SolverState rounded(SolverState state);

}  // namespace capstan
