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
#include <utility>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/copy.hpp"
#include "tpetra_ext/kernels/block_product.hpp"
#include "tpetra_ext/node_queue.hpp"
#include "tpetra_ext/operators/same_maps.hpp"

namespace capstan {
namespace {

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

/// Mixes what a matrix' graph holds into a sum: FNV-1a over local columns and the ends of rows.
template <class Matrix>
std::uint64_t mixed(std::uint64_t sum, const Matrix& matrix) {
  constexpr std::uint64_t prime = 1099511628211ULL;
  const auto graph = compat::hostGraph(matrix);
  for (std::size_t k = 0; k < graph->entries.extent(0); ++k) {
    sum = (sum ^ static_cast<std::uint64_t>(graph->entries(k))) * prime;
  }
  for (std::size_t i = 0; i < graph->row_map.extent(0); ++i) {
    sum = (sum ^ static_cast<std::uint64_t>(graph->row_map(i))) * prime;
  }
  return sum;
}

}  // namespace

/// Finds the zone layer by layer, from M's last stage to A, and fetches the rows of each. Of the rows of others their
/// entries' numbers are fetched: by them values can be fetched again and again without looking for anything.
template <class Types>
class GhostZone<Types>::Builder {
 public:
  using Map = typename Types::Map;
  using LocalOrdinal = typename Types::LocalOrdinal;
  using GlobalOrdinal = typename Types::GlobalOrdinal;

  /// A matrix on the zone so far.
  struct Layer {
    const CrsMatrix* own = nullptr;
    Teuchos::RCP<const CrsMatrix> others;  ///< rows of others, an entry's value being its number; null: no rank has any
    Teuchos::RCP<const Map> entries;       ///< of the numbers
  };

  explicit Builder(Teuchos::RCP<const Map> map) : map_(std::move(map)) {}

  /// The rows of f on the zone so far, whose columns then belong to it as well. Collective.
  Layer widen(const CrsMatrix& f, bool first) {
    Layer layer{&f, Teuchos::null, Teuchos::null};
    if (!first) {
      layer.entries = Teuchos::rcp(new Map(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(),
                                           compat::localNumEntries(f), 0, map_->getComm()));
      layer.others = rowsOfOthers(f, *layer.entries);
    }
    take(compat::localElementList(*f.getColMap()));
    if (!first) take(compat::localElementList(*layer.others->getColMap()));
    return layer;
  }

  /// Rows in the zone so far, those of this rank among them.
  std::size_t size() const { return compat::localNumElements(*map_) + others_.size(); }

  /// A map of the zone so far, this rank's elements first, in their order. Collective.
  Teuchos::RCP<const Map> zone() const {
    const auto own = compat::localElementList(*map_);
    std::vector<GlobalOrdinal> all(own.begin(), own.end());
    all.insert(all.end(), others_.begin(), others_.end());
    return mapOf(all, map_->getIndexBase());
  }

  /// The rows with the zone's numbers, without values. Collective.
  Rows numbered(const Layer& layer) const {
    std::vector<std::size_t> begin(1, 0);
    std::vector<int> columns;
    append(*layer.own, begin, columns);
    std::vector<GlobalOrdinal> numbers;
    if (!layer.others.is_null()) {
      append(*layer.others, begin, columns);
      const auto others = compat::hostMatrix(*layer.others);
      for (std::size_t k = 0; k < others->values.extent(0); ++k) {
        numbers.push_back(static_cast<GlobalOrdinal>(others->values(k)));
      }
    }
    Rows made;
    auto& queue = nodeQueue<Types>();
    made.begin = kernels::copied<decltype(made.begin)>(queue, "capstan zone rows", begin);
    made.columns = kernels::copied<decltype(made.columns)>(queue, "capstan zone columns", columns);
    made.values = kernels::unfilled<decltype(made.values)>("capstan zone values", columns.size());
    if (layer.others.is_null()) return made;
    const auto target = mapOf(numbers, 0);
    made.import = Teuchos::rcp(new Import(layer.entries, target));
    made.own = Teuchos::rcp(new Vector(layer.entries));
    made.others = Teuchos::rcp(new Vector(target));
    return made;
  }

 private:
  Teuchos::RCP<const Map> mapOf(const std::vector<GlobalOrdinal>& elements, GlobalOrdinal base) const {
    using View = Teuchos::ArrayView<const GlobalOrdinal>;
    return Teuchos::rcp(new Map(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(),
                                View(elements.data(), static_cast<Teuchos_Ordinal>(elements.size())), base,
                                map_->getComm()));
  }

  /// Entry k of this rank is first + k.
  static void numberEntries(CrsMatrix& matrix, GlobalOrdinal first) {
    const auto local = compat::hostMatrix(matrix);
    for (std::size_t k = 0; k < local->values.extent(0); ++k) {
      local->values(k) = static_cast<Scalar>(first + static_cast<GlobalOrdinal>(k));
    }
  }

