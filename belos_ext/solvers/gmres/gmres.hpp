#pragma once
/// \file
/// Classical restarted GMRES with one reduction an iteration: the oracle of the GMRES family, and what its pipelined
/// methods go on with where they cannot.
///
/// Source: [Saad and Schultz 1986], algorithm 4; orthogonalisation: delayed CGS2, which is single-reduce block CGS2 of
/// [low-sync] (Fig. 3) for panels of one vector [q_j, A M^{-1} q_j]. Other schemes are chosen by "Block
/// Orthogonalization".
/// `line k` beside a statement: docs/methods/gmres.md.
///
/// Cost of an iteration: 1 reduction (single-reduce schemes) and 1 fence for each, 1 A, 1 M^{-1}, two passes over the
/// basis. Storage: m + 5 vectors. Overlap: none.
///
/// | paper        | here         | shape     | meaning                                                |
/// |--------------|--------------|-----------|--------------------------------------------------------|
/// | q_j, v_{j+1} | columns of Q | n x 1     | last basis vector and A M^{-1} q_j                     |
/// | r_{:,j+1}    | r            | (j+2) x 2 | [q_j, v_{j+1}] = Q r; q_j is corrected again           |
/// | H            | relation()   | (m+1) x m | projected operator; with it y and the residual's norm  |

#include "belos_ext/orthogonalization/kept_gram_schmidt.hpp"
#include "belos_ext/supervision/arnoldi_method.hpp"

namespace capstan {

template <class Types>
class Gmres : public ArnoldiMethod<Types> {
 public:
  using Base = ArnoldiMethod<Types>;
  using typename Base::Matrix;
  using typename Base::Scalar;

  /// On the average of a cycle the panel [q_j, v] begins at j = (m - 1) / 2. Products with three columns, q_{j-1} among
  /// them, then one pass that writes these three; and x.
  static Cost cost(const SolverOptions& options, bool preconditioned) {
    const double m = options.numBlocks, j = (m - 1) / 2, kept = Base::keptVectors(options, preconditioned);
    const double flops = 10 * j + 11 + 2;
    if (const auto sketched = Base::sketchedCost(options, 1, kept)) return *sketched;
    if (options.basisPrecision == BasisPrecision::Double) {
      return {1, 1, 1, m + 5 + kept, flops, 8 * (2 * (j + 2) + 3 + 1)};
    }
    // All but the last three columns take half as many bytes; the oldest of these is written twice, and two columns are
    // copied whenever the window is full.
    const double window = Base::windowOf(1), both = options.basisPrecision == BasisPrecision::Auto ? m + 1 : window;
    return {
        1, 1, 1, (m + 1) / 2 + both + 4 + kept, flops, 8 * (2 * 3 + 3 + 4 / (window - 2)) + 4 * (2 * (j - 1) + 1 + 1)};
  }

  using Options = MethodOptions<RestartOptions, SchemeOptions, ArnoldiOptions>;
  void configure(const Options& options) {
    Base::configure(options);
    options_ = options;
  }
  void forget(const Options& options) { configure(options); }

 protected:
  using Base::basis, Base::columns, Base::length, Base::relation, Base::space;

  Ending expand(Progress<Types>& progress, Scalar beta) override {
    this->begin(progress, beta);  // line 1
    return goOn(progress);
  }

  /// The rest of a cycle, after the columns it has: q_0 .. q_j, orthonormal up to rounding or worse, and H. With the
  /// first product all of them are orthonormalised again (single-reduce schemes), and H follows. It has all m columns
  /// also if others were taken back before: the last ones gain the most. Collective.
  Ending goOn(Progress<Types>& progress) {
    auto& system = progress.system();
    auto& orthogonalization = orthogonalization_.get(options_, basis().map()->getComm());
    orthogonalization.begin(length());
    Matrix r;
    std::optional<Ending> ending;
    while (columns() < length() && !ending) {  // line 2
      const int j = columns();
      space().apply(system, j);  // line 3: v = A M^{-1} q_j
      const PanelOutcome panel =
          orthogonalization.orthonormalize(basis(), j, 1, system, relation(), r);  // lines 4 to 6: [q_j, v] = Q r
      ending = panel.rank == 2 ? this->extend(progress, j, r)
                               : this->classicalStep(progress, j, panel, Base::plainStep(), r);  // lines 7, 8
    }
    this->complete(orthogonalization, progress);
    return ending.value_or(Ending::Full);
  }

  Options options_;

 private:
  KeptGramSchmidt<Types> orthogonalization_;
};

}  // namespace capstan
