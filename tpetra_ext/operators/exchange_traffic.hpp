#pragma once

/// \file
/// What the messages of a product amount to, counted where they are sent.

#include "tpetra_ext/operators/node_aware_operator.hpp"
#include "tpetra_ext/operators/traffic.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan {

/// The traffic of a product with one column: computes one and counts what it sends. The same on all ranks. With more
/// columns messages are as many, and as much longer. Collective, two reductions.
template <class Types>
Traffic trafficOfAProduct(const NodeAwareOperator<Types>& product);

}  // namespace capstan
