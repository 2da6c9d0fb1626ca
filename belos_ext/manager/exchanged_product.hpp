#pragma once
/// \file
/// The product with A in the way that "Communication Strategy" asks for, from solve to solve; and, for a method that
/// asks for it, the product whose messages travel inside reductions.
///
/// A plan depends on the maps of A alone. It is kept as plain data in the state cache, so that a solver made anew finds
/// it; a solver that lives on keeps the product itself, with its messages, as long as A is on the same map objects.
/// Values are always those that A has. What the ranks have found by their own maps is compared in the first reduction
/// of the solve (Agreement); where they do not have the same they look again by the maps of all, which takes two
/// reductions more, and then make a new plan. Until they agree A computes its products itself, so that ranks whose
/// parameters differ find that out.

#include <Teuchos_CommHelpers.hpp>
#include <Teuchos_RCP.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>

#include "belos_ext/manager/kept_exchange.hpp"
#include "belos_ext/manager/wanted_exchange.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/report/event_text.hpp"
#include "belos_ext/report/solve_report.hpp"
#include "belos_ext/support/checksum.hpp"
#include "tpetra_ext/operators/embedded_operator.hpp"
#include "tpetra_ext/operators/exchange_traffic.hpp"
#include "tpetra_ext/operators/ghost_zone.hpp"
#include "tpetra_ext/operators/node_aware_operator.hpp"
#include "tpetra_ext/operators/preconditioned_operator.hpp"
#include "tpetra_ext/operators/tuned_exchange.hpp"

namespace capstan {

template <class Types>
class ExchangedProduct {
 public:
  using Operator = typename Types::Operator;
  using CrsMatrix = typename Types::CrsMatrix;
  using Map = typename Types::Map;

  /// The operator of the solve that begins is `a`: holds on to no earlier one. Local.
  void meet(const Teuchos::RCP<const Operator>& a) {
    matrix_ = Teuchos::null;
    explicit_ = Teuchos::null;
    const Operator* const object = a.get();
    // A class derived from it may compute its products in another way.
    if (object != nullptr && typeid(*object) == typeid(CrsMatrix))
      matrix_ = Teuchos::rcp_dynamic_cast<const CrsMatrix>(a);
    if (product_.is_null() && embedded_ == nullptr) {
      zone_.reset();
      return;
    }
    if (matrix_.is_null() || matrix_->getDomainMap() != domain_ || matrix_->getColMap() != column_ ||
        !canExchange<Types>(*matrix_)) {
      disconnect();
      zone_.reset();  // its messages are those of the old communicator
      return;
    }
    if (!product_.is_null() && matrix_.get() != &product_->matrix()) product_->exchangeMatrix(matrix_);
    if (embedded_ != nullptr && !zones_ && matrix_.get() != &embedded_->matrix()) embedded_->exchangeMatrix(matrix_);
  }

  /// Begins a solve, with what is known of the operator. Local.
  /// \param columns that will be multiplied together   \param embeds whether products are to travel inside reductions
  /// \param op computes A's own products until the ranks agree
  void open(const SolverOptions& options, int columns, bool embeds, PreconditionedOperator<Types>& op,
            SolveReport& report) {
    op_ = &op;
    op.exchangeProduct(Teuchos::null);
    op.embedProduct(nullptr);
    explicit_ = Teuchos::null;
    keep_ = options.stateCache;
    settled_ = false;
    fromEarlier_ = false;
    complaint_.clear();
    sent_ = {};
    report.communication.strategy = toString(options.communicationStrategy);
    takes_ = embeds || options.communicationStrategy != CommunicationStrategy::Application;
    if (takes_) complaint_ = whyNot();
    takes_ = takes_ && complaint_.empty();
    if (!takes_) return drop();
    zones_ = embeds && op.hasExplicitPreconditioner();
    zoneRefused_ = false;
    if (zones_) explicit_ = op.explicitPreconditioner();
    if (!explicit_.is_null() && !GhostZone<Types>::fits(*matrix_, *explicit_)) explicit_ = Teuchos::null;
    const ExchangeWanted wanted = wantedFor(options, columns, embeds);
    if (!(wanted == wanted_)) drop();
    wanted_ = wanted;
    if (kept_ == nullptr) kept_ = findByMyMaps();
  }

