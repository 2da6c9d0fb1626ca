#pragma once
/// \file
/// Classical restarted GMRES with one reduction an iteration: the oracle of the GMRES family.
///
/// Source: [Saad and Schultz 1986], algorithm 4; orthogonalisation: delayed CGS2, which is single-reduce block CGS2 of
/// [low-sync] (Fig. 3) for panels of one vector [q_j, A M^{-1} q_j]. Other schemes are chosen by "Block
/// Orthogonalization".
///
/// Cost of an iteration: 1 reduction (single-reduce schemes) and 1 fence for each, 1 A, 1 M^{-1}, two passes over the
/// basis. Storage: m + 5 vectors. Overlap: none.
///
/// | paper        | here           | shape     | meaning                                      |
/// |--------------|----------------|-----------|----------------------------------------------|
/// | q_j, v_{j+1} | basis_ columns | n x 1     | last basis vector and A M^{-1} q_j           |
/// | r_{:,j+1}    | r              | (j+2) x 2 | [q_j, v_{j+1}] = Q r; q_j is corrected again |
/// | H            | relation_      | (m+1) x m | projected operator                           |

#include "belos_ext/solvers/gmres/restarted_gmres.hpp"

namespace capstan {

template <class Types>
class Gmres : public RestartedGmres<Types> {
 public:
  using Base = RestartedGmres<Types>;
  using typename Base::Matrix;
  using typename Base::Scalar;

  /// With j = m / 2 vectors on the average: [Q v]^T [q v] reads, V - Q R reads and writes two.
  static Cost cost(const SolverOptions& options, bool) {
    const double m = options.numBlocks, j = m / 2;
    return {1, 1, 1, m + 5, 8 * j + 12, 8 * (2 * (j + 2) + 4)};
  }

  void configure(const SolverOptions& options) override {
    options_ = options;
    this->configureCycles(options);
  }

 protected:
  CycleOutcome iterate(LinearSystem<Types>& system, Scalar beta, StopTest& stop) override {
    this->start(system, beta);  // q_0 = z / beta
    CycleOutcome cycle;
    goOn(system, stop, cycle);
    return cycle;
  }

  /// The rest of a cycle, after the columns it has: q_0 .. q_j, orthonormal up to rounding or worse, and H. With the
  /// first product all of them are orthonormalised again (single-reduce schemes), and H follows.
  void goOn(LinearSystem<Types>& system, StopTest& stop, CycleOutcome& cycle) {
    orthogonalization_.get(options_, this->basis_[0].getMap()->getComm()).begin(this->restartLength_);
    Matrix r, plain(2, 1);
    plain(1, 0) = 1;

    int panelRank = 2;
    while (cycle.columns < this->restartLength_ && !stop.exhausted() && !cycle.claimed && !cycle.stopped &&
           cycle.finite && panelRank > 0) {
      const int j = cycle.columns;
      this->applyTo(system, j);  // v_{j+1} = A M^{-1} q_j
      const PanelOutcome panel = orthogonalization_->orthonormalize(this->basis_, j, 1, system, this->relation_, r);
      cycle.finite = panel.finite;
      panelRank = panel.rank;
      if (panel.rank == 2) {
        this->extend(system, stop, j, 1, plain, r, cycle);  // h_{:,j}, rotations, residual
      } else if (panel.rank == 1 && panel.finite) {
        this->classicalStep(system, stop, j, r, cycle);
      }
    }
    this->complete(*orthogonalization_, system, stop, cycle);
  }

 private:
  SolverOptions options_;
  KeptGramSchmidt<Types> orthogonalization_;
};

}  // namespace capstan
