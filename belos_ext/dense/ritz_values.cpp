#include "belos_ext/dense/ritz_values.hpp"

#include <algorithm>
#include <limits>

namespace capstan {
namespace {

/// log of the product of the distances from a point to the points chosen so far; logs do not overflow.
double logDistance(std::complex<double> point, const std::vector<std::complex<double>>& chosen) {
  double sum = 0;
  for (const auto& c : chosen) {
    const double d = std::abs(point - c);
    if (d == 0) return -std::numeric_limits<double>::infinity();
    sum += std::log(d);
  }
  return sum;
}

}  // namespace

std::vector<std::complex<double>> lejaOrder(std::vector<std::complex<double>> points) {
  std::vector<std::complex<double>> ordered;
  // One of each conjugate pair stands for both; its partner follows it.
  std::vector<std::complex<double>> candidates;
  for (const auto& p : points) {
    if (p.imag() >= 0) candidates.push_back(p);
  }
  std::vector<std::complex<double>> partners = candidates;
  for (const auto& p : points) {
    if (p.imag() >= 0) continue;
    const auto partner = std::find(partners.begin(), partners.end(), std::conj(p));
    if (partner != partners.end()) {
      partners.erase(partner);
    } else {
      candidates.push_back(std::conj(p));
    }
  }
  while (!candidates.empty()) {
    std::size_t best = 0;
    double bestValue = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const double value = ordered.empty() ? std::log(std::abs(candidates[i]) + std::numeric_limits<double>::min())
                                           : logDistance(candidates[i], ordered);
      if (value > bestValue) {
        bestValue = value;
        best = i;
      }
    }
    const auto next = candidates[best];
    candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(best));
    ordered.push_back(next);
    if (next.imag() > 0) ordered.push_back(std::conj(next));
  }
  return ordered;
}

}  // namespace capstan