  /// Of what the solve would use; the same on all ranks that may use it together. Local.
  std::uint64_t checksum() const {
    Checksum checksum;
    if (takes_) checksum.add(toString(wanted_.strategy));
    if (kept_ != nullptr) checksum.add(kept_->checksum());
    checksum.add(static_cast<std::uint64_t>((product_.is_null() ? 0 : 1) + (embedded_ == nullptr ? 0 : 2) +
                                            (zone_ == nullptr ? 0 : 4)));
    return checksum.value();
  }

  /// The ranks have the same parameters, and have all brought the same or not: from now on products are computed as
  /// asked for. Does nothing the second time in a solve. Collective where there is no plan yet, or no product.
  void agree(bool same) {
    if (!takes_ || settled_) return;
    settled_ = true;
    if (zones_) same = takeZone(same) && same;
    fromEarlier_ = (same && kept_ != nullptr) || findByAllMaps();
    if (!fromEarlier_ && !make()) return;
    connect();
    if (!product_.is_null()) sent_ = product_->counters();
    if (embedded_ != nullptr) carried_ = embedded_->counters();
    op_->exchangeProduct(product_);
    op_->embedProduct(embedded_, zone_);
  }

  /// Ends a solve: tells the report. Local.
  void close(SolveReport& report) const {
    CommunicationReport& told = report.communication;
    if (!complaint_.empty()) {
      told.reason = "the operator's own: " + complaint_;
      report.events.push_back(reportEvent(0, -1, Event(EventKind::CommunicationStrategy).by(told.reason)));
      return;
    }
    if (!takes_) return;
    if (!settled_) {
      told.reason = "the operator's own: the solve ended before its first reduction";
      return;
    }
    told.fromEarlier = fromEarlier_;
    if (embedded_ != nullptr) tellEmbedded(told.embedded);
    if (wanted_.strategy == CommunicationStrategy::Application) return;
    const TunedExchange& tuned = kept_->tuned;
    told.used = tuned.name;
    told.reason = tuned.reason;
    told.nodes = tuned.exchange == nullptr ? 0 : tuned.nodes;
    told.ranksPerNode = tuned.exchange == nullptr ? 0 : tuned.largestNode;
    const bool cuts = wanted_.strategy == CommunicationStrategy::Optimal || !tuned.candidates.empty();
    told.messageSizeCutoff = cuts ? tuned.eagerLimit : 0;
    told.setupSeconds = tuned.setupSeconds;
    told.paidBackBy = tuned.paidBackBy();
    for (const ExchangeCandidate& one : tuned.candidates) told.tried.emplace_back(one.name, one.seconds);
    if (product_.is_null()) return;
    told.messageMemory = product_->messageMemory();
    told.products = product_->counters().exchanges - sent_.exchanges;
    told.columns = product_->counters().columns - sent_.columns;
    told.traffic = kept_->traffic.times(told.products, told.columns);
  }

  /// Lets go of product and plan; the state cache keeps its own. Local.
  void drop() {
    disconnect();
    zone_.reset();
    kept_.reset();
    wanted_ = {};
  }

  /// The state cache forgets, too. Local.
  void forget() {
    if (wanted_.embeds || wanted_.strategy != CommunicationStrategy::Application) {
      StateCache& cache = StateCache::instance();
      if (const auto maps = knownExchange<MapsOfAll>(wanted_.keyOfMyMaps(), mapsName))
        cache.erase(wanted_.key(maps->value));
      cache.erase(wanted_.keyOfMyMaps());
    }
    drop();
  }

 private:
  void tellEmbedded(EmbeddedReport& told) const {
    const EmbeddingFacts& facts = kept_->embedded.facts;
    told.used = true;
    told.preconditioner = zone_ != nullptr;
    told.preconditionerApart = preconditionerApart();
    told.mapping = toString(wanted_.mapping);
    told.messages = facts.messages;
    told.neighbours = facts.neighbours;
    told.meanNeighbours = facts.meanNeighbours;
    told.halo = facts.halo;
    told.values = facts.values;
    told.setupSeconds = kept_->embedded.setupSeconds;
    told.reductions = embedded_->counters().exchanges - carried_.exchanges;
    told.columns = embedded_->counters().columns - carried_.columns;
  }

  /// Why M is not embedded with A, the same on all ranks; empty where it is, or sends nothing. Local.
  std::string preconditionerApart() const {
    const bool none = !op_->hasLeft() && !op_->hasRight();
    if (none || zone_ != nullptr || op_->hasDiagonalPreconditioner()) return "";
    if (op_->hasLeft() && op_->hasRight()) return "there are two";
    if (zoneRefused_) return "it is explicit, but not on the rows of the matrix on every rank";
    return "it is not explicit";
  }

