#include "adapters/preconditioners/preconditioner_check.hpp"

#include <fmt/format.h>

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Operator.hpp>
#include <array>
#include <cmath>

#include "adapters/preconditioners/random_entries.hpp"

namespace capstan::preconditioning {
namespace {

double localDot(const MultiVector& x, std::size_t i, const MultiVector& y, std::size_t j) {
  const auto a = x.getData(i), b = y.getData(j);
  double sum = 0;
  for (int k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

template <std::size_t N>
std::array<double, N> sumOverRanks(const MultiVector& any, const std::array<double, N>& local) {
  std::array<double, N> sums{};
  Teuchos::reduceAll<int, double>(*any.getMap()->getComm(), Teuchos::REDUCE_SUM, static_cast<int>(N), local.data(),
                                  sums.data());
  return sums;
}

/// e <- e - M^-1 A e, a few times from a random e: the last step's factor, which is near that of the slowest part.
double contractionOf(const Operator& a, const Operator& m, const MultiVector& first) {
  constexpr int steps = 3;
  MultiVector e(first, Teuchos::Copy), image(first.getMap(), 1), correction(first.getMap(), 1);
  double before = 0, after = 0;
  for (int step = 0; step < steps; ++step) {
    if (step == steps - 1) before = sumOverRanks<1>(e, {localDot(e, 0, e, 0)})[0];
    a.apply(e, image);
    m.apply(image, correction);
    e.update(-1, correction, 1);
  }
  after = sumOverRanks<1>(e, {localDot(e, 0, e, 0)})[0];
  return before > 0 ? std::sqrt(after / before) : 0;
}

}  // namespace

PreconditionerCheck checkPreconditioner(const Operator& a, const Operator& m, bool cycle) {
  MultiVector u(m.getDomainMap(), 2), z(m.getRangeMap(), 2);
  fillRandom(u, 1);
  m.apply(u, z);
  const auto [uu, vv, uv, vu] =
      sumOverRanks<4>(u, {localDot(u, 0, z, 0), localDot(u, 1, z, 1), localDot(u, 0, z, 1), localDot(u, 1, z, 0)});
  PreconditionerCheck check;
  check.finite = std::isfinite(uu) && std::isfinite(vv) && std::isfinite(uv) && std::isfinite(vu);
  if (!check.finite || u.getGlobalLength() == 0) return check;
  check.positive = uu > 0 && vv > 0;
  const double scale = std::sqrt(std::abs(uu) * std::abs(vv));
  check.asymmetry = scale > 0 ? std::abs(uv - vu) / scale : 0;
  if (cycle) check.contraction = contractionOf(a, m, *u.getVector(0));
  return check;
}

std::string PreconditionerCheck::whyUnusable(bool symmetricMethod) const {
  if (!finite || std::isnan(contraction)) return "it makes NaN or Inf of a random vector";
  if (symmetricMethod && !positive) return "it is not positive definite: (u, M^-1 u) <= 0 for a random u";
  return "";
}

std::string PreconditionerCheck::remark(bool symmetricMethod) const {
  if (!whyUnusable(symmetricMethod).empty()) return "";
  if (symmetricMethod && asymmetry > symmetric) {
    return fmt::format("it is not symmetric: (u, M^-1 v) and (v, M^-1 u) are {:.1g} apart", asymmetry);
  }
  if (contraction >= 1) return fmt::format("its cycle does not contract: the factor is {:.2g}", contraction);
  return "";
}

}  // namespace capstan::preconditioning
