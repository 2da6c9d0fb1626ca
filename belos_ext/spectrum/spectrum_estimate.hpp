#pragma once
/// \file
/// Bounds of the spectrum of M^{-1} A (M = M_L M_R) from a few panels of a Krylov space.
///
/// Source: s-step Arnoldi ([low-sync], Fig. 3). Deep pipelines want the large end to within about one per cent: beyond
/// that the basis P_l(A) v of [deep-pipelined-cg], section 2.2, grows ill-conditioned and its square roots break down.
/// Cost: 16 A, 16 M^{-1}, 3 reductions, once for each problem where states are cached.

#include <algorithm>
#include <optional>

#include "belos_ext/basis/matrix_powers.hpp"
#include "belos_ext/dense/arnoldi_relation.hpp"
#include "belos_ext/dense/ritz_values.hpp"
#include "belos_ext/orthogonalization/block_gram_schmidt.hpp"
#include "belos_ext/spectrum/definite_interval.hpp"

namespace capstan::tuning::spectrum {
/// Steps of the estimate, and their panels: monomial steps first, Newton's with the Ritz values of half of them then.
/// Measured: with bounds from 16 steps p(5)-CG follows CG.
inline constexpr int steps = 16;
inline constexpr std::array<int, 3> panels = {3, 5, 8};
/// The largest Ritz values of k / 2 and of k steps differ by so many times what the latter lacks. Derived from the rate
/// 1 / k^2 of [Kuczynski and Wozniakowski 1992].
inline constexpr int extrapolation = 3;
/// Part of the largest Ritz value above which the smallest tells that no eigenvalue is near zero. Chosen; half of it is
/// then the lower bound.
inline constexpr double small = 0.1;
/// Bounds are the same where their ends have moved by less than this part of their distance, or of the far one. Chosen.
inline constexpr double same = 0.1;
}  // namespace capstan::tuning::spectrum

namespace capstan {

/// The roots of the Chebyshev polynomial of that degree on the interval ([deep-pipelined-cg], section 2.2), in Leja
/// order: in any other the intermediate products of a deep pipeline lose their digits. Those of a mirrored interval are
/// mirrored to the last bit.
template <class Scalar>
std::vector<Scalar> chebyshevPoints(const EigenvalueBounds& interval, int count) {
  constexpr double pi = 3.14159265358979323846;
  const auto [least, most] = upright(interval);
  std::vector<std::complex<double>> points;
  for (int k = 0; k < count; ++k) {
    const double cosine = std::cos((2 * k + 1) * pi / (2 * count));
    points.emplace_back((most + least) / 2 + (most - least) / 2 * cosine);
  }
  std::vector<Scalar> ordered;
  for (const auto& point : lejaOrder(points)) ordered.push_back(static_cast<Scalar>(signOf(interval) * point.real()));
  return ordered;
}

/// Ritz values close in on the large end like 1 / k^2 ([Kuczynski and Wozniakowski 1992]), so those of k / 2 and k
/// steps extrapolate to it. The small end is far from found, and zero is safe there; but where a strong preconditioner
/// has left nothing near zero, shifts there would only spoil the basis.
/// What is said of the large end holds for the end that is farther from zero.
inline std::optional<EigenvalueBounds> boundsOfRitzValues(const std::vector<std::complex<double>>& half,
                                                          const std::vector<std::complex<double>>& all) {
  const auto range = [](const std::vector<std::complex<double>>& values) {
    EigenvalueBounds found{values.front().real(), values.front().real()};
    for (const auto& value : values) {
      found = {std::min(found.min, value.real()), std::max(found.max, value.real())};
    }
    return found;
  };
  if (all.empty()) return std::nullopt;
  const EigenvalueBounds whole = range(all);
  const bool negative = signOf(whole) < 0;
  const auto [low, largest] = upright(whole);
  double high = largest;
  if (!half.empty()) {
    const double before = negative ? -range(half).min : range(half).max;
    high += std::max(0.0, (high - before) / tuning::spectrum::extrapolation);
  }
  if (!(high > 0) || !std::isfinite(high)) return std::nullopt;
  const EigenvalueBounds bounds{low > tuning::spectrum::small * high ? low / 2 : 0, high};
  return negative ? mirrored(bounds) : bounds;
}

template <class Types>
class SpectrumEstimate {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Matrix = SmallMatrix<Scalar>;

  /// Bounds from the Krylov space of a fixed pseudo-random vector, which has every eigenvector in it; nothing when it
  /// breaks down at once. The same on any number of ranks, to rounding. Collective.
  /// \param apply w = (operator) v
  template <class Apply>
  std::optional<EigenvalueBounds> operator()(LinearSystem<Types>& system,
                                             const Teuchos::RCP<const typename Types::Map>& map, const Apply& apply) {
    basis_.resize(map, tuning::spectrum::steps + 1);
    if (!orthogonalization_ || map->getComm().get() != comm_.get()) {
      comm_ = map->getComm();
      orthogonalization_ =
          makeBlockGramSchmidt<Types>(BlockOrthogonalization::SingleReduceCgs2, IntraOrthogonalization::CholQr, comm_);
    }
    ArnoldiRelation<Scalar> relation;
    relation.begin(tuning::spectrum::steps, Scalar(1), false);
    orthogonalization_->begin(tuning::spectrum::steps);
    system.kernels().scatter(basis_[0]);
    // Rows that are solved already are zero in all vectors of the solve: their eigenvalues are none that it sees.
    if (const auto* rows = system.diagonalRows(); rows != nullptr) rows->clear(basis_[0]);
    BasisRecurrence recurrence;
    recurrence.reset(Basis::Newton);
    int columns = 0;
    std::vector<std::complex<double>> half, ritz;
    for (const int panelSteps : tuning::spectrum::panels) {
      for (int k = 0; k < panelSteps; ++k) {
        apply(basis_[columns + k], basis_[columns + k + 1]);
        system.kernels().recur(recurrenceOf(recurrence, basis_, columns, k), basis_[columns + k + 1]);
      }
      Matrix r;
      const PanelOutcome panel = orthogonalization_->orthonormalize(basis_, columns, panelSteps, system, relation, r);
      const int gained = panel.rank - 1;
      if (gained < 1) break;
      relation.addPanel(columns, block(recurrence.template changeOfBasis<Scalar>(panelSteps), 0, 0, gained + 1, gained),
                        block(r, 0, 0, columns + gained + 1, gained + 1));
      relation.refresh();
      columns += gained;
      ritz = hessenbergEigenvalues(relation.hessenberg(), columns);
      if (gained < panelSteps) break;
      if (columns == tuning::spectrum::steps / 2) {
        half = ritz;
        recurrence.setShifts(ritz);
      }
    }
    return boundsOfRitzValues(half, ritz);
  }

 private:
  KrylovBasis<Types> basis_;
  Teuchos::RCP<const Teuchos::Comm<int>> comm_;  ///< of orthogonalization_; a solver may be used again on another one
  std::unique_ptr<BlockGramSchmidt<Types>> orthogonalization_;
};

}  // namespace capstan
