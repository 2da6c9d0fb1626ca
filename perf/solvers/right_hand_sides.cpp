#include "perf/solvers/right_hand_sides.hpp"

#include <cstdint>

#include "adapters/preconditioners/random_entries.hpp"
#include "belos_ext/support/mixed_bits.hpp"

namespace capstan::perf {
namespace {

double norm(const deck::MultiVector& x) {
  double result = 0.0;
  x.norm2(Teuchos::ArrayView<double>(&result, 1));
  return result;
}

}  // namespace

RightHandSides::RightHandSides(const Teuchos::RCP<deck::MultiVector>& b, unsigned seed)
    : b_(b), own_(*b, Teuchos::Copy), norm_(norm(*b)), seed_(seed) {}

void RightHandSides::select(int turn, LocalSystem& local) {
  const std::uint64_t bits = mixed((std::uint64_t{seed_} << 32U) + static_cast<std::uint64_t>(turn));
  const double share = static_cast<double>(mixed(bits) >> 11U) * 0x1p-53;
  deck::fillRandom(*b_, static_cast<int>(bits & 0x7FFFFFFFU));
  b_->update(1.0 - share, own_, share * norm_ / norm(*b_));
  if (local.rhs.empty()) return;
  const auto values = b_->getData(0);
  local.rhs.assign(values.begin(), values.end());
}

}  // namespace capstan::perf