  static constexpr const char* planName = "communication plan";
  static constexpr const char* mapsName = "maps of all";

  std::string whyNot() const {
    if (matrix_.is_null()) return "it is not a Tpetra::CrsMatrix";
    if (!matrix_->isFillComplete()) return "the matrix is not fill-complete";
    if (!canExchange<Types>(*matrix_)) {
      return "the rows of the matrix are not those of its range map, or each rank has all of them";
    }
    return "";
  }

  ExchangeWanted wantedFor(const SolverOptions& options, int columns, bool embeds) {
    const CommunicationStrategy strategy = options.communicationStrategy;
    const bool tuned = strategy == CommunicationStrategy::Tuned;
    const Map& domain = *matrix_->getDomainMap();
    if (matrix_->getDomainMap() != domain_ || matrix_->getColMap() != column_) {
      domain_ = matrix_->getDomainMap();
      column_ = matrix_->getColMap();
      maps_ = checksumOfMaps<Types>(*matrix_);
    }
    return {strategy,
            options.ranksPerNode,
            options.messageSizeCutoff,
            tuned || strategy == CommunicationStrategy::Optimal ? columns : 1,
            tuned ? static_cast<long long>(matrix_->getGlobalNumEntries()) : 0,
            explicit_.is_null() ? maps_ : GhostZone<Types>::checksumOfGraphs(*matrix_, *explicit_),
            static_cast<long long>(domain.getGlobalNumElements()),
            domain.getComm()->getSize(),
            domain.getComm()->getRank(),
            embeds,
            embeds ? options.hypercubeMapping : HypercubeMapping::None,
            options.deviceAwareMpi};
  }

  /// The plan for the maps of all ranks, or null where it is not here. Local.
  std::shared_ptr<const KeptExchange> find(std::uint64_t mapsOfAll) const {
    auto found = knownExchange<KeptExchange>(wanted_.key(mapsOfAll), planName);
    if (found == nullptr) return nullptr;
    const auto fits = [](const auto& a, const auto& exchange) {
      return exchange == nullptr || NodeAwareOperator<Types>::fits(a.get(), exchange.get());
    };
    // Before the ranks agree there is no zone yet to compare with; the graphs it is made of are in the key.
    const bool compares = explicit_.is_null() || zone_ != nullptr;
    if (!fits(matrix_, found->tuned.exchange)) return nullptr;
    return compares && !fits(frame(), found->embedded.exchange) ? nullptr : found;
  }

  /// The plan last used with this rank's maps: that of another matrix where the maps differ on other ranks alone.
  /// Local.
  std::shared_ptr<const KeptExchange> findByMyMaps() const {
    if (!keep_) return nullptr;
    const auto maps = knownExchange<MapsOfAll>(wanted_.keyOfMyMaps(), mapsName);
    return maps == nullptr ? nullptr : find(maps->value);
  }

  /// Whether all ranks have one and the same plan for the maps of all; it is then to be used. Collective, two
  /// reductions.
  bool findByAllMaps() {
    disconnect();
    kept_.reset();
    const Teuchos::Comm<int>& comm = *domain_->getComm();
    const auto mine =
        static_cast<unsigned long long>(wanted_.maps) * (2ULL * static_cast<unsigned>(comm.getRank()) + 1);
    unsigned long long all = 0;
    Teuchos::reduceAll<int, unsigned long long>(comm, Teuchos::REDUCE_SUM, 1, &mine, &all);
    mapsOfAll_ = all;
    if (keep_) kept_ = find(mapsOfAll_);
    const auto number = static_cast<long long>(kept_ == nullptr ? 0 : kept_->checksum());
    const long long bounds[2] = {number, -number};
    long long least[2] = {0, 0};
    Teuchos::reduceAll<int, long long>(comm, Teuchos::REDUCE_MIN, 2, bounds, least);
    if (least[0] == 0 || least[0] != -least[1]) {
      kept_.reset();
      return false;
    }
    keepExchange(wanted_.keyOfMyMaps(), mapsName, std::make_shared<MapsOfAll>(mapsOfAll_));
    return true;
  }

