#include "adapters/preconditioners/random_entries.hpp"

#include <Tpetra_MultiVector.hpp>
#include <cstdint>

#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/mixed_bits.hpp"

namespace capstan::preconditioning {

void fillRandom(MultiVector& x, int seed) {
  const auto map = x.getMap();
  const auto rows = compat::localNumElements(*map);
  for (std::size_t column = 0; column < x.getNumVectors(); ++column) {
    const auto vector = x.getVectorNonConst(column);
    const auto values = compat::hostView(*vector, Tpetra::Access::OverwriteAll);
    for (std::size_t i = 0; i < rows; ++i) {
      const auto row = static_cast<std::uint64_t>(map->getGlobalElement(static_cast<int>(i)) - map->getIndexBase());
      const std::uint64_t stream = kernels::mixed(static_cast<std::uint64_t>(seed) * 0x10001ULL + column);
      (*values)(i, 0) = static_cast<double>(kernels::mixed(stream ^ row) >> 11) * 0x1p-52 - 1.0;
    }
  }
}

}  // namespace capstan::preconditioning