  Teuchos::RCP<const CrsMatrix> rowsOfOthers(const CrsMatrix& f, const Map& entries) const {
    CrsMatrix numbers(f.getCrsGraph());
    numbers.fillComplete(f.getDomainMap(), f.getRangeMap());
    numberEntries(numbers, entries.getMinGlobalIndex());
    const auto target = mapOf(others_, map_->getIndexBase());
    Teuchos::RCP<CrsMatrix> rows;
    numbers.importAndFillComplete(rows, Import(f.getRowMap(), target), f.getDomainMap(), target);
    return rows;
  }

  template <class Columns>
  void take(const Columns& columns) {
    for (const GlobalOrdinal column : columns) {
      if (map_->isNodeGlobalElement(column) || place_.count(column) > 0) continue;
      place_[column] = static_cast<int>(size());
      others_.push_back(column);
    }
  }

  /// Adds the rows of a matrix, in its order.
  void append(const CrsMatrix& rows, std::vector<std::size_t>& begin, std::vector<int>& columns) const {
    const auto graph = compat::hostGraph(rows);
    const auto global = compat::localElementList(*rows.getColMap());
    for (std::size_t i = 0; i < compat::localNumRows(rows); ++i) {
      for (auto k = graph->row_map(i); k < graph->row_map(i + 1); ++k) {
        const GlobalOrdinal column = global[static_cast<Teuchos_Ordinal>(graph->entries(k))];
        const LocalOrdinal own = map_->getLocalElement(column);
        const bool here = own != Teuchos::OrdinalTraits<LocalOrdinal>::invalid();
        columns.push_back(here ? static_cast<int>(own) : place_.at(column));
      }
      begin.push_back(columns.size());
    }
  }

