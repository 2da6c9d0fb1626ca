#include "tpetra_ext/operators/tuned_exchange.hpp"

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <utility>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/node_queue.hpp"
#include "tpetra_ext/operators/block_product.hpp"
#include "tpetra_ext/operators/node_aware_operator.hpp"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan {
namespace {

constexpr const char* whyTpetras =
    "tpetra: the rows of the matrix are not those of its range map, or each rank has all of them";

using topology::Strategy;

[[noreturn]] void refuse(const std::string& text) {
  throw std::invalid_argument("capstan: choice of an exchange: " + text);
}

void requireValid(const TuningOptions& options) {
  if (options.columns < 1) refuse("columns: " + std::to_string(options.columns) + "; allowed: 1 or more");
  if (options.rounds < 1) refuse("rounds: " + std::to_string(options.rounds) + "; allowed: 1 or more");
  if (options.comparisonRounds < 1)
    refuse("rounds of a comparison: " + std::to_string(options.comparisonRounds) + "; allowed: 1 or more");
  if (options.ranksPerNode < 0)
    refuse("ranks per node: " + std::to_string(options.ranksPerNode) + "; allowed: 0 or more");
  if (!(options.margin >= 0)) refuse("margin: " + std::to_string(options.margin) + "; allowed: 0 or more");
  topology::PlanOptions plan;
  plan.eagerLimit = options.eagerLimit;
  topology::requireValid(plan);
}

std::string written(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// The largest over all ranks of each number.
std::vector<double> largestOf(const Teuchos::Comm<int>& comm, const std::vector<double>& mine) {
  std::vector<double> all(mine.size());
  Teuchos::reduceAll<int, double>(comm, Teuchos::REDUCE_MAX, static_cast<int>(mine.size()), mine.data(), all.data());
  return all;
}

/// The strategies between which there is a difference.
std::vector<Strategy> strategiesFor(const topology::NodeMap& nodes) {
  if (nodes.nodes() == 1 || nodes.largestNode() == 1) return {Strategy::Standard};
  return {std::begin(topology::allStrategies), std::end(topology::allStrategies)};
}

/// The products of a matrix with its own exchange, as a PreconditionedOperator computes them.
template <class Types>
class OwnProduct final : public Types::Operator {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Map = typename Types::Map;

  explicit OwnProduct(const Teuchos::RCP<const typename Types::CrsMatrix>& a) : a_(a), blocks_(a) {}
  Teuchos::RCP<const Map> getDomainMap() const override { return a_->getDomainMap(); }
  Teuchos::RCP<const Map> getRangeMap() const override { return a_->getRangeMap(); }
  void apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp mode, Scalar alpha, Scalar beta) const override {
    const bool plain = mode == Teuchos::NO_TRANS && alpha == Scalar(1) && beta == Scalar(0);
    if (!plain || !blocks_.apply(X, Y)) a_->apply(X, Y, mode, alpha, beta);
  }

 private:
  Teuchos::RCP<const typename Types::CrsMatrix> a_;
  mutable BlockProduct<Types> blocks_;
};

/// Seconds of a product with each operator, round by round, on the rank where it took longest: one after the other in
/// every round, so that whatever else the machine does meets them alike. Each does `products` of them in a row.
/// Collective: one reduction for all.
template <class Types>
std::vector<std::vector<double>> timesOf(const std::vector<Teuchos::RCP<const typename Types::Operator>>& operators,
                                         int columns, int rounds, int products) {
  using MultiVector = typename Types::MultiVector;
  const auto& first = *operators.front();
  const Teuchos::Comm<int>& comm = *first.getDomainMap()->getComm();
  MultiVector x(first.getDomainMap(), static_cast<std::size_t>(columns));
  MultiVector y(first.getRangeMap(), static_cast<std::size_t>(columns));
  x.putScalar(1);
  const std::size_t count = operators.size(), all = count * static_cast<std::size_t>(rounds);
  std::vector<double> mine(all);
  for (const auto& product : operators) product->apply(x, y);
  for (std::size_t turn = 0; turn < all; ++turn) {
    // Another one begins each round: what comes after whom matters where caches are small.
    const std::size_t round = turn / count, k = (turn + round) % count;
    Teuchos::barrier(comm);
    const double began = wallSeconds();
    for (int i = 0; i < products; ++i) operators[k]->apply(x, y);
    kernels::fence(nodeQueue<Types>());
    mine[round * count + k] = (wallSeconds() - began) / products;
  }
  const std::vector<double> slowest = largestOf(comm, mine);
  std::vector<std::vector<double>> times(count);
  for (std::size_t i = 0; i < all; ++i) times[i % count].push_back(slowest[i]);
  return times;
}

/// Products in a row in a comparison: one alone is short beside the barrier before it.
constexpr int productsOfAComparison = 2;

/// What the second trial has shown, of a candidate that has lost it.
std::string lostBy(const std::string& name, const TimingComparison& comparison) {
  return name + " seemed faster, but in " + std::to_string(comparison.won) + " of " +
         std::to_string(comparison.rounds) + " more rounds only; ";
}

/// `lost`: what is to be said of one that has lost the second trial.
std::string reasonOf(const TunedExchange& tuned, std::size_t chosen, const std::string& lost) {
  const auto& candidates = tuned.candidates;
  std::string text = candidates[chosen].name + ": " + written("%.3g s a product", candidates[chosen].seconds) + "; ";
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    if (k != chosen) text += candidates[k].name + " " + written("%.3g, ", candidates[k].seconds);
  }
  text += lost + written("set-up %.3g s", tuned.setupSeconds);
  if (std::isfinite(tuned.paidBackBy())) text += written(", paid back by %.0f products", tuned.paidBackBy());
  return text;
}

}  // namespace

