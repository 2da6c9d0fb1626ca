#pragma once
/// \file
/// Sketched block Gram-Schmidt: vectors are orthonormalised as a small sketch sees them.
///
/// Source: [Balabanov and Grigori 2022] for Gram-Schmidt and GMRES with a sketch Theta; blocks, and a Theta that grows
/// with the basis, as here. Theta: kernels/sketch.hpp.
///
/// | paper       | here    | shape           | meaning                                                  |
/// |-------------|---------|-----------------|----------------------------------------------------------|
/// | Theta       | rows_   | k x n           | Theta x is about as long as x, for all x of V            |
/// | S           | known_  | k x begin       | Theta Q, orthonormal                                     |
/// | P           | w       | k x count       | Theta V, reduced; V begins with column `begin`           |
/// | R_top       | r       | begin x count   | S^T P                                                    |
/// | R_mid       | r       | count x count   | triangular factor of P - S R_top                         |
///
/// V <- (V - Q R_top) R_mid^{-1}. So Q is well conditioned, not orthonormal: of condition (1 + d) / (1 - d), d about
/// sqrt(columns / k). P is orthonormalised without squares, so that rank is seen to eps, not to sqrt(eps) as in a
/// Cholesky factorisation. As elsewhere a vector of which less than sqrt(eps) is left ends its panel: H divides by it.
///
/// The residual that H tells is that of the sketch. With c columns it is about (1 - c / k) times the norm of the
/// residual, which itself is about (1 - c / k)^{-1/2} times the least one: columns of a random Theta see less of what
/// they were chosen for. ArnoldiRelation::residual() knows of it.
///
/// The sketches S that the factorisation leaves of a panel differ from those of its vectors by eps kappa, and such
/// errors grow with each further panel. So the panel before is sketched again, as it has become, with the next one.
/// Where k grows, and after a panel of a very large condition, the vectors concerned are orthonormalised again with it,
/// too.
///
/// Cost of a panel: 1 reduction of 2 k steps numbers, one pass over Q; (2 first + 2 log2(2 k)) steps n flops, and about
/// 8 k first steps that each rank repeats.

#include "belos_ext/orthogonalization/block_gram_schmidt.hpp"
#include "belos_ext/orthogonalization/sketch_rows.hpp"

namespace capstan::tuning::sketch {
/// A panel of this condition is orthonormalised once more. Chosen: rounding has then left it orthonormal to half of the
/// digits, as it has errors of eps kappa.
inline constexpr double inexact = 1e8;
/// Projections of a panel, at most. Chosen: sketches orthonormal to half of the digits need three.
inline constexpr int mostPasses = 4;
}  // namespace capstan::tuning::sketch

namespace capstan {

template <class Types>
class SketchedGramSchmidt final : public BlockGramSchmidt<Types> {
 public:
  using Base = BlockGramSchmidt<Types>;
  using typename Base::Basis;
  using typename Base::Matrix;
  using typename Base::Relation;
  using typename Base::Scalar;

  explicit SketchedGramSchmidt(const Teuchos::RCP<const Teuchos::Comm<int>>& comm) : batch_(comm) {}

  void begin(int) override {
    rows_ = seen_ = 0;
    again_ = false;
  }

  PanelOutcome orthonormalize(Basis& basis, int first, int steps, LinearSystem<Types>& system, Relation& relation,
                              Matrix& coefficients) override {
    const int last = first + steps + 1;
    if (const int needed = tuning::sketch::rowsFor(last); needed > rows_) {
      rows_ = needed;
      seen_ = 0;
    }
    relation.sketchedBy(rows_);
    const int from = std::min(seen_, first + 1);
    batch_.clear();
    const auto slot = batch_.sketch(*basis.columns(from, last), rows_);
    system.reduce(batch_);
    Matrix sketches = fetched(batch_, slot);
    if (known_.numRows() != rows_ || known_.numCols() < last)
      known_.reshape(rows_, std::max(last, std::min(2 * known_.numCols(), rows_)));
    const int begin = again_ || from == 0 ? from : first + 1;
    block(known_, 0, from, rows_, begin - from).assign(block(sketches, 0, 0, rows_, begin - from));

    Matrix w = block(sketches, 0, begin - from, rows_, last - begin), r(last, last - begin);
    PanelOutcome outcome = factor(begin, w, r);
    if (outcome.rank > 0) {
      const auto q = begin > 0 ? basis.columns(0, begin) : Teuchos::null;
      const auto v = basis.columns(begin, begin + outcome.rank);
      system.kernels().orthonormalize(q.get(), nullptr, Matrix(), *v, block(r, 0, 0, begin, outcome.rank),
                                      block(r, begin, 0, outcome.rank, outcome.rank));
    }
    again_ = outcome.condition > tuning::sketch::inexact;
    seen_ = std::min(begin + outcome.rank, first + 1);
    return ofPanel(begin, first, steps, outcome, r, relation, coefficients);
  }

