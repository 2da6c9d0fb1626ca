#include "tpetra_ext/operators/ghost_zone.hpp"

#include <Teuchos_OrdinalTraits.hpp>
#include <Tpetra_CrsGraph.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Import.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Vector.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/block_product.hpp"

namespace capstan {
namespace {

template <class Types>
using Range = Kokkos::RangePolicy<typename Types::ExecutionSpace, Kokkos::IndexType<std::size_t>>;

/// out = factor D in, or factor in where there is no D.
template <class Out, class In>
struct Scale {
  Out out, scaling;
  In in;
  typename Out::non_const_value_type factor;
  KOKKOS_FUNCTION void operator()(const std::size_t i) const {
    out(i) = scaling.extent(0) == 0 ? factor * in(i) : factor * (scaling(i) * in(i));
  }
};

/// product += beta v + gamma u.
template <class Zone>
struct AddTerms {
  Zone product, v, u;
  typename Zone::non_const_value_type beta, gamma;
  KOKKOS_FUNCTION void operator()(const std::size_t i) const { product(i) += beta * v(i) + gamma * u(i); }
};

/// to = from, as long as `to` is.
template <class To, class From>
struct CopyFirst {
  To to;
  From from;
  KOKKOS_FUNCTION void operator()(const std::size_t i) const { to(i, 0) = from(i); }
};

template <class View, class Value>
View onDevice(const char* name, const std::vector<Value>& values) {
  const View view(Kokkos::view_alloc(Kokkos::WithoutInitializing, std::string(name)), values.size());
  const auto host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < values.size(); ++i) host(i) = values[i];
  Kokkos::deep_copy(view, host);
  return view;
}

/// Mixes what a graph holds into a sum: FNV-1a over local columns and the ends of rows.
template <class Graph>
std::uint64_t mixed(std::uint64_t sum, const Graph& graph) {
  constexpr std::uint64_t prime = 1099511628211ULL;
  for (std::size_t k = 0; k < graph.entries.extent(0); ++k) {
    sum = (sum ^ static_cast<std::uint64_t>(graph.entries(k))) * prime;
  }
  for (std::size_t i = 0; i < graph.row_map.extent(0); ++i) {
    sum = (sum ^ static_cast<std::uint64_t>(graph.row_map(i))) * prime;
  }
  return sum;
}

}  // namespace

/// Finds the zone layer by layer, from M's last stage to A, and fetches the rows of each.
template <class Types>
class GhostZone<Types>::Builder {
 public:
  using Map = typename Types::Map;
  using LocalOrdinal = typename Types::LocalOrdinal;
  using GlobalOrdinal = typename Types::GlobalOrdinal;
  using Matrix = Teuchos::RCP<const CrsMatrix>;

  explicit Builder(Teuchos::RCP<const Map> map) : map_(std::move(map)) {
    const auto own = compat::localElementList(*map_);
    elements_.assign(own.begin(), own.end());
  }

  /// The rows of f on the zone so far, whose columns then belong to it as well. Collective.
  Matrix widen(const CrsMatrix& f) {
    Matrix rows = rowsOf(f);
    const auto columns = compat::localElementList(*rows->getColMap());
    for (const GlobalOrdinal column : columns) {
      if (map_->isNodeGlobalElement(column) || place_.count(column) > 0) continue;
      place_[column] = static_cast<int>(elements_.size());
      elements_.push_back(column);
    }
    first_ = false;
    return rows;
  }

  std::size_t size() const { return elements_.size(); }
  /// A map of the zone's elements, those of this rank first, in their order. Collective.
  Teuchos::RCP<const Map> zone() const {
    using View = Teuchos::ArrayView<const GlobalOrdinal>;
    const auto unknown = Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid();
    return Teuchos::rcp(new Map(unknown, View(elements_.data(), static_cast<Teuchos_Ordinal>(elements_.size())),
                                map_->getIndexBase(), map_->getComm()));
  }

