#include "perf/solvers/right_hand_sides.hpp"

#include <cstdint>

#include "adapters/preconditioners/random_entries.hpp"
#include "tpetra_ext/kernels/base/mixed_bits.hpp"

namespace capstan::perf {
namespace {

double norm(const deck::MultiVector& x) {
  double result = 0.0;
  x.norm2(Teuchos::ArrayView<double>(&result, 1));
  return result;
}

/// Whether A 1 is no more than rounding, of A's and of a file's digits.
bool annihilatesConstants(const deck::Matrix& a) {
  constexpr double rounding = 1e-10;
  deck::MultiVector ones(a.getDomainMap(), 1), sums(a.getRangeMap(), 1);
  ones.putScalar(1.0);
  a.apply(ones, sums);
  return norm(sums) <= rounding * a.getFrobeniusNorm();
}

void takeOffMean(deck::MultiVector& x) {
  double mean = 0.0;
  x.meanValue(Teuchos::ArrayView<double>(&mean, 1));
  deck::MultiVector constant(x.getMap(), 1);
  constant.putScalar(1.0);
  x.update(-mean, constant, 1.0);
}

}  // namespace

RightHandSides::RightHandSides(const deck::Matrix& a, const Teuchos::RCP<deck::MultiVector>& b, unsigned seed)
    : b_(b), own_(*b, Teuchos::Copy), norm_(norm(*b)), singular_(annihilatesConstants(a)), seed_(seed) {}

void RightHandSides::select(int turn, LocalSystem& local) {
  const std::uint64_t bits = kernels::mixed((std::uint64_t{seed_} << 32U) + static_cast<std::uint64_t>(turn));
  const double share = static_cast<double>(kernels::mixed(bits) >> 11U) * 0x1p-53;
  deck::fillRandom(*b_, static_cast<int>(bits & 0x7FFFFFFFU));
  if (singular_) takeOffMean(*b_);
  b_->update(1.0 - share, own_, share * norm_ / norm(*b_));
  if (local.rhs.empty()) return;
  const auto values = b_->getData(0);
  local.rhs.assign(values.begin(), values.end());
}

}  // namespace capstan::perf