std::size_t chosenOf(const std::vector<ExchangeCandidate>& candidates, double margin) {
  std::size_t chosen = 0;
  for (std::size_t k = 1; k < candidates.size(); ++k) {
    if (candidates[chosen].seconds > (1 + margin) * candidates[k].seconds) chosen = k;
  }
  return chosen;
}

TimingComparison comparisonOf(const std::vector<double>& current, const std::vector<double>& candidate, double margin) {
  TimingComparison comparison;
  comparison.rounds = static_cast<int>(current.size());
  std::vector<double> ratios;
  for (std::size_t k = 0; k < current.size(); ++k) {
    if (current[k] > (1 + margin) * candidate[k]) ++comparison.won;
    ratios.push_back(candidate[k] / current[k]);
  }
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  comparison.ratio = *middle;
  return comparison;
}

double TunedExchange::paidBackBy() const {
  if (candidates.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto chosen = std::find_if(candidates.begin(), candidates.end(),
                                   [this](const ExchangeCandidate& candidate) { return candidate.name == name; });
  const double gain = candidates.front().seconds - chosen->seconds;
  return gain > 0 ? setupSeconds / gain : std::numeric_limits<double>::infinity();
}

template <class Types>
TunedExchange exchangeBy(const typename Types::CrsMatrix& a, const topology::PlanOptions& options, int ranksPerNode) {
  topology::requireValid(options);
  const double began = wallSeconds();
  const MatrixPattern<Types> pattern(a, ranksPerNode);
  TunedExchange made;
  made.exchange = pattern.exchange(options);
  made.name = topology::nameOf(options.strategy);
  made.reason = made.name + ", as asked for";
  made.eagerLimit = options.eagerLimit;
  made.nodes = pattern.nodes().nodes();
  made.largestNode = pattern.nodes().largestNode();
  made.setupSeconds = largestOf(*a.getDomainMap()->getComm(), {wallSeconds() - began}).front();
  return made;
}

template <class Types>
TunedExchange tuneExchange(const Teuchos::RCP<const typename Types::CrsMatrix>& a, const TuningOptions& options) {
  if (a.is_null() || !a->isFillComplete()) refuse("it needs a fill-complete matrix");
  requireValid(options);
  TunedExchange tuned;
  tuned.name = "tpetra";
  tuned.eagerLimit = options.eagerLimit;
  const Teuchos::Comm<int>& comm = *a->getDomainMap()->getComm();
  if (comm.getSize() == 1) {
    tuned.reason = "tpetra: one rank has nothing to exchange";
    return tuned;
  }
  if (!canExchange<Types>(*a)) {
    tuned.reason = whyTpetras;
    return tuned;
  }
  const double began = wallSeconds();
  const MatrixPattern<Types> pattern(*a, options.ranksPerNode);
  tuned.nodes = pattern.nodes().nodes();
  tuned.largestNode = pattern.nodes().largestNode();
  std::vector<std::shared_ptr<const MatrixExchange>> exchanges{nullptr};
  std::vector<Teuchos::RCP<const typename Types::Operator>> operators{Teuchos::rcp(new OwnProduct<Types>(a))};
  tuned.candidates.push_back({"tpetra", 0});
  for (const Strategy strategy : strategiesFor(pattern.nodes())) {
    topology::PlanOptions plan;
    plan.strategy = strategy;
    plan.eagerLimit = options.eagerLimit;
    plan.deviceAware = options.deviceAware;
    plan.columns = options.columns;
    plan.bytesPerValue = sizeof(typename Types::Scalar);
    exchanges.push_back(pattern.exchange(plan));
    operators.push_back(Teuchos::rcp(new NodeAwareOperator<Types>(a, exchanges.back())));
    tuned.candidates.push_back({topology::nameOf(strategy), 0});
  }
  const auto collective = std::make_shared<MatrixExchange>(*exchanges[1]);  // of the standard plan
  collective->neighbourhood = true;
  exchanges.push_back(collective);
  operators.push_back(Teuchos::rcp(new NodeAwareOperator<Types>(a, collective)));
  tuned.candidates.push_back({"neighbourhood", 0});
  const auto times = timesOf<Types>(operators, options.columns, options.rounds, 1);
  for (std::size_t k = 0; k < times.size(); ++k) {
    tuned.candidates[k].seconds = *std::min_element(times[k].begin(), times[k].end());
  }
  // Alike on all ranks, since the times are.
  std::size_t chosen = chosenOf(tuned.candidates, options.margin);
  std::string lost;
  if (chosen > 0) {
    auto& all = tuned.candidates;
    const std::size_t current = chosen == 1 ? 0 : chosenOf({all[0], all[1]}, options.margin);
    const auto again = timesOf<Types>({operators[current], operators[chosen]}, options.columns,
                                      options.comparisonRounds, productsOfAComparison);
    const TimingComparison comparison = comparisonOf(again[0], again[1], options.margin);
    all[chosen].seconds = comparison.ratio * all[current].seconds;
    if (!comparison.isWon()) {
      lost = lostBy(all[chosen].name, comparison);
      chosen = current;
    }
  }
  tuned.exchange = exchanges[chosen];
  tuned.name = tuned.candidates[chosen].name;
  tuned.setupSeconds = largestOf(comm, {wallSeconds() - began}).front();
  tuned.reason = reasonOf(tuned, chosen, lost);
  return tuned;
}

template <class Types>
ChosenProduct<Types> productBy(const Teuchos::RCP<const typename Types::Operator>& a,
                               const topology::PlanOptions& options, int ranksPerNode) {
  using CrsMatrix = typename Types::CrsMatrix;
  if (a.is_null()) refuse("it needs an operator; got a null pointer");
  const auto matrix = Teuchos::rcp_dynamic_cast<const CrsMatrix>(a);
  if (matrix.is_null()) return {a, "the operator's own exchange: it is not a Tpetra::CrsMatrix"};
  if (matrix->isFillComplete() && !canExchange<Types>(*matrix)) {
    return {a, whyTpetras};
  }
  const TunedExchange made = exchangeBy<Types>(*matrix, options, ranksPerNode);
  return {Teuchos::rcp(new NodeAwareOperator<Types>(matrix, made.exchange)), made.reason};
}

template <class Types>
ChosenProduct<Types> productBy(const Teuchos::RCP<const typename Types::CrsMatrix>& a, const TunedExchange& tuned) {
  if (a.is_null()) refuse("it needs a matrix; got a null pointer");
  if (tuned.exchange == nullptr) return {a, tuned.reason};
  return {Teuchos::rcp(new NodeAwareOperator<Types>(a, tuned.exchange)), tuned.reason};
}

#define CAPSTAN_TUNED_EXCHANGE(S, LO, GO, NO)                                                            \
  template TunedExchange exchangeBy<TpetraTypes<S, LO, GO, NO>>(const Tpetra::CrsMatrix<S, LO, GO, NO>&, \
                                                                const topology::PlanOptions&, int);      \
  template TunedExchange tuneExchange<TpetraTypes<S, LO, GO, NO>>(                                       \
      const Teuchos::RCP<const Tpetra::CrsMatrix<S, LO, GO, NO>>&, const TuningOptions&);                \
  template ChosenProduct<TpetraTypes<S, LO, GO, NO>> productBy<TpetraTypes<S, LO, GO, NO>>(              \
      const Teuchos::RCP<const Tpetra::Operator<S, LO, GO, NO>>&, const topology::PlanOptions&, int);    \
  template ChosenProduct<TpetraTypes<S, LO, GO, NO>> productBy<TpetraTypes<S, LO, GO, NO>>(              \
      const Teuchos::RCP<const Tpetra::CrsMatrix<S, LO, GO, NO>>&, const TunedExchange&);
CAPSTAN_INSTANTIATE(CAPSTAN_TUNED_EXCHANGE)

}  // namespace capstan
