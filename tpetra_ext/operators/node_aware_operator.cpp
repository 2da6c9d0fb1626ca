#include "tpetra_ext/operators/node_aware_operator.hpp"

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/copy.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/kernels/block_product.hpp"
#include "tpetra_ext/kernels/row_runs.hpp"
#include "tpetra_ext/node_queue.hpp"
#include "tpetra_ext/operators/overlap.hpp"
#include "tpetra_ext/operators/vector_sweep.hpp"

namespace capstan {
namespace {

using topology::LocalIndex;

/// Lists the rows that have a column from another rank, or those that have none.
template <class Graph, class Sources, class List>
struct ListRows {
  Graph graph;
  Sources sources;  // by local column
  LocalIndex owned;
  bool wanted;  // rows with such a column
  List list;

  KOKKOS_FUNCTION void operator()(const std::ptrdiff_t row, std::ptrdiff_t& place, const bool last) const {
    bool needs = false;
    for (auto k = graph.row_map(row); k < graph.row_map(row + 1); ++k) {
      needs = needs || sources(graph.entries(k)) >= owned;
    }
    if (needs != wanted) return;
    if (last) list(place) = static_cast<LocalIndex>(row);
    ++place;
  }
};

template <class MultiVector>
bool shareMemory(const MultiVector& X, const MultiVector& Y) {
  const auto x = compat::deviceView(X, Tpetra::Access::ReadOnly), y = compat::deviceView(Y, Tpetra::Access::ReadOnly);
  return overlap(*x, *y);
}

[[noreturn]] void refuseMatrix() {
  throw std::invalid_argument(
      "capstan: node-aware product: it needs a fill-complete matrix whose rows are those of its range map, and "
      "distributed");
}

[[noreturn]] void refuseExchange() {
  throw std::invalid_argument(
      "capstan: node-aware product: the communication plan is missing on a rank, or for a matrix on other maps");
}

}  // namespace

/// The rows in two groups, and where their columns come from, on the device.
template <class Types>
struct NodeAwareOperator<Types>::Rows {
  using List = Kokkos::View<LocalIndex*, typename Types::DeviceType>;
  using Execution = typename Types::ExecutionSpace;
  using HeldGraph = decltype(compat::deviceGraph(std::declval<const CrsMatrix&>()));
  using Graph = std::decay_t<decltype(*std::declval<const HeldGraph&>())>;
  using Offset = std::decay_t<decltype(std::declval<const Graph&>().row_map(0))>;
  using Column = std::decay_t<decltype(std::declval<const Graph&>().entries(0))>;

  List sources, interior, boundary;
  kernels::RowRuns interiorRuns, boundaryRuns;
  bool direct = true;  // columns are where their numbers say

  Rows(const CrsMatrix& a, const MatrixExchange& exchange)
      : sources(kernels::copied<List>(nodeQueue<Types>(), "capstan columns", exchange.columnSource)),
        columns_(a.getColMap()) {
    const auto held = compat::deviceGraph(a);
    const Graph& graph = *held;
    rowMap_ = graph.row_map;
    entries_ = graph.entries.data();
    count_ = graph.entries.extent(0);
    for (std::size_t c = 0; c < exchange.columnSource.size(); ++c) {
      direct = direct && exchange.columnSource[c] == static_cast<LocalIndex>(c);
    }
    const std::size_t rows = compat::localNumRows(a);
    if constexpr (kernels::runsOnHost<Execution>) {
      listHere(graph, exchange.plan.owned, static_cast<LocalIndex>(rows), direct && a.getCrsGraph()->isSorted());
    } else {
      interior = listed(graph, exchange.plan.owned, rows, false);
      boundary = listed(graph, exchange.plan.owned, rows, true);
    }
    // Kernels for CPUs know these types alone.
    if constexpr (kernels::runsOnHost<Execution> && std::is_same<Offset, std::size_t>::value &&
                  std::is_same<Column, int>::value) {
      interiorRuns = runsOf(graph, interior, exchange.plan.owned);
      boundaryRuns = runsOf(graph, boundary, exchange.plan.owned);
    }
  }

  /// Whether they are of this graph, as it is now.
  bool areOf(const CrsMatrix& a, const Graph& graph) const {
    return rowMap_.data() == graph.row_map.data() && rowMap_.extent(0) == graph.row_map.extent(0) &&
           entries_ == graph.entries.data() && count_ == graph.entries.extent(0) && columns_ == a.getColMap();
  }

