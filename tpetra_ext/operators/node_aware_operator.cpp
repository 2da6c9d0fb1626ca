#include "tpetra_ext/operators/node_aware_operator.hpp"

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"

namespace capstan {
namespace {

using topology::LocalIndex;

/// Columns of X that are read beside one another.
constexpr int tile = 4;

/// Rows between two looks at the messages: some microseconds of work, as a look costs a fraction of one.
constexpr std::size_t rowsBetweenLooks = 2048;

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

/// Some rows of Y = beta Y + alpha A X. X consists of own entries, one column behind the other, and, where `Remote`, of
/// received ones, the columns of each side by side.
template <class Matrix, class Sources, class List, class Own, class Received, class Result, bool Remote>
struct MultiplyRows {
  using Scalar = typename Result::non_const_value_type;
  Matrix a;
  Sources sources;  // by local column; empty: columns are where their numbers say
  List rows;
  Own own;
  Received received;
  Result y;
  LocalIndex owned;
  Scalar alpha, beta;

  KOKKOS_INLINE_FUNCTION Scalar entry(LocalIndex source, std::size_t column) const {
    if constexpr (Remote) {
      if (source >= owned) return received(static_cast<std::size_t>(source - owned), column);
    }
    return own(static_cast<std::size_t>(source), column);
  }

  template <int Columns>
  KOKKOS_INLINE_FUNCTION void multiply(std::size_t row, std::size_t first) const {
    Scalar sum[Columns] = {};
    const bool direct = sources.extent(0) == 0;
    for (auto k = a.graph.row_map(row); k < a.graph.row_map(row + 1); ++k) {
      const auto column = a.graph.entries(k);
      const auto source = direct ? static_cast<LocalIndex>(column) : sources(column);
      const Scalar value = a.values(k);
      for (int j = 0; j < Columns; ++j) sum[j] += value * entry(source, first + static_cast<std::size_t>(j));
    }
    for (int j = 0; j < Columns; ++j) {
      Scalar& result = y(row, first + static_cast<std::size_t>(j));
      // What Y holds counts for nothing where beta is zero, NaN included.
      result = beta == Scalar(0) ? alpha * sum[j] : beta * result + alpha * sum[j];
    }
  }

  KOKKOS_FUNCTION void operator()(const std::size_t k) const {
    const auto row = static_cast<std::size_t>(rows(k));
    const std::size_t columns = y.extent(1);
    std::size_t j = 0;
    for (; j + tile <= columns; j += tile) multiply<tile>(row, j);
    for (; j < columns; ++j) multiply<1>(row, j);
  }
};

/// Whether two blocks share memory: the result must then not be written where X is still to be read.
template <class View, class Other>
bool overlap(const View& x, const Other& y) {
  if (x.span() == 0 || y.span() == 0) return false;
  const std::less<const void*> before;
  return before(x.data(), y.data() + y.span()) && before(y.data(), x.data() + x.span());
}

[[noreturn]] void refuseMatrix() {
  throw std::invalid_argument(
      "capstan: node-aware product: it needs a fill-complete matrix whose rows are those of its range map");
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
  using Graph = std::decay_t<decltype(std::declval<const CrsMatrix&>().getLocalMatrixDevice().graph)>;

  Graph graph;  // held, so that no other one can stand where it stood
  List sources, interior, boundary;
  bool direct = true;  // columns are where their numbers say

  Rows(const CrsMatrix& a, const MatrixExchange& exchange)
      : graph(a.getLocalMatrixDevice().graph), sources(std::string("capstan columns"), exchange.columnSource.size()) {
    const auto host = Kokkos::create_mirror_view(sources);
    for (std::size_t c = 0; c < exchange.columnSource.size(); ++c) {
      host(c) = exchange.columnSource[c];
      direct = direct && host(c) == static_cast<LocalIndex>(c);
    }
    Kokkos::deep_copy(sources, host);
    const std::size_t rows = compat::localNumRows(a);
    interior = listed(exchange.plan.owned, rows, false);
    boundary = listed(exchange.plan.owned, rows, true);
  }

  bool areOf(const Graph& other) const {
    return graph.row_map.data() == other.row_map.data() && graph.row_map.extent(0) == other.row_map.extent(0) &&
           graph.entries.data() == other.entries.data() && graph.entries.extent(0) == other.entries.extent(0);
  }

  List listed(LocalIndex owned, std::size_t rows, bool wanted) const {
    const List all(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string("capstan rows")), rows);
    std::ptrdiff_t count = 0;
    kernels::scanAndWait(
        "capstan rows",
        Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::ptrdiff_t>>(0, static_cast<std::ptrdiff_t>(rows)),
        ListRows<Graph, List, List>{graph, sources, owned, wanted, all}, count);
    const List some(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string("capstan rows")),
                    static_cast<std::size_t>(count));
    Kokkos::deep_copy(some, Kokkos::subview(all, std::make_pair(std::size_t(0), some.extent(0))));
    return some;
  }

