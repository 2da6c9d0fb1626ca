#pragma once

/// \file
/// The exchange that is fastest for the products with a matrix, found by trying.
///
/// Source: [enlarged-cg], section 4.3: which communication is best depends on the machine and the matrix, and trying
/// all costs a few products.

#include <Teuchos_RCP.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tpetra_ext/operators/matrix_exchange.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan {

/// What is tried.
struct TuningOptions {
  int columns = 1;       ///< of the blocks that will be multiplied
  int ranksPerNode = 0;  ///< as for MatrixPattern
  long long eagerLimit = topology::defaultEagerLimit;
  topology::DeviceAwareMpi deviceAware = topology::DeviceAwareMpi::Auto;  ///< with all but Tpetra's own exchange
  int rounds = 9;  ///< products timed with each exchange; another one before them is not
  /// Tpetra's own exchange, which needs no set-up, stays unless another one takes less than 1 / (1 + margin) of its
  /// time.
  double margin = 0.02;
  /// The fastest one is then tried again, in so many rounds beside the one it would replace, and has to be faster by
  /// the margin in three of four: the least of a few times can be luck.
  int comparisonRounds = 24;
};

/// Seconds a product takes: the least of some, each on the rank where it took longest. What else the machine does only
/// adds to it. Of one that was tried once more, what that shows: the median of its ratios to the
/// other one's time.
struct ExchangeCandidate {
  std::string name;
  double seconds = 0;
};

/// The candidate to be used: one after the other, where it is faster by more than the margin than the one chosen so
/// far. So earlier ones stay where differences are noise: Tpetra's own, then the standard plan. Local.
std::size_t chosenOf(const std::vector<ExchangeCandidate>& candidates, double margin);

/// Two exchanges side by side, round by round.
struct TimingComparison {
  int rounds = 0;
  int won = 0;       ///< rounds in which the candidate was faster by the margin
  double ratio = 1;  ///< the median of its time over the other's
  bool isWon() const { return 4 * won >= 3 * rounds && rounds > 0; }
};

/// Seconds of the same rounds; as many numbers, one at least. Local.
TimingComparison comparisonOf(const std::vector<double>& current, const std::vector<double>& candidate, double margin);

/// What was found. Plain data, and but for the plan itself the same on all ranks.
struct TunedExchange {
  std::shared_ptr<const MatrixExchange> exchange;  ///< null: Tpetra's own
  std::string name;                                ///< "tpetra", that of a strategy, or "neighbourhood"
  std::string reason;                              ///< a sentence for people
  std::vector<ExchangeCandidate> candidates;       ///< all that was tried; empty where there was nothing to choose
  double setupSeconds = 0;                         ///< plans and trials, on the rank where they took longest
  long long eagerLimit = 0;                        ///< for which plans were made
  int nodes = 1, largestNode = 1;                  ///< as the plan has them; ranks on the largest

  /// How many products the set-up has cost, in what each is faster than the first candidate; infinite where it is not,
  /// NaN where nothing was tried. Local.
  double paidBackBy() const;
};

/// Tries Tpetra's exchange, all strategies, and the standard one's messages in one call of MPI for all neighbours, with
/// products of the matrix with blocks of ones; then the fastest one once more beside the first or second, see
/// TuningOptions. If there is one rank, or canExchange() refuses the matrix, there is nothing to try. If ranks share
/// one node, or each has its own, all strategies send the same messages, and of them the standard one alone is tried.
/// Throws std::invalid_argument for a matrix that is null or not fill-complete and for options below 1 (ranksPerNode,
/// margin: below 0). Collective; all ranks with the same options.
template <class Types>
TunedExchange tuneExchange(const Teuchos::RCP<const typename Types::CrsMatrix>& a, const TuningOptions& options = {});

/// The plan of one strategy, with nothing tried. Throws std::invalid_argument, on all ranks, for invalid options, and
/// as MatrixPattern. Collective.
template <class Types>
TunedExchange exchangeBy(const typename Types::CrsMatrix& a, const topology::PlanOptions& options,
                         int ranksPerNode = 0);

/// An operator that computes products in a certain way.
template <class Types>
struct ChosenProduct {
  Teuchos::RCP<const typename Types::Operator> product;  ///< the given operator itself, or one that stands in for it
  std::string reason;                                    ///< a sentence for people
};

/// Products with the plan of one strategy, for a fill-complete matrix that canExchange() takes; any other operator
/// computes them itself. Throws std::invalid_argument where `a` is null, and as MatrixPattern. Collective.
template <class Types>
ChosenProduct<Types> productBy(const Teuchos::RCP<const typename Types::Operator>& a,
                               const topology::PlanOptions& options, int ranksPerNode = 0);

/// Products as they have turned out fastest. `tuned` may be of another matrix on the same maps. Throws
/// std::invalid_argument as NodeAwareOperator. Collective.
template <class Types>
ChosenProduct<Types> productBy(const Teuchos::RCP<const typename Types::CrsMatrix>& a, const TunedExchange& tuned);

}  // namespace capstan
