#pragma once
/// \file
/// The Tpetra types a deck works in, and the preconditioners it speaks of, under the deck's own names.

#include "adapters/preconditioners/types.hpp"

namespace capstan::deck {

using namespace preconditioning;  // NOLINT(google-build-using-namespace): one vocabulary

}  // namespace capstan::deck