 private:
  /// P = S R_top + S' R_mid, S' orthonormal, which stands behind S then. \return rank: of P
  PanelOutcome factor(int begin, Matrix& w, Matrix& r) {
    PanelOutcome outcome;
    std::vector<Scalar> lengths;
    for (int c = 0; c < w.numCols() && outcome.finite; ++c) {
      lengths.push_back(lengthOf(w, c));
      outcome.finite = std::isfinite(lengths.back());
    }
    if (!outcome.finite) lengths.pop_back();
    const auto count = static_cast<int>(lengths.size());
    Matrix p = block(w, 0, 0, rows_, count), top = block(r, 0, 0, begin, count);
    project(block(known_, 0, 0, rows_, begin), p, top);
    const Scalar rounding = tuning::orthogonalization::rounding * std::numeric_limits<Scalar>::epsilon();
    for (int c = 0; c < count; ++c) {
      Matrix column = block(p, 0, c, rows_, 1), mid = block(r, begin, c, c, 1);
      project(block(p, 0, 0, rows_, c), column, mid);
      const Scalar left = lengthOf(p, c), before = lengths[static_cast<std::size_t>(c)];
      outcome.dependent = !(left > rounding * before);
      if (outcome.dependent) break;
      r(begin + c, c) = left;
      column *= 1 / left;
      outcome.rank = c + 1;
      if (!(left > std::sqrt(rounding) * before)) break;  // no other vector behind it: H divides by what is left
      outcome.condition = std::max(outcome.condition, static_cast<double>(before / left));
    }
    if (outcome.rank < w.numCols()) outcome.condition = std::numeric_limits<double>::infinity();
    block(known_, 0, begin, rows_, outcome.rank).assign(block(p, 0, 0, rows_, outcome.rank));
    return outcome;
  }

  /// What became of columns [begin, first), the relation is told; of the panel [first, first + steps], the caller.
  static PanelOutcome ofPanel(int begin, int first, int steps, PanelOutcome outcome, const Matrix& r,
                              Relation& relation, Matrix& coefficients) {
    const int earlier = first - begin, changed = std::min(earlier, outcome.rank);
    if (changed > 0) relation.reexpress(begin, block(r, 0, 0, begin + changed, changed));
    coefficients.shape(first + steps + 1, steps + 1);
    if (earlier < 0) coefficients(first, 0) = 1;  // q_first is what it was
    const int from = std::max(earlier, 0), to = std::max(-earlier, 0);
    Matrix panel = block(coefficients, 0, to, first + steps + 1, steps + 1 - to);
    panel.assign(block(r, 0, from, first + steps + 1, steps + 1 - to));
    outcome.rank = std::max(outcome.rank - earlier, 0);
    return outcome;
  }

  /// w <- w - s (s^T w), until nothing is left of s in it: s is orthonormal up to errors, and little may be left of w.
  /// What is taken away is added to `taken`.
  static void project(const Matrix& s, Matrix& w, Matrix& taken) {
    if (s.numCols() == 0) return;
    const Scalar rounding = tuning::orthogonalization::rounding * std::numeric_limits<Scalar>::epsilon();
    Matrix c(s.numCols(), w.numCols());
    bool done = false;
    for (int pass = 0; pass < tuning::sketch::mostPasses && !done; ++pass) {
      multiply<Scalar>(1, Teuchos::TRANS, s, Teuchos::NO_TRANS, w, 0, c);
      multiply<Scalar>(-1, Teuchos::NO_TRANS, s, Teuchos::NO_TRANS, c, 1, w);
      taken += c;
      done = true;
      for (int j = 0; j < w.numCols(); ++j) done = done && !(lengthOf(c, j) > rounding * lengthOf(w, j));
    }
  }

  static Scalar lengthOf(const Matrix& w, int c) { return Teuchos::BLAS<int, Scalar>().NRM2(w.numRows(), w[c], 1); }

  int rows_ = 0;        ///< of Theta
  int seen_ = 0;        ///< leading columns of the basis that have been sketched as they are
  bool again_ = false;  ///< the others are to be orthonormalised once more
  Matrix known_;
  ReductionBatch<Types> batch_;
};

}  // namespace capstan
