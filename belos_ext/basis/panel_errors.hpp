#pragma once
/// \file
/// How many steps the panels of s-step GMRES have, and how many of them are used, for H to stay as exact as a solve
/// needs.
///
/// Source: inexact Krylov methods [Simoncini and Szyld 2003] for the errors that are borne (ExactColumns::bearable());
/// which steps have them follows from H, before their products are made (RelationError::foreseen).
///
/// | symbol      | here      | meaning                                                          |
/// |-------------|-----------|------------------------------------------------------------------|
/// | E           | errors_   | A M^{-1} Q - Q H, estimated (relation_error.hpp)                 |
/// | f_1 ... f_w | samples_  | steps that panels kept, or would have kept, that ended with the  |
/// |             |           | last columns                                                     |
/// | rho         | reduction | cost of a reduction, in products                                 |
///
/// A step that is not used has cost a product, a panel a reduction: the next one has the c steps with the most used
/// ones for what they cost, sum_i min(c, f_i) / (c + rho). Cost of a panel: 4 s j^2 operations, j columns.

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "belos_ext/basis/basis_recurrence.hpp"
#include "belos_ext/basis/exact_columns.hpp"
#include "belos_ext/dense/relation_error.hpp"

namespace capstan::tuning::panel_errors {
/// Panels are planned for errors so many times smaller than those that are borne. Chosen: a panel that is cut costs
/// products, one that is too short a part of a reduction.
inline constexpr double margin = 3;
/// Panels that are looked back at. Measured, with looser limits: with 4 orsirr_1 makes 1.15 products an iteration, with
/// 16 1.04.
inline constexpr std::size_t samples = 16;
/// Of these, so many are new for a panel. Chosen: what they cost, s j^2 operations each.
inline constexpr int fresh = 2;
/// A panel has no more steps than this part of the columns before it, or so many: shorter ones have inherited too
/// little to tell what longer ones will. Measured, with looser limits: without, orsirr_1 makes 1.13 products an
/// iteration.
inline constexpr double growth = 0.67;
inline constexpr int alwaysTried = 5;
/// A panel that was cut counts as so many. Measured, with looser limits: once, opm_spe1 makes 1.06 products an
/// iteration, as H does not tell what the next product brings.
inline constexpr int cutCounts = 4;
/// A reduction, in products: small, as M may be a multigrid cycle. Measured on 2 ranks on pores_2, mhd3200a, opm_spe1,
/// cryg2500, orsirr_1 and memplus: at most 1.05 products an iteration; with looser limits more on four from 0.35.
inline constexpr double reduction = 0.2;
}  // namespace capstan::tuning::panel_errors

namespace capstan {

/// Replicated: fed with reduced numbers only, so it decides alike on all ranks. Local.
template <class Types>
class PanelErrors {
 public:
  using Scalar = typename Types::Scalar;
  using Matrix = SmallMatrix<Scalar>;
  using Relation = ArnoldiRelation<Scalar>;

  /// \param byCholesky panels are factored by their Gram matrix
  void configure(bool byCholesky) {
    byCholesky_ = byCholesky;
    samples_.clear();
    errors_.roughen(1);
  }
  /// \param samples of an earlier solve; none where it kept all steps
  void recall(const std::vector<int>& samples) { samples_ = samples; }
  const std::vector<int>& samples() const { return samples_; }

  /// A cycle begins, or goes on with fewer columns, which count as exact.
  void begin() {
    errors_.begin();
    sampled_ = 0;
  }

  /// The estimates of the columns of H.
  const RelationError<Scalar>& estimates() const { return errors_; }
  /// \see RelationError::roughen()
  void roughen(Scalar times) { errors_.roughen(times); }

  /// The error of the next column of H, relative to A M^{-1}, that this solve bears.
  static Scalar bearable(const Relation& relation, double target) {
    return std::max(ExactColumns<Types>::bearable(relation, target), ExactColumns<Types>::least());
  }

  /// As many of s steps as the columns before a panel that starts with column `first` can tell of. The first panel of a
  /// cycle has no errors to inherit.
  static int foreseeable(int first, int s) {
    if (first == 0) return s;
    return std::min(
        s, std::max(tuning::panel_errors::alwaysTried, static_cast<int>(tuning::panel_errors::growth * first)));
  }

  /// As many of these as are worth their products.
  int worthwhile(const Relation& relation, double target, int first, int s, const BasisRecurrence& recurrence) {
    if (first == 0) return s;
    const Scalar planned = bearable(relation, target) / static_cast<Scalar>(tuning::panel_errors::margin);
    for (int columns = std::max(sampled_, first - tuning::panel_errors::fresh) + 1; columns <= first; ++columns) {
      const int tried = std::min(s, columns - 1);
      if (tried < 2) continue;
      const int kept = errors_.foreseen(relation.hessenberg(), columns,
                                        recurrence.template changeOfBasis<Scalar>(tried), planned, byCholesky_);
      sample(kept < tried ? kept : std::numeric_limits<int>::max());  // nothing speaks against more
    }
    sampled_ = first;
    const auto gain = [this](int steps) {
      int kept = 0;
      for (const int f : samples_) kept += std::min(steps, f);
      return kept / (steps + tuning::panel_errors::reduction);
    };
    int best = s;
    for (int c = s - 1; c > 0; --c) best = gain(c) > gain(best) ? c : best;
    return best;
  }

  /// Takes in the first of `found` steps of a panel that H can use. \return their number, at least 1
  int add(const Relation& relation, double target, int first, int found, const Matrix& changeOfBasis, const Matrix& r) {
    const auto leading = [&](int count) { return block(r, 0, 0, first + count + 1, count + 1); };
    const int known = byCholesky_ ? RelationError<Scalar>::knownSteps(first, leading(found)) : found;
    const int kept =
        errors_.add(first, block(changeOfBasis, 0, 0, known + 1, known), leading(known), bearable(relation, target));
    if (kept < found) {
      for (int k = 0; k < tuning::panel_errors::cutCounts; ++k) sample(kept);  // the samples had promised more
    }
    return kept;
  }

 private:
  void sample(int steps) {
    if (samples_.size() == tuning::panel_errors::samples) samples_.erase(samples_.begin());
    samples_.push_back(steps);
  }

  bool byCholesky_ = true;
  int sampled_ = 0;           ///< columns of this cycle up to which there are samples
  std::vector<int> samples_;  ///< the latest last
  RelationError<Scalar> errors_;
};

}  // namespace capstan
