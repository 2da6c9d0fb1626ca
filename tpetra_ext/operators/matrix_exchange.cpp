#include "tpetra_ext/operators/matrix_exchange.hpp"

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Distributor.hpp>
#include <Tpetra_Import.hpp>
#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/topology/exchange/distributed_embedding.hpp"

namespace capstan {
namespace {

using topology::LocalIndex;
using topology::ValueId;

[[noreturn]] void refuse(const std::string& text) {
  throw std::invalid_argument("capstan: communication of a matrix: " + text);
}

/// FNV-1a over the global numbers of a map, in their order.
template <class Map>
std::uint64_t mixed(std::uint64_t sum, const Map& map) {
  constexpr std::uint64_t prime = 1099511628211ULL;
  const auto elements = compat::localElementList(map);
  sum = (sum ^ static_cast<std::uint64_t>(elements.size())) * prime;
  for (const auto element : elements) sum = (sum ^ static_cast<std::uint64_t>(element)) * prime;
  return sum;
}

/// What a rank needs of others, and which of its local columns that is for.
struct Needs {
  std::vector<ValueId> values;       // in the order of the columns
  std::vector<std::size_t> columns;  // beside them
};

/// Owners of the columns that are not this rank's. Collective.
template <class Types>
Needs needsOf(const typename Types::CrsMatrix& a, std::vector<LocalIndex>& columnSource) {
  using GlobalOrdinal = typename Types::GlobalOrdinal;
  using LocalOrdinal = typename Types::LocalOrdinal;
  const auto& domain = *a.getDomainMap();
  const auto columns = compat::localElementList(*a.getColMap());
  Needs needs;
  Teuchos::Array<GlobalOrdinal> remote;
  columnSource.resize(static_cast<std::size_t>(columns.size()));
  for (std::size_t c = 0; c < columnSource.size(); ++c) {
    const GlobalOrdinal column = columns[static_cast<typename decltype(columns)::size_type>(c)];
    if (const LocalOrdinal own = domain.getLocalElement(column);
        own != Teuchos::OrdinalTraits<LocalOrdinal>::invalid()) {
      columnSource[c] = static_cast<LocalIndex>(own);
    } else {
      remote.push_back(column);
      needs.columns.push_back(c);
    }
  }
  Teuchos::Array<int> owners(remote.size());
  Teuchos::Array<LocalOrdinal> there(remote.size());
  // Where an entry is missing there is no owner, -1, which the pattern refuses on all ranks.
  domain.getRemoteIndexList(remote(), owners(), there());
  for (typename Teuchos::Array<int>::size_type k = 0; k < owners.size(); ++k) {
    needs.values.push_back({owners[k], static_cast<LocalIndex>(there[k])});
  }
  return needs;
}

}  // namespace

std::size_t MatrixExchange::bytes() const {
  std::size_t numbers = columnSource.size() + plan.needed.size();
  for (const topology::StepMessages& step : plan.steps) {
    numbers += step.sends.peers.size() + step.sends.entries.size() + step.sources.size() + step.begin.size();
    numbers += step.sends.begin.size() * sizeof(std::size_t) / sizeof(LocalIndex);
  }
  return sizeof(*this) + numbers * sizeof(LocalIndex) + (embedded == nullptr ? 0 : embedded->bytes());
}

template <class Types>
bool canExchange(const typename Types::CrsMatrix& a) {
  if (!a.isFillComplete() || !a.getGraph()->getExporter().is_null()) return false;
  const auto& range = *a.getRangeMap();
  return range.isDistributed() || range.getComm()->getSize() == 1 || range.getGlobalNumElements() == 0;
}

template <class Types>
std::uint64_t checksumOfMaps(const typename Types::CrsMatrix& a) {
  return mixed(mixed(14695981039346656037ULL, *a.getDomainMap()), *a.getColMap());
}

template <class Types>
std::shared_ptr<const MatrixExchange> exchangeOfItsImport(const typename Types::CrsMatrix& a) {
  auto exchange = std::make_shared<MatrixExchange>();
  topology::RankPlan& plan = exchange->plan;
  plan.rank = a.getDomainMap()->getComm()->getRank();
  plan.owned = plan.slots = static_cast<LocalIndex>(compat::localNumElements(*a.getDomainMap()));
  exchange->columnSource.resize(compat::localNumElements(*a.getColMap()));
  std::iota(exchange->columnSource.begin(), exchange->columnSource.end(), LocalIndex(0));
  const auto import = a.getGraph()->getImporter();
  if (import.is_null()) return exchange;
  const auto to = import->getPermuteToLIDs(), from = import->getPermuteFromLIDs();
  for (std::size_t k = 0; k < static_cast<std::size_t>(to.size()); ++k) {
    exchange->columnSource[static_cast<std::size_t>(to[static_cast<int>(k)])] = from[static_cast<int>(k)];
  }
  topology::StepMessages& messages = plan.steps[static_cast<std::size_t>(topology::Step::Local)];
  // What is sent, and what comes, lies receiver by receiver, and sender by sender; here they ascend.
  const auto exports = import->getExportLIDs();
  const auto receivers = import->getExportPIDs();
  std::map<int, std::vector<LocalIndex>> sends;
  for (int k = 0; k < static_cast<int>(exports.size()); ++k) sends[receivers[k]].push_back(exports[k]);
  for (const auto& [receiver, entries] : sends) {
    for (const LocalIndex entry : entries) messages.sends.append(receiver, entry);
  }
  const auto remotes = import->getRemoteLIDs();
  const auto senders = import->getDistributor().getProcsFrom();
  const auto lengths = import->getDistributor().getLengthsFrom();
  std::map<int, std::pair<int, int>> comes;  // by sender: the first of its values, and how many there are
  int first = 0;
  for (int k = 0; k < static_cast<int>(senders.size()); ++k) {
    const int length = static_cast<int>(lengths[k]);
    if (length > 0) comes[senders[k]] = {first, length};
    first += length;
  }
  plan.needed.resize(static_cast<std::size_t>(remotes.size()));
  for (const auto& [sender, values] : comes) {
    messages.sources.push_back(sender);
    messages.begin.push_back(plan.slots);
    for (int k = values.first; k < values.first + values.second; ++k) {
      plan.needed[static_cast<std::size_t>(k)] = plan.slots++;
      exchange->columnSource[static_cast<std::size_t>(remotes[k])] = plan.owned + k;
    }
  }
  if (!messages.sources.empty()) messages.begin.push_back(plan.slots);
  return exchange;
}

template <class Types>
MatrixPattern<Types>::MatrixPattern(const CrsMatrix& a, int ranksPerNode) {
  if (!a.isFillComplete()) refuse("the matrix is not fill-complete");
  if (!canExchange<Types>(a)) refuse("its rows are not those of its range map, or each rank has all of them");
  if (ranksPerNode < 0) {
    refuse("ranks per node: " + std::to_string(ranksPerNode) +
           "; allowed: 1 or more, or 0 for those that share memory");
  }
  const auto& comm = *a.getDomainMap()->getComm();
  const auto channel = topology::Channel::of(comm);
  const std::size_t owned = compat::localNumElements(*a.getDomainMap());
  maps_ = checksumOfMaps<Types>(a);
  const auto mine = static_cast<unsigned long long>(maps_) * (2ULL * static_cast<unsigned>(comm.getRank()) + 1);
  unsigned long long all = 0;
  Teuchos::reduceAll<int, unsigned long long>(comm, Teuchos::REDUCE_SUM, 1, &mine, &all);
  mapsOfAll_ = all;
  Needs needs = needsOf<Types>(a, columnSource_);
  const topology::PeerLists lists = topology::listsOf(needs.values);
  const auto place = [&](const ValueId& value) {
    const std::size_t k = lists.find(value.owner);
    const auto list = lists.list(k);
    return lists.begin[k] +
           static_cast<std::size_t>(std::lower_bound(list.begin(), list.end(), value.index) - list.begin());
  };
  for (std::size_t k = 0; k < needs.columns.size(); ++k) {
    columnSource_[needs.columns[k]] = static_cast<LocalIndex>(owned + place(needs.values[k]));
  }
  topology::NodeMap map = ranksPerNode > 0     ? topology::NodeMap::uniform(comm.getSize(), ranksPerNode)
                          : channel == nullptr ? topology::NodeMap::uniform(1, 1)
                                               : channel->nodes();
  pattern_ =
      std::make_unique<topology::DistributedPattern>(channel, std::move(map), static_cast<LocalIndex>(owned), lists);
}

template <class Types>
std::shared_ptr<MatrixExchange> MatrixPattern<Types>::made(topology::RankPlan plan) const {
  auto exchange = std::make_shared<MatrixExchange>();
  exchange->plan = std::move(plan);
  exchange->columnSource = columnSource_;
  exchange->maps = maps_;
  exchange->mapsOfAll = mapsOfAll_;
  return exchange;
}

template <class Types>
std::shared_ptr<const MatrixExchange> MatrixPattern<Types>::exchange(const topology::PlanOptions& options) const {
  const auto exchange = made(pattern_->plan(options));
  exchange->deviceAware = options.deviceAware;
  return exchange;
}

template <class Types>
std::shared_ptr<const MatrixExchange> MatrixPattern<Types>::embedding(const topology::Positions& positions,
                                                                      topology::StepOrder order) const {
  topology::RankPlan none;  // without messages of its own
  none.rank = pattern_->channel() == nullptr ? 0 : pattern_->channel()->rank();
  none.owned = none.slots = pattern_->pattern().owned;
  none.needed.resize(pattern_->pattern().needs.entries.size());
  auto exchange = made(std::move(none));
  exchange->embedded = std::make_shared<const topology::EmbeddedPlan>(
      topology::embeddedPlan(pattern_->channel(), positions, pattern_->pattern(), order));
  return exchange;
}

#define CAPSTAN_MATRIX_EXCHANGE(S, LO, GO, NO)                                                                \
  template bool canExchange<TpetraTypes<S, LO, GO, NO>>(const Tpetra::CrsMatrix<S, LO, GO, NO>&);             \
  template std::uint64_t checksumOfMaps<TpetraTypes<S, LO, GO, NO>>(const Tpetra::CrsMatrix<S, LO, GO, NO>&); \
  template std::shared_ptr<const MatrixExchange> exchangeOfItsImport<TpetraTypes<S, LO, GO, NO>>(             \
      const Tpetra::CrsMatrix<S, LO, GO, NO>&);                                                               \
  template class MatrixPattern<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_MATRIX_EXCHANGE)

}  // namespace capstan
