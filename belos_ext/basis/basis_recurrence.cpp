#include "belos_ext/basis/basis_recurrence.hpp"

#include <algorithm>
#include <cmath>

#include "belos_ext/dense/ritz_values.hpp"

namespace capstan::tuning::basis {
/// How much wider than the Ritz values the interval of Chebyshev polynomials is. Derived: they lie inside the spectrum.
inline constexpr double widened = 1.05;
/// The least width, and scale, as part of the largest Ritz value. Chosen: not nothing.
inline constexpr double leastWidth = 1e-3;
}  // namespace capstan::tuning::basis

namespace capstan {

void BasisRecurrence::reset(Basis kind) {
  kind_ = kind;
  ready_ = false;
  shifts_.clear();
  scale_ = 1;
  intervalGiven_ = false;
}

void BasisRecurrence::setShifts(const std::vector<std::complex<double>>& shifts) {
  std::vector<std::complex<double>> finite;
  for (const auto& s : shifts) {
    if (std::isfinite(s.real()) && std::isfinite(s.imag())) finite.push_back(s);
  }
  if (finite.empty()) return;
  shifts_ = lejaOrder(std::move(finite));

  double lower = shifts_.front().real(), upper = lower, radius = 0;
  for (const auto& s : shifts_) {
    lower = std::min(lower, s.real());
    upper = std::max(upper, s.real());
    radius = std::max(radius, std::abs(s));
  }
  if (!intervalGiven_) {
    centre_ = (lower + upper) / 2;
    // Ritz values lie inside the spectrum; widen a little, and never to nothing.
    halfWidth_ = std::max(tuning::basis::widened * (upper - lower) / 2, tuning::basis::leastWidth * radius);
  }
  if (kind_ == Basis::Monomial) {
    scale_ = radius;
  } else {
    // Half the diameter of the set: the capacity of the interval is a quarter of its length, and the norm of the
    // shifted operator near half of it.
    double diameter = 0;
    for (const auto& s : shifts_) {
      for (const auto& t : shifts_) diameter = std::max(diameter, std::abs(s - t));
    }
    scale_ = std::max(diameter / 2, tuning::basis::leastWidth * radius);
  }
  if (!(scale_ > 0) || !std::isfinite(scale_)) scale_ = 1;
  if (!(halfWidth_ > 0) || !std::isfinite(halfWidth_)) halfWidth_ = 1;
  ready_ = true;
}

void BasisRecurrence::setInterval(double lower, double upper) {
  centre_ = (lower + upper) / 2;
  halfWidth_ = (upper - lower) / 2;
  intervalGiven_ = true;
  if (kind_ == Basis::Chebyshev) ready_ = true;
}

RecurrenceStep BasisRecurrence::step(int k) const {
  if (!ready_ || kind_ == Basis::Monomial) return {0, 0, scale_};
  if (kind_ == Basis::Chebyshev) {
    return k == 0 ? RecurrenceStep{centre_, 0, halfWidth_} : RecurrenceStep{centre_, halfWidth_ / 2, halfWidth_ / 2};
  }
  const int count = static_cast<int>(shifts_.size());
  const auto theta = shifts_[static_cast<std::size_t>(k % count)];
  // The second of a conjugate pair: (A - theta)(A - conj theta) = (A - a)^2 + b^2. A pair cut by the start of the panel
  // or of the list loses its first half, and a real shift stands in.
  const bool second = theta.imag() < 0 && k % count > 0;
  return {theta.real(), second ? -theta.imag() * theta.imag() / scale_ : 0, scale_};
}

}  // namespace capstan
