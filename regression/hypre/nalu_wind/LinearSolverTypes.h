#pragma once
// In place of Nalu-wind's own: types that LinearSolver.h names, without Tpetra.
#include <Teuchos_ScalarTraits.hpp>

namespace sierra::nalu {
struct LinSys {
  using Scalar = double;
  using GlobalOrdinal = long long;
  using LocalOrdinal = int;
};
}  // namespace sierra::nalu
