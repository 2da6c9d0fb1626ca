#pragma once
/// \file
/// The classical cycle of GMRES, one reduction an iteration: all there is of CAPSTAN GMRES, and what the pipelined
/// methods go on with where they cannot.
///
/// Source: [Saad and Schultz 1986], algorithm 4; orthogonalisation: delayed CGS2, which is single-reduce block CGS2 of
/// [low-sync] (Fig. 3) for panels of one vector [q_j, A M^{-1} q_j]. Other schemes are chosen by "Block
/// Orthogonalization".
///
/// Cost of an iteration: 1 reduction (single-reduce schemes) and 1 fence for each, 1 A, 1 M^{-1}, two passes over the
/// basis. Storage: that of the cycle alone, see krylov_space.hpp. Overlap: none.
///
/// | paper        | here             | shape     | meaning                                      |
/// |--------------|------------------|-----------|----------------------------------------------|
/// | q_j, v_{j+1} | columns of Q     | n x 1     | last basis vector and A M^{-1} q_j           |
/// | r_{:,j+1}    | r                | (j+2) x 2 | [q_j, v_{j+1}] = Q r; q_j is corrected again |
/// | H            | cycle.relation() | (m+1) x m | projected operator                           |

#include <algorithm>

#include "belos_ext/orthogonalization/kept_gram_schmidt.hpp"
#include "belos_ext/solvers/gmres/gmres_cycle.hpp"

namespace capstan {

template <class Types>
class ClassicalCycle {
 public:
  using Scalar = typename Types::Scalar;
  using Matrix = SmallMatrix<Scalar>;

  /// Takes "Block Orthogonalization" and "Intra Orthogonalization". Local.
  void configure(const SolverOptions& options) { options_ = options; }

  /// A whole cycle: q_0 = M_L^{-1} r / beta, then as many columns as it takes, or as there may be. Collective.
  /// \param spent iterations of this cycle that led nowhere: it has as many columns less, so that restarts mean what
  ///   they say
  CycleOutcome run(GmresCycle<Types>& cycle, LinearSystem<Types>& system, Scalar beta, StopTest& stop, int spent = 0) {
    cycle.begin(system, beta);
    CycleOutcome outcome;
    goOn(cycle, system, stop, outcome, spent);
    return outcome;
  }

  /// The rest of a cycle, after the columns it has: q_0 .. q_j, orthonormal up to rounding or worse, and H. With the
  /// first product all of them are orthonormalised again (single-reduce schemes), and H follows. Collective.
  /// \param spent as for run(): columns that the cycle had and has lost
  void goOn(GmresCycle<Types>& cycle, LinearSystem<Types>& system, StopTest& stop, CycleOutcome& outcome,
            int spent = 0) {
    const int most = std::max(1, cycle.length() - spent);
    orthogonalization_.get(options_, cycle.basis()[0].getMap()->getComm()).begin(cycle.length());
    Matrix r, plain(2, 1);
    plain(1, 0) = 1;

    int panelRank = 2;
    while (outcome.columns < most && !stop.exhausted() && !outcome.claimed && !outcome.stopped && outcome.finite &&
           panelRank > 0) {
      const int j = outcome.columns;
      cycle.apply(system, j);  // v_{j+1} = A M^{-1} q_j
      const PanelOutcome panel = orthogonalization_->orthonormalize(cycle.basis(), j, 1, system, cycle.relation(), r);
      outcome.finite = panel.finite;
      panelRank = panel.rank;
      if (panel.rank == 2) {
        cycle.extend(system, stop, j, 1, plain, r, outcome);  // h_{:,j}, rotations, residual
      } else if (panel.rank == 1 && panel.finite) {
        cycle.classicalStep(system, stop, j, r, outcome);
      }
    }
    cycle.complete(*orthogonalization_, system, stop, outcome);
  }

 private:
  SolverOptions options_;
  KeptGramSchmidt<Types> orthogonalization_;
};

}  // namespace capstan
