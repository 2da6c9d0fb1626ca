#pragma once
/// \file
/// The matrix of a model problem in Tpetra. Needs no other package of Trilinos.

#include <Teuchos_RCP.hpp>

#include "adapters/deck/generators.hpp"
#include "adapters/deck/types.hpp"

namespace capstan::deck {

/// The matrix of a model problem, rows in contiguous blocks of nearly equal size (ranks may be left without rows).
/// Collective.
Teuchos::RCP<Matrix> buildMatrix(const GeneratorOptions& options, const Teuchos::RCP<const Communicator>& comm);

}  // namespace capstan::deck