  Teuchos::RCP<const Map> map_;
  std::vector<GlobalOrdinal> others_;             // in the zone, in the order in which they were found
  std::unordered_map<GlobalOrdinal, int> place_;  // of these in the zone
};

template <class Types>
bool GhostZone<Types>::fits(const CrsMatrix& a, const ExplicitPreconditioner<Types>& m) {
  using Map = typename Types::Map;
  const auto same = [&a](const auto& map) { return sameHere(ComparedMap<Map>{map}, *a.getRowMap()); };
  const auto counts = [](const CrsMatrix& f) {
    return numbersEntries<Scalar, typename Types::GlobalOrdinal>(f.getGlobalNumEntries());
  };
  bool all = canExchange<Types>(a) && same(a.getDomainMap()) && same(m.getDomainMap()) && counts(a);
  for (const auto& stage : m.stages()) {
    const CrsMatrix& f = *stage.matrix;
    all = all && canExchange<Types>(f) && same(f.getDomainMap()) && same(f.getRowMap()) && counts(f);
  }
  return all;
}

template <class Types>
std::uint64_t GhostZone<Types>::checksumOfGraphs(const CrsMatrix& a, const ExplicitPreconditioner<Types>& m) {
  std::uint64_t sum = mixed(checksumOfMaps<Types>(a), a);
  sum = (sum ^ (m.scaling().is_null() ? 1U : 2U)) * 1099511628211ULL;
  for (const auto& stage : m.stages()) {
    sum = mixed(sum ^ checksumOfMaps<Types>(*stage.matrix), *stage.matrix);
  }
  return sum;
}

template <class Types>
GhostZone<Types>::GhostZone(const CrsMatrix& a, const ExplicitPreconditioner<Types>& m)
    : owned_(compat::localNumRows(a)) {
  Builder builder(a.getRowMap());
  const auto& stages = m.stages();
  std::vector<typename Builder::Layer> layers(stages.size());
  for (std::size_t k = stages.size(); k-- > 0;) layers[k] = builder.widen(*stages[k].matrix, k + 1 == stages.size());
  const std::size_t rows = builder.size();
  const auto rowsOfM = builder.zone();
  const auto layerOfA = builder.widen(a, false);

  using Graph = Tpetra::CrsGraph<typename Types::LocalOrdinal, typename Types::GlobalOrdinal, typename Types::Node>;
  const auto graph = Teuchos::rcp(new Graph(a.getRowMap(), builder.zone(), std::size_t(0)));
  graph->fillComplete(a.getDomainMap(), a.getRangeMap());
  const auto frame = Teuchos::rcp(new CrsMatrix(graph));
  frame->fillComplete(a.getDomainMap(), a.getRangeMap());
  frame_ = frame;

  a_ = builder.numbered(layerOfA);
  for (const auto& layer : layers) stages_.push_back(builder.numbered(layer));
  if (!m.scaling().is_null()) {
    scalingImport_ = Teuchos::rcp(new Import(m.scaling()->getMap(), rowsOfM));
    scalingHere_ = Teuchos::rcp(new Vector(rowsOfM));
    scaling_ = kernels::unfilled<Zone>("capstan zone scaling", rows);
  }
  for (Zone* vector : {&s_, &u_, &v_, &w_}) *vector = kernels::unfilled<Zone>("capstan zone vector", rows);
  refresh(a, m);
}

template <class Types>
void GhostZone<Types>::refresh(const CrsMatrix& a, const ExplicitPreconditioner<Types>& m) {
  refreshRows(a, a_);
  start_ = m.start();
  for (std::size_t k = 0; k < stages_.size(); ++k) {
    const auto& stage = m.stages()[k];
    refreshRows(*stage.matrix, stages_[k]);
    stages_[k].alpha = stage.alpha;
    stages_[k].beta = stage.beta;
    stages_[k].gamma = stage.gamma;
  }
  if (scalingImport_.is_null()) return;
  scalingHere_->doImport(*m.scaling(), *scalingImport_, Tpetra::INSERT);
  const auto here = compat::deviceColumn(std::as_const(*scalingHere_), Tpetra::Access::ReadOnly);
  kernels::copyAndWait(nodeQueue<Types>(), scaling_, *here);
}

template <class Types>
void GhostZone<Types>::refreshRows(const CrsMatrix& f, Rows& rows) {
  const auto& queue = nodeQueue<Types>();
  const std::size_t own = compat::localNumEntries(f);
  {
    const auto local = compat::deviceMatrix(f);
    kernels::copyAndWait(queue, Kokkos::subview(rows.values, std::make_pair(std::size_t(0), own)), local->values);
    if (rows.import.is_null()) return;
    const auto source = compat::deviceColumn(*rows.own, Tpetra::Access::OverwriteAll);
    kernels::copyAndWait(queue, *source, local->values);
  }
  rows.others->doImport(*rows.own, *rows.import, Tpetra::INSERT);
  const auto others = compat::deviceColumn(std::as_const(*rows.others), Tpetra::Access::ReadOnly);
  kernels::copyAndWait(queue, Kokkos::subview(rows.values, std::make_pair(own, rows.values.extent(0))), *others);
}

template <class Types>
void GhostZone<Types>::receiveBy(const MatrixExchange& exchange) {
  sources_ = kernels::copied<decltype(sources_)>(nodeQueue<Types>(), "capstan zone sources", exchange.columnSource);
}

template <class Types>
template <class X, class R>
void GhostZone<Types>::multiplyBy(const Rows& rows, const int* sources, int own, const X& x, const R& received,
                                  const Zone& y) {
  using Column =
      Kokkos::View<Scalar**, Kokkos::LayoutLeft, typename Types::DeviceType, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const kernels::SparseRows<Scalar, std::size_t, int> all{
      rows.begin.data(), rows.columns.data(), rows.values.data(), nullptr, sources, own};
  kernels::multiplyRows(nodeQueue<Types>(), all, 0, static_cast<std::ptrdiff_t>(rows.count()), rows.alpha, x, received,
                        Scalar(0), Column(y.data(), y.extent(0), std::size_t(1)));
}

template <class Types>
void GhostZone<Types>::multiply(const MultiVector& p, const MultiVector& ghosts, MultiVector& s) {
  using Numbers = Kokkos::View<const Scalar*, typename Types::DeviceType, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  if (sources_.extent(0) != owned_ + ghosts.getLocalLength() || p.getLocalLength() != owned_) {
    throw std::invalid_argument("capstan: ghost zone: p and what is received of it do not fill it");
  }
  const auto own = compat::deviceView(p, Tpetra::Access::ReadOnly);
  const auto others = compat::deviceView(ghosts, Tpetra::Access::ReadOnly);
  const auto result = compat::deviceView(s, Tpetra::Access::OverwriteAll);
  multiplyBy(a_, sources_.data(), static_cast<int>(owned_), Numbers(own->data(), owned_),
             Numbers(others->data(), others->extent(0)), s_);
  kernels::launch("capstan zone product", nodeQueue<Types>(), owned_,
                  CopyFirst<std::decay_t<decltype(*result)>, Zone>{*result, s_});
}

template <class Types>
void GhostZone<Types>::precondition(MultiVector& t) {
  const Zone none;
  kernels::launch("capstan zone scaling", nodeQueue<Types>(), u_.extent(0),
                  Scale<Zone, Zone>{u_, scaling_, s_, Scalar(1)});
  kernels::launch("capstan zone start", nodeQueue<Types>(), v_.extent(0), Scale<Zone, Zone>{v_, none, u_, start_});
  for (const Rows& stage : stages_) {
    multiplyBy(stage, nullptr, 0, v_, none, w_);
    if (stage.beta != Scalar(0) || stage.gamma != Scalar(0)) {
      kernels::launch("capstan zone terms", nodeQueue<Types>(), stage.count(),
                      AddTerms<Zone>{w_, v_, u_, stage.beta, stage.gamma});
    }
    std::swap(v_, w_);
  }
  const auto result = compat::deviceView(t, Tpetra::Access::OverwriteAll);
  kernels::launch("capstan zone result", nodeQueue<Types>(), owned_,
                  CopyFirst<std::decay_t<decltype(*result)>, Zone>{*result, v_});
}

#define CAPSTAN_GHOST_ZONE(S, LO, GO, NO) template class GhostZone<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_GHOST_ZONE)

}  // namespace capstan
