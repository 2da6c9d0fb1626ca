// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/corrected_residual.hpp"

#include <cmath>

#include "adapters/driver/row_sums.hpp"

namespace capstan::driver {
namespace {

Norms normsOf(std::array<double, 2> sums, MPI_Comm comm, SolveCost& cost) {
  sumOverRanks(sums, comm);
  ++cost.checks;
  return {sums[0], std::sqrt(sums[1])};
}

}  // namespace

CorrectedResidual::CorrectedResidual(HostSystem& host, double* x, std::vector<double>& r, std::vector<double>& d,
                                     SolveCost& cost)
    : host_(host), x_(x), r_(r), d_(d), cost_(cost) {
  const auto rows = static_cast<std::size_t>(host.rows());
  r_.resize(rows);
  d_.resize(rows);
}

void CorrectedResidual::compute() {
  norms_ = host_.firstResidual(r_.data());
  ++cost_.checks;
  ++cost_.products;
}

void CorrectedResidual::makeImage() {
  image_.resize(d_.size());
  host_.multiply(d_.data(), image_.data());
  hasImage_ = true;
  ++cost_.products;
}

void CorrectedResidual::refresh() {
  if (!stale_) return;
  stale_ = false;
  makeImage();
  const auto sums = sumsOverRows<2>(host_.rows(), [&](std::int64_t row, auto& sum) {
    const auto i = static_cast<std::size_t>(row);
    const double rest = r_[i] - image_[i];
    r_[i] = rest;
    sum[0] += std::abs(rest);
    sum[1] += rest * rest;
  });
  norms_ = normsOf(sums, host_.communicator(), cost_);
}

void CorrectedResidual::negate() {
  for (double& value : r_) value = -value;
}

void CorrectedResidual::take(double attained) {
  for (std::size_t i = 0; i < d_.size(); ++i) x_[i] += d_[i];
  stale_ = true;
  hasImage_ = false;
  norms_.one *= attained;
}

bool CorrectedResidual::takeWhereSmaller() {
  makeImage();
  const auto sums = sumsOverRows<2>(host_.rows(), [&](std::int64_t row, auto& sum) {
    const auto i = static_cast<std::size_t>(row);
    const double rest = r_[i] - image_[i];
    sum[0] += std::abs(rest);
    sum[1] += rest * rest;
  });
  const Norms after = normsOf(sums, host_.communicator(), cost_);
  if (!after.finite() || !(after.one <= norms_.one)) return false;
  for (std::size_t i = 0; i < d_.size(); ++i) {
    r_[i] -= image_[i];
    x_[i] += d_[i];
  }
  hasImage_ = false;
  norms_ = after;
  return true;
}

// The residual of conjugate gradients may grow for many iterations while the error falls, and where the limit is low,
// each solve may end there: to go back would leave x as it is for the whole run. The least 2-norm of r - t A d is at
// t = (r, A d) / (A d, A d), as residual smoothing has it [Zhou and Walker 1994]. That norm cannot grow by it; the
// 1-norm may, where the residual spreads over the rows.
bool CorrectedResidual::takePart() {
  if (!hasImage_) makeImage();
  auto dots = sumsOverRows<2>(host_.rows(), [&](std::int64_t row, auto& sum) {
    const auto i = static_cast<std::size_t>(row);
    sum[0] += r_[i] * image_[i];
    sum[1] += image_[i] * image_[i];
  });
  sumOverRanks(dots, host_.communicator());
  ++cost_.checks;
  const double step = dots[0] / dots[1];
  if (!std::isfinite(step) || !(step > 0)) return false;
  const auto sums = sumsOverRows<2>(host_.rows(), [&](std::int64_t row, auto& sum) {
    const auto i = static_cast<std::size_t>(row);
    const double rest = r_[i] - step * image_[i];
    r_[i] = rest;
    x_[i] += step * d_[i];
    sum[0] += std::abs(rest);
    sum[1] += rest * rest;
  });
  norms_ = normsOf(sums, host_.communicator(), cost_);
  hasImage_ = false;
  return true;
}

}  // namespace capstan::driver