  /// The interior or the boundary rows of the matrix, as the kernels take them.
  template <class Matrix>
  auto of(bool inside, const Matrix& a, LocalIndex owned) const {
    const List& list = inside ? interior : boundary;
    return kernels::SparseRows<Scalar, Offset, Column>{a.graph.row_map.data(),
                                                       a.graph.entries.data(),
                                                       a.values.data(),
                                                       list.extent(0) + 1 == rowMap_.extent(0) ? nullptr : list.data(),
                                                       direct ? nullptr : sources.data(),
                                                       owned,
                                                       inside ? &interiorRuns : &boundaryRuns,
                                                       kernels::isLarge<Scalar>(a.graph.entries.extent(0))};
  }

 private:
  /// Both lists in one pass. `ascending`: the last entry of a row has the largest source.
  void listHere(const Graph& graph, LocalIndex owned, LocalIndex rows, bool ascending) {
    std::vector<LocalIndex> inside, outside;
    inside.reserve(static_cast<std::size_t>(rows));
    for (LocalIndex row = 0; row < rows; ++row) {
      const Offset end = graph.row_map(row + 1);
      Offset k = graph.row_map(row);
      if (ascending && k < end) k = end - 1;
      bool needs = false;
      for (; k < end && !needs; ++k) needs = sources(graph.entries(k)) >= owned;
      (needs ? outside : inside).push_back(row);
    }
    interior = kernels::copied<List>(nodeQueue<Types>(), "capstan rows", inside);
    boundary = kernels::copied<List>(nodeQueue<Types>(), "capstan rows", outside);
  }

  kernels::RowRuns runsOf(const Graph& graph, const List& rows, LocalIndex owned) const {
    return {graph.row_map.data(),
            graph.entries.data(),
            rows.data(),
            static_cast<std::ptrdiff_t>(rows.extent(0)),
            direct ? nullptr : sources.data(),
            owned};
  }

  List listed(const Graph& graph, LocalIndex owned, std::size_t rows, bool wanted) const {
    auto& queue = nodeQueue<Types>();
    const List all = kernels::unfilled<List>("capstan rows", rows);
    std::ptrdiff_t count = 0;
    kernels::scanAndWait("capstan rows", queue, rows, ListRows<Graph, List, List>{graph, sources, owned, wanted, all},
                         count);
    const List some = kernels::unfilled<List>("capstan rows", count);
    kernels::copyAndWait(queue, some, Kokkos::subview(all, std::make_pair(std::size_t(0), some.extent(0))));
    return some;
  }