  Rows numbered(const CrsMatrix& rows) const {
    const auto matrix = rows.getLocalMatrixHost();
    const auto global = compat::localElementList(*rows.getColMap());
    std::vector<int> places(static_cast<std::size_t>(global.size()));
    for (std::size_t c = 0; c < places.size(); ++c) {
      const GlobalOrdinal column = global[static_cast<Teuchos_Ordinal>(c)];
      const LocalOrdinal own = map_->getLocalElement(column);
      places[c] = own != Teuchos::OrdinalTraits<LocalOrdinal>::invalid() ? static_cast<int>(own) : place_.at(column);
    }
    const auto& graph = matrix.graph;
    const std::size_t count = compat::localNumRows(rows);
    std::vector<std::size_t> begin(count + 1, 0);
    std::vector<int> columns;
    std::vector<Scalar> values;
    for (std::size_t i = 0; i < count; ++i) {
      for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
        columns.push_back(places[static_cast<std::size_t>(graph.entries(k))]);
        values.push_back(matrix.values(k));
      }
      begin[i + 1] = columns.size();
    }
    Rows made;
    made.begin = onDevice<decltype(made.begin)>("capstan zone rows", begin);
    made.columns = onDevice<decltype(made.columns)>("capstan zone columns", columns);
    made.values = onDevice<decltype(made.values)>("capstan zone values", values);
    return made;
  }

 private:
  Matrix rowsOf(const CrsMatrix& f) const {
    if (first_) return Teuchos::rcpFromRef(f);  // its own rows, on every rank
    const auto target = zone();
    const Tpetra::Import<LocalOrdinal, GlobalOrdinal, typename Types::Node> import(f.getRowMap(), target);
    Teuchos::RCP<CrsMatrix> rows;
    f.importAndFillComplete(rows, import, f.getDomainMap(), target);
    return rows;
  }

  Teuchos::RCP<const Map> map_;
  std::vector<GlobalOrdinal> elements_;
  std::unordered_map<GlobalOrdinal, int> place_;  // of what others own
  bool first_ = true;
};

template <class Types>
bool GhostZone<Types>::fits(const CrsMatrix& a, const ExplicitPreconditioner<Types>& m) {
  const auto same = [&a](const auto& map) {
    return map->getGlobalNumElements() == a.getRowMap()->getGlobalNumElements() && map->locallySameAs(*a.getRowMap());
  };
  bool all = canExchange<Types>(a) && same(a.getDomainMap()) && same(m.getDomainMap());
  for (const auto& stage : m.stages()) {
    const CrsMatrix& f = *stage.matrix;
    all = all && canExchange<Types>(f) && same(f.getDomainMap()) && same(f.getRowMap());
  }
  return all;
}

template <class Types>
std::uint64_t GhostZone<Types>::checksumOfGraphs(const CrsMatrix& a, const ExplicitPreconditioner<Types>& m) {
  std::uint64_t sum = mixed(checksumOfMaps<Types>(a), a.getLocalMatrixHost().graph);
  for (const auto& stage : m.stages()) {
    sum = mixed(sum ^ checksumOfMaps<Types>(*stage.matrix), stage.matrix->getLocalMatrixHost().graph);
  }
  return sum;
}

template <class Types>
GhostZone<Types>::GhostZone(const CrsMatrix& a, const ExplicitPreconditioner<Types>& m)
    : owned_(compat::localNumRows(a)), start_(m.start()) {
  Builder builder(a.getRowMap());
  const auto& stages = m.stages();
  std::vector<typename Builder::Matrix> fetched(stages.size());
  for (std::size_t k = stages.size(); k-- > 0;) fetched[k] = builder.widen(*stages[k].matrix);
  const std::size_t rows = builder.size();
  const auto rowsOfM = builder.zone();
  const auto rowsOfA = builder.widen(a);

  const auto columns = builder.zone();
  using Graph = Tpetra::CrsGraph<typename Types::LocalOrdinal, typename Types::GlobalOrdinal, typename Types::Node>;
  const auto graph = Teuchos::rcp(new Graph(a.getRowMap(), columns, std::size_t(0)));
  graph->fillComplete(a.getDomainMap(), a.getRangeMap());
  const auto frame = Teuchos::rcp(new CrsMatrix(graph));
  frame->fillComplete(a.getDomainMap(), a.getRangeMap());
  frame_ = frame;

  a_ = builder.numbered(*rowsOfA);
  for (std::size_t k = 0; k < stages.size(); ++k) {
    stages_.push_back(builder.numbered(*fetched[k]));
    stages_.back().alpha = stages[k].alpha;
    stages_.back().beta = stages[k].beta;
    stages_.back().gamma = stages[k].gamma;
  }
  if (!m.scaling().is_null()) {
    const Tpetra::Import<typename Types::LocalOrdinal, typename Types::GlobalOrdinal, typename Types::Node> import(
        m.scaling()->getMap(), rowsOfM);
    typename Types::Vector scaling(rowsOfM);
    scaling.doImport(*m.scaling(), import, Tpetra::INSERT);
    scaling_ = Zone("capstan zone scaling", rows);
    Kokkos::deep_copy(scaling_,
                      Kokkos::subview(scaling.getLocalViewDevice(Tpetra::Access::ReadOnly), Kokkos::ALL(), 0));
  }
  for (Zone* vector : {&s_, &u_, &v_, &w_}) *vector = Zone("capstan zone vector", rows);
}

