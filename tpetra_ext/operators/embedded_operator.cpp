#include "tpetra_ext/operators/embedded_operator.hpp"

#include <Teuchos_CommHelpers.hpp>
#include <Teuchos_DefaultSerialComm.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/node_queue.hpp"
#include "tpetra_ext/topology/exchange/distributed_embedding.hpp"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan {
namespace {

std::shared_ptr<const MatrixExchange> requireEmbedded(std::shared_ptr<const MatrixExchange> exchange) {
  if (exchange == nullptr || exchange->embedded == nullptr) {
    throw std::invalid_argument("capstan: embedded product: the communication plan is not for a reduction");
  }
  return exchange;
}

/// Collective: two reductions.
EmbeddingFacts factsOf(const topology::EmbeddedPlan& plan, const topology::RankPattern& pattern,
                       const Teuchos::Comm<int>& comm) {
  const auto messages = static_cast<int>(std::count_if(
      plan.steps.begin(), plan.steps.end(), [](const topology::EmbeddedStep& step) { return step.sends(); }));
  const auto neighbours = static_cast<int>(pattern.sends.size());
  const int mine[2] = {messages, neighbours};
  int most[2] = {0, 0};
  Teuchos::reduceAll<int, int>(comm, Teuchos::REDUCE_MAX, 2, mine, most);
  const double parts[3] = {static_cast<double>(neighbours), static_cast<double>(plan.needed.size()),
                           static_cast<double>(plan.valuesSent())};
  double sums[3] = {0, 0, 0};
  Teuchos::reduceAll<int, double>(comm, Teuchos::REDUCE_SUM, 3, parts, sums);
  const double ranks = comm.getSize();
  return {plan.dimensions, most[0], most[1], sums[0] / ranks, sums[1] / ranks, sums[2] / ranks};
}

/// The sums by one embedded exchange, which brings the carried entries at the same time.
template <class Types>
class CarryingSum final : public Summation<typename Types::Scalar> {
 public:
  using Scalar = typename Types::Scalar;
  using Exchange = topology::EmbeddedExchange<Types>;

  CarryingSum(Exchange& exchange, const std::vector<typename Exchange::Carried>& carried)
      : exchange_(exchange), carried_(carried) {}
  bool launch() override { return exchange_.load(carried_); }
  void sum(Scalar* data, int count) override { exchange_.runLoaded(data, count, carried_); }

 private:
  Exchange& exchange_;
  const std::vector<typename Exchange::Carried>& carried_;
};

}  // namespace

template <class Types>
Embedding embeddingOf(const typename Types::CrsMatrix& a, topology::MappingOptions options) {
  const double began = wallSeconds();
  const MatrixPattern<Types> pattern(a, options.ranksPerNode);
  if (options.ranksPerNode == 0) options.ranksPerNode = topology::ranksPerNodeOf(pattern.nodes());
  const auto& ranks = pattern.pattern();
  const bool grouped = topology::ranksPerGroup(pattern.nodes().ranks(), options.ranksPerNode) > 1;
  Embedding made;
  made.exchange = pattern.embedding(topology::mappedPositions(ranks.channel(), ranks.pattern(), options),
                                    grouped ? topology::StepOrder::Descending : topology::StepOrder::Ascending);
  made.facts = factsOf(*made.exchange->embedded, ranks.pattern(), *a.getDomainMap()->getComm());
  const double mine = wallSeconds() - began;
  Teuchos::reduceAll<int, double>(*a.getDomainMap()->getComm(), Teuchos::REDUCE_MAX, 1, &mine, &made.setupSeconds);
  return made;
}

/// The vectors that a reduction carries. Kept, so that the next one allocates nothing.
template <class Types>
struct EmbeddedOperator<Types>::Load {
  using DualView = typename MultiVector::dual_view_type;
  std::vector<compat::Held<typename DualView::t_dev::const_type>> own;
  std::vector<compat::Held<typename DualView::t_dev>> ghosts;
  std::vector<typename topology::EmbeddedExchange<Types>::Carried> carried;

  /// Holds them, and lets go of them when the reduction ends, also where it throws.
  class Scope {
   public:
    Scope(Load& load, const std::vector<CarriedVector<Types>>& vectors) : load_(load) {
      for (const CarriedVector<Types>& one : vectors) {
        load.own.push_back(compat::deviceView(*one.own, Tpetra::Access::ReadOnly));
        load.ghosts.push_back(compat::deviceView(*one.ghosts, Tpetra::Access::OverwriteAll));
        load.carried.push_back({*load.own.back(), *load.ghosts.back()});
      }
    }
    ~Scope() {
      load_.carried.clear();
      load_.own.clear();
      load_.ghosts.clear();
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Load& load_;
  };
};

template <class Types>
EmbeddedOperator<Types>::EmbeddedOperator(Teuchos::RCP<const CrsMatrix> a,
                                          std::shared_ptr<const MatrixExchange> exchange)
    : product_(std::move(a), requireEmbedded(std::move(exchange)), typename NodeAwareOperator<Types>::FitsOnAllRanks()),
      exchange_(nodeQueue<Types>(), topology::Channel::of(*product_.getDomainMap()->getComm()),
                product_.exchange().embedded),
      load_(std::make_unique<Load>()) {
  using Map = typename Types::Map;
  // Of this rank alone: what its entries are called elsewhere matters to nobody, and a map of all is collective.
  ghostMap_ =
      Teuchos::rcp(new Map(product_.exchange().plan.needed.size(), 0, Teuchos::rcp(new Teuchos::SerialComm<int>())));
}

template <class Types>
void EmbeddedOperator<Types>::multiply(const MultiVector& x, const MultiVector& ghosts, MultiVector& y) const {
  using Received = typename NodeAwareOperator<Types>::Received;
  const auto entries = compat::deviceView(ghosts, Tpetra::Access::ReadOnly);
  // Of one column: it is side by side with none.
  product_.applyReceived(
      x, Received(const_cast<typename Types::Scalar*>(entries->data()), entries->extent(0), std::size_t(1)), y);
}

template <class Types>
EmbeddedOperator<Types>::~EmbeddedOperator() = default;

template <class Types>
void EmbeddedOperator<Types>::reduce(const std::vector<ReductionBatch<Types>*>& batches,
                                     const std::vector<CarriedVector<Types>>& carried) {
  const typename Load::Scope held(*load_, carried);
  CarryingSum<Types> summation(exchange_, load_->carried);
  ReductionBatch<Types>::reduceTogether(batches, summation);
}

#define CAPSTAN_EMBEDDED_OPERATOR(S, LO, GO, NO)                                                      \
  template Embedding embeddingOf<TpetraTypes<S, LO, GO, NO>>(const Tpetra::CrsMatrix<S, LO, GO, NO>&, \
                                                             topology::MappingOptions);               \
  template class EmbeddedOperator<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_EMBEDDED_OPERATOR)

}  // namespace capstan
