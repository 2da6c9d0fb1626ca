#include "tpetra_ext/operators/exchange_traffic.hpp"

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_MultiVector.hpp>
#include <array>

#include "tpetra_ext/compat/instantiate.hpp"

namespace capstan {

Traffic Traffic::times(long products, long columns) const {
  const auto by = [](const SentByRanks& sent, long factor) {
    return SentByRanks{sent.total * factor, sent.mostOfARank * factor};
  };
  return {by(networkMessages, products), by(networkBytes, columns), by(nodeMessages, products), by(nodeBytes, columns)};
}

template <class Types>
Traffic trafficOfAProduct(const NodeAwareOperator<Types>& product) {
  using MultiVector = typename Types::MultiVector;
  const topology::ExchangeCounters before = product.counters();
  const MultiVector x(product.getDomainMap(), 1);
  MultiVector y(product.getRangeMap(), 1, false);
  product.apply(x, y);
  const topology::ExchangeCounters& after = product.counters();
  const long long networkMessages = after.networkMessages - before.networkMessages;
  const long long networkBytes = after.networkBytes - before.networkBytes;
  const std::array<long long, 4> mine = {networkMessages, networkBytes,
                                         after.messages - before.messages - networkMessages,
                                         after.bytes - before.bytes - networkBytes};
  std::array<long long, 4> total{}, most{};
  const Teuchos::Comm<int>& comm = *product.getDomainMap()->getComm();
  Teuchos::reduceAll<int, long long>(comm, Teuchos::REDUCE_SUM, 4, mine.data(), total.data());
  Teuchos::reduceAll<int, long long>(comm, Teuchos::REDUCE_MAX, 4, mine.data(), most.data());
  return {{total[0], most[0]}, {total[1], most[1]}, {total[2], most[2]}, {total[3], most[3]}};
}

#define CAPSTAN_EXCHANGE_TRAFFIC(S, LO, GO, NO) \
  template Traffic trafficOfAProduct<TpetraTypes<S, LO, GO, NO>>(const NodeAwareOperator<TpetraTypes<S, LO, GO, NO>>&);
CAPSTAN_INSTANTIATE(CAPSTAN_EXCHANGE_TRAFFIC)

}  // namespace capstan