template <class Types>
void GhostZone<Types>::receiveBy(const MatrixExchange& exchange) {
  sources_ = onDevice<decltype(sources_)>("capstan zone sources", exchange.columnSource);
}

template <class Types>
template <class X, class R>
void GhostZone<Types>::multiplyBy(const Rows& rows, const int* sources, int own, const X& x, const R& received,
                                  const Zone& y) {
  using Column =
      Kokkos::View<Scalar**, Kokkos::LayoutLeft, typename Types::DeviceType, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const kernels::SparseRows<Scalar, std::size_t, int> all{
      rows.begin.data(), rows.columns.data(), rows.values.data(), nullptr, sources, own};
  kernels::multiplyRows(typename Types::ExecutionSpace(), all, 0, static_cast<std::ptrdiff_t>(rows.count()), rows.alpha,
                        x, received, Scalar(0), Column(y.data(), y.extent(0), std::size_t(1)));
}

template <class Types>
void GhostZone<Types>::multiply(const MultiVector& p, const MultiVector& ghosts, MultiVector& s) {
  using Numbers = Kokkos::View<const Scalar*, typename Types::DeviceType, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  if (sources_.extent(0) != owned_ + ghosts.getLocalLength() || p.getLocalLength() != owned_) {
    throw std::invalid_argument("capstan: ghost zone: p and what is received of it do not fill it");
  }
  const auto own = p.getLocalViewDevice(Tpetra::Access::ReadOnly);
  const auto others = ghosts.getLocalViewDevice(Tpetra::Access::ReadOnly);
  const auto result = s.getLocalViewDevice(Tpetra::Access::OverwriteAll);
  multiplyBy(a_, sources_.data(), static_cast<int>(owned_), Numbers(own.data(), owned_),
             Numbers(others.data(), others.extent(0)), s_);
  Kokkos::parallel_for("capstan zone product", Range<Types>(0, owned_),
                       CopyFirst<std::decay_t<decltype(result)>, Zone>{result, s_});
}

template <class Types>
void GhostZone<Types>::precondition(MultiVector& t) {
  const Zone none;
  Kokkos::parallel_for("capstan zone scaling", Range<Types>(0, u_.extent(0)),
                       Scale<Zone, Zone>{u_, scaling_, s_, Scalar(1)});
  Kokkos::parallel_for("capstan zone start", Range<Types>(0, v_.extent(0)), Scale<Zone, Zone>{v_, none, u_, start_});
  for (const Rows& stage : stages_) {
    multiplyBy(stage, nullptr, 0, v_, none, w_);
    if (stage.beta != Scalar(0) || stage.gamma != Scalar(0)) {
      Kokkos::parallel_for("capstan zone terms", Range<Types>(0, stage.count()),
                           AddTerms<Zone>{w_, v_, u_, stage.beta, stage.gamma});
    }
    std::swap(v_, w_);
  }
  const auto result = t.getLocalViewDevice(Tpetra::Access::OverwriteAll);
  Kokkos::parallel_for("capstan zone result", Range<Types>(0, owned_),
                       CopyFirst<std::decay_t<decltype(result)>, Zone>{result, v_});
}

#define CAPSTAN_GHOST_ZONE(S, LO, GO, NO) template class GhostZone<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_GHOST_ZONE)

}  // namespace capstan
