#pragma once
/// \file
/// Classical restarted GMRES with one reduction an iteration: the oracle of the GMRES family.
///
/// Source: [Saad and Schultz 1986], algorithm 4, with the orthogonalisation of [low-sync]: classical_cycle.hpp has the
/// loop and its symbols, restarted_gmres.hpp the restarts.
///
/// Cost of an iteration: 1 reduction (single-reduce schemes) and 1 fence for each, 1 A, 1 M^{-1}, two passes over the
/// basis. Storage: m + 5 vectors. Overlap: none.

#include "belos_ext/solvers/gmres/classical_cycle.hpp"
#include "belos_ext/solvers/gmres/restarted_gmres.hpp"

namespace capstan {

template <class Types>
class Gmres : public RestartedGmres<Types> {
 public:
  using Base = RestartedGmres<Types>;
  using typename Base::Scalar;

  /// On the average of a cycle the panel [q_j, v] begins at j = (m - 1) / 2. Products with three columns, q_{j-1} among
  /// them, then one pass that writes these three; and x.
  static Cost cost(const SolverOptions& options, bool preconditioned) {
    const double m = options.numBlocks, j = (m - 1) / 2, kept = Base::keptVectors(options, preconditioned);
    return {1, 1, 1, m + 5 + kept, 10 * j + 11 + 2, 8 * (2 * (j + 2) + 3 + 1)};
  }

  void configure(const SolverOptions& options) override {
    this->configureCycles(options);
    classical_.configure(options);
  }

 protected:
  CycleOutcome iterate(LinearSystem<Types>& system, Scalar beta, StopTest& stop) override {
    return classical_.run(this->cycle_, system, beta, stop);
  }

 private:
  ClassicalCycle<Types> classical_;
};

}  // namespace capstan
