#include "adapters/preconditioners/preconditioner_check.hpp"

#include <fmt/format.h>

#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Operator.hpp>
#include <cmath>

#include "adapters/preconditioners/random_entries.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"

namespace capstan::preconditioning {
namespace {

using Batch =
    ReductionBatch<TpetraTypes<double, Matrix::local_ordinal_type, Matrix::global_ordinal_type, Matrix::node_type>>;

/// e <- e - M^-1 A e, a few times from a random e: the last step's factor, which is near that of the slowest part.
double contractionOf(const Operator& a, const Operator& m, const MultiVector& first) {
  constexpr int steps = 3;
  MultiVector e(first, Teuchos::Copy), image(first.getMap(), 1), correction(first.getMap(), 1);
  double before = 0;
  for (int step = 0; step < steps; ++step) {
    if (step == steps - 1) before = e.getVector(0)->norm2();
    a.apply(e, image);
    m.apply(image, correction);
    e.update(-1, correction, 1);
  }
  return before > 0 ? e.getVector(0)->norm2() / before : 0;
}

}  // namespace

PreconditionerCheck checkPreconditioner(const Operator& a, const Operator& m, bool cycle) {
  MultiVector u(m.getDomainMap(), 2), z(m.getRangeMap(), 2);
  fillRandom(u, 1);
  // One by one: some preconditioners keep to the number of columns that they first see of several, and it is the
  // method's to choose.
  for (std::size_t j = 0; j < 2; ++j) m.apply(*u.getVector(j), *z.getVectorNonConst(j));
  Batch batch(u.getMap()->getComm());
  const auto product = [&](std::size_t i, std::size_t j) { return batch.dot(*u.getVector(i), *z.getVector(j)); };
  const auto first = product(0, 0), second = product(1, 1), across = product(0, 1), back = product(1, 0);
  batch.reduce();
  const double uu = batch[first], vv = batch[second], uv = batch[across], vu = batch[back];
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