  // What tells the graph from another one. The ends of its rows are held, which Tpetra keeps on both sides for good, so
  // that no other graph's can stand where they stood; a view of its columns would keep the host from them.
  std::decay_t<decltype(std::declval<const Graph&>().row_map)> rowMap_;
  const Column* entries_ = nullptr;
  std::size_t count_ = 0;
  Teuchos::RCP<const Map> columns_;
};

template <class Types>
bool NodeAwareOperator<Types>::fits(const CrsMatrix* a, const MatrixExchange* exchange) {
  return a != nullptr && canExchange<Types>(*a) && exchange != nullptr &&
         exchange->plan.rank == a->getDomainMap()->getComm()->getRank() && exchange->maps == checksumOfMaps<Types>(*a);
}

template <class Types>
NodeAwareOperator<Types>::NodeAwareOperator(Teuchos::RCP<const CrsMatrix> a,
                                            std::shared_ptr<const MatrixExchange> exchange)
    : NodeAwareOperator(requireOnAllRanks(a, exchange.get()), exchange, FitsOnAllRanks()) {}

template <class Types>
NodeAwareOperator<Types>::NodeAwareOperator(Teuchos::RCP<const CrsMatrix> a,
                                            std::shared_ptr<const MatrixExchange> exchange, FitsOnAllRanks)
    : exchange_(std::move(exchange)) {
  exchangeMatrix(std::move(a));
  begin();
}

template <class Types>
NodeAwareOperator<Types>::NodeAwareOperator(Teuchos::RCP<const CrsMatrix> a) : a_(std::move(a)) {
  if (a_.is_null() || !canExchange<Types>(*a_)) refuseMatrix();
  exchange_ = exchangeOfItsImport<Types>(*a_);
  begin();
  messages_->reserve(1);
}

template <class Types>
void NodeAwareOperator<Types>::begin() {
  rows_ = std::make_unique<Rows>(*a_, *exchange_);
  messages_ = std::make_unique<topology::BlockExchange<Types>>(
      nodeQueue<Types>(), topology::Channel::of(*a_->getDomainMap()->getComm()),
      std::shared_ptr<const topology::RankPlan>(exchange_, &exchange_->plan),
      exchange_->neighbourhood ? topology::Carrier::Neighbourhood : topology::Carrier::Requests,
      exchange_->deviceAware);
}

template <class Types>
auto NodeAwareOperator<Types>::requireOnAllRanks(const Teuchos::RCP<const CrsMatrix>& a, const MatrixExchange* exchange)
    -> const Teuchos::RCP<const CrsMatrix>& {
  if (a.is_null() || !canExchange<Types>(*a)) refuseMatrix();
  const int here = fits(a.get(), exchange) ? 1 : 0;
  int everywhere = 0;
  Teuchos::reduceAll<int, int>(*a->getDomainMap()->getComm(), Teuchos::REDUCE_MIN, 1, &here, &everywhere);
  if (everywhere == 0) refuseExchange();
  return a;
}

template <class Types>
void NodeAwareOperator<Types>::exchangeMatrix(Teuchos::RCP<const CrsMatrix> a) {
  if (a.is_null() || !canExchange<Types>(*a)) refuseMatrix();
  if (!fits(a.get(), exchange_.get())) refuseExchange();
  a_ = std::move(a);
}

template <class Types>
NodeAwareOperator<Types>::~NodeAwareOperator() = default;

template <class Types>
auto NodeAwareOperator<Types>::getDomainMap() const -> Teuchos::RCP<const Map> {
  return a_->getDomainMap();
}

template <class Types>
auto NodeAwareOperator<Types>::getRangeMap() const -> Teuchos::RCP<const Map> {
  return a_->getRangeMap();
}

template <class Types>
std::size_t NodeAwareOperator<Types>::interiorRows() const {
  return rows_->interior.extent(0);
}

template <class Types>
void NodeAwareOperator<Types>::apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp mode, Scalar alpha,
                                     Scalar beta) const {
  // Without a plan, without communication, or nothing at all.
  if (mode != Teuchos::NO_TRANS || alpha == Scalar(0) || X.getNumVectors() != Y.getNumVectors() ||
      X.getNumVectors() == 0) {
    a_->apply(X, Y, mode, alpha, beta);
    return;
  }
  // Columns that are not evenly spaced are brought together first.
  if (!X.isConstantStride()) return apply(MultiVector(X, Teuchos::Copy), Y, mode, alpha, beta);
  if (!Y.isConstantStride()) {
    MultiVector copy(Y, Teuchos::Copy);
    multiply(X, copy, alpha, beta);
    Tpetra::deep_copy(Y, copy);
    return;
  }
  multiply(X, Y, alpha, beta);
}

template <class Types>
void NodeAwareOperator<Types>::apply(const MultiVector& X, MultiVector& Y, const VectorRecurrence<Types>& then) const {
  if (X.getNumVectors() != 1 || Y.getNumVectors() != 1) {
    throw std::invalid_argument("capstan: node-aware product: a recurrence is for one column, X has " +
                                std::to_string(X.getNumVectors()) + ", Y " + std::to_string(Y.getNumVectors()));
  }
  multiply(X, Y, Scalar(1), Scalar(0), then);
}