  /// A kernel for these rows; see MultiplyRows.
  template <bool Remote, class Matrix, class Own, class Received, class Result>
  auto kernel(const List& rows, const Matrix& a, const Own& own, const Received& received, const Result& y,
              LocalIndex owned, Scalar alpha, Scalar beta) const {
    return MultiplyRows<Matrix, List, List, Own, Received, Result, Remote>{
        a, direct ? List() : sources, rows, own, received, y, owned, alpha, beta};
  }

  /// Rows from..to-1 of a kernel's list.
  template <class Kernel>
  static void run(const Kernel& kernel, std::size_t from, std::size_t to) {
    if (from == to) return;
    Kokkos::parallel_for("capstan multiply", Kokkos::RangePolicy<Execution>(from, to), kernel);
  }
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
  rows_ = std::make_unique<Rows>(*a_, *exchange_);
  messages_ = std::make_unique<topology::BlockExchange<Types>>(
      topology::Channel::of(*a_->getDomainMap()->getComm()),
      std::shared_ptr<const topology::RankPlan>(exchange_, &exchange_->plan));
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
void NodeAwareOperator<Types>::multiply(const MultiVector& X, MultiVector& Y, Scalar alpha, Scalar beta) const {
  using Own = typename topology::BlockExchange<Types>::Own;
  if (Y.getLocalLength() != compat::localNumRows(*a_)) {
    throw std::invalid_argument("capstan: node-aware product: Y has " + std::to_string(Y.getLocalLength()) +
                                " rows here, the matrix " + std::to_string(compat::localNumRows(*a_)));
  }
  if (overlap(X.getLocalViewDevice(Tpetra::Access::ReadOnly), Y.getLocalViewDevice(Tpetra::Access::ReadOnly))) {
    const MultiVector copy(X, Teuchos::Copy);
    return multiply(copy, Y, alpha, beta);
  }
  const auto x = X.getLocalViewDevice(Tpetra::Access::ReadOnly);
  const auto y = beta == Scalar(0) ? Y.getLocalViewDevice(Tpetra::Access::OverwriteAll)
                                   : Y.getLocalViewDevice(Tpetra::Access::ReadWrite);
  const auto matrix = a_->getLocalMatrixDevice();
  if (!rows_->areOf(matrix.graph)) rows_ = std::make_unique<Rows>(*a_, *exchange_);
  const LocalIndex owned = exchange_->plan.owned;
  const Own own = x;
  messages_->start(own);
  const auto inner =
      rows_->template kernel<false>(rows_->interior, matrix, own, messages_->received(), y, owned, alpha, beta);
  const std::size_t count = rows_->interior.extent(0);
  const std::size_t part = messages_->usesNetwork() ? rowsBetweenLooks : std::max<std::size_t>(count, 1);
  for (std::size_t from = 0; from < count; from += part) {
    Rows::run(inner, from, std::min(count, from + part));
    if (from + part < count) messages_->advance();
  }
  messages_->finish();
  Rows::run(rows_->template kernel<true>(rows_->boundary, matrix, own, messages_->received(), y, owned, alpha, beta), 0,
            rows_->boundary.extent(0));
}

template <class Types>
void NodeAwareOperator<Types>::applyReceived(const MultiVector& X, const Received& received, MultiVector& Y) const {
  using Own = typename topology::BlockExchange<Types>::Own;
  const LocalIndex owned = exchange_->plan.owned;
  const std::size_t columns = X.getNumVectors();
  if (X.getLocalLength() != static_cast<std::size_t>(owned) || Y.getLocalLength() != compat::localNumRows(*a_) ||
      received.extent(0) != exchange_->plan.needed.size() || Y.getNumVectors() != columns ||
      received.extent(1) != columns) {
    throw std::invalid_argument("capstan: product: X, what is received of it, and Y do not fit the matrix");
  }
  const Own own = X.getLocalViewDevice(Tpetra::Access::ReadOnly);
  const auto y = Y.getLocalViewDevice(Tpetra::Access::OverwriteAll);
  const auto matrix = a_->getLocalMatrixDevice();
  if (!rows_->areOf(matrix.graph)) rows_ = std::make_unique<Rows>(*a_, *exchange_);
  const auto one = Teuchos::ScalarTraits<Scalar>::one(), zero = Teuchos::ScalarTraits<Scalar>::zero();
  Rows::run(rows_->template kernel<false>(rows_->interior, matrix, own, received, y, owned, one, zero), 0,
            rows_->interior.extent(0));
  Rows::run(rows_->template kernel<true>(rows_->boundary, matrix, own, received, y, owned, one, zero), 0,
            rows_->boundary.extent(0));
}

#define CAPSTAN_NODE_AWARE_OPERATOR(S, LO, GO, NO) template class NodeAwareOperator<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_NODE_AWARE_OPERATOR)

}  // namespace capstan
