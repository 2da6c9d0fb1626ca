#pragma once
/// \file
/// What goes on where CG or BiCGStab cannot: GMRES with a short restart, which needs no symmetry.

#include <fmt/format.h>

#include <algorithm>

#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/problem/right_preconditioned_system.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/solvers/gmres/gmres.hpp"

namespace capstan {

template <class Types>
class GmresFallback {
 public:
  using MultiVector = typename Types::MultiVector;

  void configure(const SolverOptions& options) {
    wanted_ = options.fallback == Fallback::Gmres;
    options_ = options;
    options_.numBlocks = tuning::gmres::fallbackRestart;
    options_.numBlocksGiven = true;
    options_.flexible = false;
    options_.blockOrthogonalization = SolverOptions().blockOrthogonalization;
    options_.intraOrthogonalization = SolverOptions().intraOrthogonalization;
  }

  /// Whether GMRES may go on.
  bool wanted() const { return wanted_; }

  /// Goes on from x, with M^{-1} on the right, so that b - A x is what GMRES minimises. `stop` has begun. Collective.
  /// \param why the other method cannot go on
  void goOn(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, const std::string& why) {
    const int m = static_cast<int>(
        std::min<Tpetra::global_size_t>(static_cast<Tpetra::global_size_t>(tuning::gmres::fallbackRestart),
                                        std::max<Tpetra::global_size_t>(b.getGlobalLength(), 1)));
    const double megabytes = 1e-6 * (m + 6) * static_cast<double>(b.getGlobalLength()) * sizeof(typename Types::Scalar);
    system.tell(stop.iterations(), "fallback",
                fmt::format("{}; going on with CAPSTAN GMRES, restart {}, {} vectors more ({:.3g} MB on all ranks)",
                            why, m, m + 6, megabytes));
    if (system.preconditioned()) vectorLike(b, scratch_);
    if (system.hasLeft() && system.hasRight()) vectorLike(b, between_);
    options_.numBlocks = m;
    gmres_.configure(options_);
    RightPreconditionedSystem<Types> right(system, scratch_.get(), between_.get());
    gmres_.solve(right, b, x, stop);
  }

 private:
  bool wanted_ = true;
  SolverOptions options_;
  Gmres<Types> gmres_;
  Teuchos::RCP<MultiVector> scratch_, between_;
};

}  // namespace capstan