template <class Types>
void NodeAwareOperator<Types>::multiply(const MultiVector& X, MultiVector& Y, Scalar alpha, Scalar beta,
                                        const VectorRecurrence<Types>& then) const {
  using Own = typename topology::BlockExchange<Types>::Own;
  if (Y.getLocalLength() != compat::localNumRows(*a_)) {
    throw std::invalid_argument("capstan: node-aware product: Y has " + std::to_string(Y.getLocalLength()) +
                                " rows here, the matrix " + std::to_string(compat::localNumRows(*a_)));
  }
  if (shareMemory(X, Y)) {
    const MultiVector copy(X, Teuchos::Copy);
    return multiply(copy, Y, alpha, beta, then);
  }
  SweepList<Types> recurrence(Y.getLocalLength());
  if (!then.plain()) recurrence.recur(then, Y);
  const auto* const update = then.plain() ? nullptr : recurrence.list().begin();
  const auto heldX = compat::deviceView(X, Tpetra::Access::ReadOnly);
  const auto heldY = beta == Scalar(0) ? compat::deviceView(Y, Tpetra::Access::OverwriteAll)
                                       : compat::deviceView(Y, Tpetra::Access::ReadWrite);
  const auto heldA = compat::deviceMatrix(*a_);
  const auto& x = *heldX;
  const auto& y = *heldY;
  const auto& matrix = *heldA;
  if (!rows_->areOf(*a_, matrix.graph)) rows_ = std::make_unique<Rows>(*a_, *exchange_);
  const LocalIndex owned = exchange_->plan.owned;
  messages_->start(Own(x));
  auto& queue = nodeQueue<Types>();
  const Numbers own = rowsOf(x);
  const Numbers none, received(messages_->received().data(), messages_->received().size());
  const auto inner = rows_->of(true, matrix, owned), outer = rows_->of(false, matrix, owned);
  const auto count = static_cast<std::ptrdiff_t>(rows_->interior.extent(0));
  // A look at the messages costs a fraction of a microsecond.
  const auto part = messages_->usesNetwork() ? kernels::rowsBetweenLooks(queue, count) : count;
  for (std::ptrdiff_t from = 0; from < count; from += part) {
    kernels::multiplyRows(queue, inner, from, std::min(count, from + part), alpha, own, none, beta, y, update);
    if (from + part < count) messages_->advance();
  }
  messages_->finish();
  kernels::multiplyRows(queue, outer, 0, static_cast<std::ptrdiff_t>(rows_->boundary.extent(0)), alpha, own, received,
                        beta, y, update);
}

/// What the rank owns of X, row by row: one column as it is.
template <class Types>
template <class View>
auto NodeAwareOperator<Types>::rowsOf(const View& x) const -> Numbers {
  if (x.extent(1) == 1) return Numbers(x.data(), x.extent(0));
  const std::size_t size = x.extent(0) * x.extent(1);
  if (packed_.extent(0) < size) {
    packed_ = Packed();
    packed_ = kernels::unfilled<Packed>("capstan packed rows", size);
  }
  kernels::packRows(nodeQueue<Types>(), x, packed_);
  return Numbers(packed_.data(), size);
}

template <class Types>
void NodeAwareOperator<Types>::applyReceived(const MultiVector& X, const Received& received, MultiVector& Y) const {
  const LocalIndex owned = exchange_->plan.owned;
  const std::size_t columns = X.getNumVectors();
  if (X.getLocalLength() != static_cast<std::size_t>(owned) || Y.getLocalLength() != compat::localNumRows(*a_) ||
      received.extent(0) != exchange_->plan.needed.size() || Y.getNumVectors() != columns ||
      received.extent(1) != columns) {
    throw std::invalid_argument("capstan: product: X, what is received of it, and Y do not fit the matrix");
  }
  const auto heldX = compat::deviceView(X, Tpetra::Access::ReadOnly);
  const auto y = compat::deviceView(Y, Tpetra::Access::OverwriteAll);
  const auto heldA = compat::deviceMatrix(*a_);
  const auto& matrix = *heldA;
  if (!rows_->areOf(*a_, matrix.graph)) rows_ = std::make_unique<Rows>(*a_, *exchange_);
  auto& queue = nodeQueue<Types>();
  const auto one = Teuchos::ScalarTraits<Scalar>::one(), zero = Teuchos::ScalarTraits<Scalar>::zero();
  const Numbers own = rowsOf(*heldX);
  const Numbers others(received.data(), received.size());
  for (const bool inside : {true, false}) {
    const auto count = (inside ? rows_->interior : rows_->boundary).extent(0);
    kernels::multiplyRows(queue, rows_->of(inside, matrix, owned), 0, static_cast<std::ptrdiff_t>(count), one, own,
                          others, zero, *y);
  }
}

#define CAPSTAN_NODE_AWARE_OPERATOR(S, LO, GO, NO) template class NodeAwareOperator<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_NODE_AWARE_OPERATOR)

}  // namespace capstan
