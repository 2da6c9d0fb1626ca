#pragma once
/// \file
/// Makes the communication plans that a solve asks for.

#include <Teuchos_RCP.hpp>
#include <Tpetra_CrsMatrix.hpp>

#include "belos_ext/manager/kept_exchange.hpp"
#include "tpetra_ext/operators/embedded_operator.hpp"
#include "tpetra_ext/operators/tuned_exchange.hpp"

namespace capstan {

/// The plan, or the choice of one, that the strategy asks for; nothing for Application. Throws std::invalid_argument,
/// on all ranks, for what no plan can be made of. Collective.
template <class Types>
TunedExchange exchangeWanted(const ExchangeWanted& wanted, const Teuchos::RCP<const typename Types::CrsMatrix>& a) {
  if (wanted.strategy == CommunicationStrategy::Application) return {};
  long long cutoff = wanted.cutoff;
  if (cutoff == 0) {
    const auto channel = topology::Channel::of(*a->getDomainMap()->getComm());
    cutoff = channel == nullptr ? topology::defaultEagerLimit : channel->eagerLimit();
  }
  if (wanted.strategy == CommunicationStrategy::Tuned) {
    TuningOptions tuning;
    tuning.columns = wanted.columns;
    tuning.eagerLimit = cutoff;
    tuning.ranksPerNode = wanted.ranksPerNode;
    tuning.deviceAware = wanted.deviceAware;
    return tuneExchange<Types>(a, tuning);
  }
  topology::PlanOptions plan;
  plan.strategy = topology::strategyNamed(toString(wanted.strategy));
  plan.eagerLimit = cutoff;
  plan.columns = wanted.columns;
  plan.bytesPerValue = sizeof(typename Types::Scalar);
  plan.deviceAware = wanted.deviceAware;
  return exchangeBy<Types>(*a, plan, wanted.ranksPerNode);
}

/// The plan of products that travel inside reductions. Throws as exchangeWanted(). Collective.
template <class Types>
Embedding embeddingWanted(const ExchangeWanted& wanted, const typename Types::CrsMatrix& a) {
  using topology::MappingHeuristic;
  const bool all = wanted.mapping == HypercubeMapping::Klf;
  topology::MappingOptions mapping;
  mapping.heuristic = wanted.mapping == HypercubeMapping::None ? MappingHeuristic::None
                      : all                                    ? MappingHeuristic::Klf
                                                               : MappingHeuristic::Klr;
  mapping.passes = all ? 10 : 20;  // [embedded-cg], section 6.1
  mapping.ranksPerNode = wanted.ranksPerNode;
  return embeddingOf<Types>(a, mapping);
}

}  // namespace capstan