  /// The products that there are plans for, where they are missing. Call it on all ranks alike.
  void connect() {
    if (product_.is_null() && kept_->tuned.exchange != nullptr) {
      product_ = Teuchos::rcp(new NodeAwareOperator<Types>(matrix_, kept_->tuned.exchange,
                                                           typename NodeAwareOperator<Types>::FitsOnAllRanks()));
    }
    if (embedded_ == nullptr && kept_->embedded.exchange != nullptr) {
      embedded_ = std::make_shared<EmbeddedOperator<Types>>(frame(), kept_->embedded.exchange);
    }
    if (zone_ == nullptr || embedded_ == nullptr) return;
    embedded_->exchangeMatrix(frame());
    zone_->receiveBy(embedded_->exchange());
  }

  /// What the plan of the embedded product is for.
  const Teuchos::RCP<const CrsMatrix>& frame() const { return zone_ != nullptr ? zone_->frame() : matrix_; }

  /// The zone that both A and an explicit M reach, with their values of this solve: that of the last solve, where all
  /// ranks have it still. False, on all ranks, where one of them has M on other maps: then A's own halo is what
  /// travels. Collective.
  bool takeZone(bool same) {
    if (same && zone_ != nullptr) {
      zone_->refresh(*matrix_, *explicit_);
      return true;
    }
    zone_.reset();
    const int mine = explicit_.is_null() ? 0 : 1;
    int all = 0;
    Teuchos::reduceAll<int, int>(*domain_->getComm(), Teuchos::REDUCE_MIN, 1, &mine, &all);
    if (all == 1) {
      zone_ = std::make_shared<GhostZone<Types>>(*matrix_, *explicit_);
      return true;
    }
    explicit_ = Teuchos::null;
    zones_ = false;
    zoneRefused_ = true;
    wanted_.maps = maps_;
    return false;
  }

  void disconnect() {
    product_ = Teuchos::null;
    embedded_.reset();
  }

  /// Makes a plan and keeps it, after findByAllMaps(). False, on all ranks, where there can be none. Collective.
  bool make() {
    TunedExchange made;
    Embedding embedding;
    try {
      made = exchangeWanted<Types>(wanted_, matrix_);
      if (wanted_.embeds) embedding = embeddingWanted<Types>(wanted_, *frame());
    } catch (const std::invalid_argument& error) {
      complaint_ = error.what();
      return false;
    }
    auto number = static_cast<long long>(std::chrono::system_clock::now().time_since_epoch().count());
    Teuchos::broadcast<int, long long>(*domain_->getComm(), 0, 1, &number);
    const auto plan =
        std::make_shared<KeptExchange>(std::move(made), embedding, Traffic(), static_cast<std::uint64_t>(number));
    kept_ = plan;
    if (plan->tuned.exchange != nullptr) {
      connect();
      kept_ = std::make_shared<KeptExchange>(plan->tuned, embedding, trafficOfAProduct(*product_), plan->checksum());
    }
    if (!keep_) return true;
    keepExchange(wanted_.key(mapsOfAll_), planName, kept_);
    keepExchange(wanted_.keyOfMyMaps(), mapsName, std::make_shared<MapsOfAll>(mapsOfAll_));
    return true;
  }

  Teuchos::RCP<const CrsMatrix> matrix_;     ///< the operator; null where it is none
  Teuchos::RCP<const Map> domain_, column_;  ///< of the matrix last looked at
  std::uint64_t maps_ = 0;                   ///< of these
  std::uint64_t mapsOfAll_ = 0;              ///< of all ranks, where the plan was looked for by it
  PreconditionedOperator<Types>* op_ = nullptr;
  bool takes_ = false;    ///< a strategy is asked for and can be had
  bool keep_ = true;      ///< in the state cache
  bool settled_ = false;  ///< in this solve
  bool fromEarlier_ = false;
  std::string complaint_;  ///< why the operator computes its products itself, where another way was asked for
  ExchangeWanted wanted_;  ///< what kept_ is for
  std::shared_ptr<const KeptExchange> kept_;
  bool zoneRefused_ = false;                                    ///< in this solve: M's maps are not A's somewhere
  bool zones_ = false;                                          ///< M is explicit, and is to be embedded with A
  Teuchos::RCP<const ExplicitPreconditioner<Types>> explicit_;  ///< it, while a solve asks for it
  std::shared_ptr<GhostZone<Types>> zone_;                      ///< of both, in a solve
  Teuchos::RCP<NodeAwareOperator<Types>> product_;     ///< null: none yet, or the matrix' own is the one to use
  std::shared_ptr<EmbeddedOperator<Types>> embedded_;  ///< null: none yet, or none wanted
  topology::ExchangeCounters sent_;                    ///< by the product before this solve
  topology::ExchangeCounters carried_;                 ///< inside reductions before this solve
};

}  // namespace capstan
