#pragma once
/// \file
/// What the cycles of all GMRES methods are made of: the space Q and H, the columns a method adds to H, claims of the
/// recursion, and the rungs that every ladder has.
///
/// Symbols as in krylov_space.hpp. Cost of what is not in the method's own loop: a claim that is examined takes one
/// candidate (candidate_iterate.hpp), a classical step 1 A, 1 M^{-1} and 3 reductions.

#include <cmath>

#include "belos_ext/orthogonalization/block_gram_schmidt.hpp"
#include "belos_ext/orthogonalization/vector_orthogonalization.hpp"
#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/solvers/gmres/candidate_iterate.hpp"
#include "belos_ext/solvers/gmres/exact_columns.hpp"
#include "belos_ext/support/bounded_quotients.hpp"

namespace capstan {

/// How a cycle ended.
struct CycleOutcome {
  int columns = 0;       ///< leading columns of H the update may use
  bool claimed = false;  ///< the recursion met its target
  bool finite = true;    ///< false: NaN or Inf came out of the operator, the preconditioner or the products
  bool stopped = false;  ///< the application's own test asked to stop
  bool closed = false;   ///< the Krylov space is invariant: H is square, there is no vector after the last column
};

template <class Types>
class GmresCycle {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Map = typename Types::Map;
  using Matrix = SmallMatrix<Scalar>;

  /// Makes room for cycles of m = `length` columns. Collective where it allocates.
  void resize(const Teuchos::RCP<const Map>& map, int length, typename KrylovSpace<Types>::Directions directions) {
    space_.resize(map, length, directions);
  }

  /// m.
  int length() const { return space_.length(); }
  /// Q, n x (m+1).
  KrylovBasis<Types>& basis() { return space_.basis(); }
  /// H.
  ArnoldiRelation<Scalar>& relation() { return space_.relation(); }
  const ArnoldiRelation<Scalar>& relation() const { return space_.relation(); }
  KrylovSpace<Types>& space() { return space_; }
  CandidateIterate<Types>& candidate() { return candidate_; }

  /// q_0 = M_L^{-1} r / beta. Collective where a candidate was not taken: then 1 A, 1 M_L^{-1}.
  void begin(LinearSystem<Types>& system, Scalar beta) {
    candidate_.forget(system);
    space_.begin(system, candidate_.native(), beta);
  }

  /// The next product. \see KrylovSpace::apply()
  void apply(LinearSystem<Types>& system, int j) { space_.apply(system, j); }

  /// Adds `gained` columns to H and follows their residuals, one iteration each: the count of iterations is not rounded
  /// up to a multiple of s. Then status tests have their turn. Collective.
  void extend(LinearSystem<Types>& system, StopTest& stop, int first, int gained, const Matrix& changeOfBasis,
              const Matrix& coefficients, CycleOutcome& outcome) {
    auto& relation = space_.relation();
    relation.addPanel(first, block(changeOfBasis, 0, 0, gained + 1, gained),
                      block(coefficients, 0, 0, first + gained + 1, gained + 1));
    relation.refresh();
    for (int c = first + 1; c <= first + gained && !outcome.claimed; ++c) {
      const double recursive = static_cast<double>(relation.leastSquares().residual(c));
      stop.iterated(recursive);
      system.record(stop.iterations(), recursive);
      outcome.columns = c;
      outcome.claimed = stop.reached(recursive) && !tooEarly(system, stop, c, recursive);
    }
    const int columns = outcome.columns;
    const auto update = [&, columns](MultiVector& out) { candidate_.show(system, space_, columns, out); };
    outcome.stopped = !system.boundary(stop.iterations(), stop.recursive(), update);
    if (!outcome.stopped) candidate_.hide();
  }

  /// One classical Arnoldi step after column `first` with explicit norms, where the fast orthogonalisation found
  /// nothing new. If nothing but rounding is left the Krylov space is invariant: the cycle closes and the true residual
  /// is asked. Collective.
  /// \param r coefficients of the panel that failed; its first column says what became of q_first
  void classicalStep(LinearSystem<Types>& system, StopTest& stop, int first, const Matrix& r, CycleOutcome& outcome) {
    system.tell(stop.iterations(), "reorthogonalise", "classical Gram-Schmidt with explicit norms");
    relation().reexpress(first, block(r, 0, 0, first + 1, 1));
    apply(system, first);
    explicit_.prepare(basis()[0].getMap()->getComm());
    Matrix coefficients, plain(2, 1);
    plain(1, 0) = 1;
    const VectorOutcome vector = explicit_.orthonormalize(basis(), first + 1, system, coefficients);
    outcome.finite = vector.finite;
    if (!vector.finite) return;
    extend(system, stop, first, 1, plain, coefficients, outcome);
    outcome.closed = !vector.independent;
    outcome.claimed = outcome.claimed || outcome.closed;
  }

  /// Second stage of two-stage schemes over the vectors of the cycle; H and the residual follow it. Collective.
  void complete(BlockGramSchmidt<Types>& orthogonalization, LinearSystem<Types>& system, StopTest& stop,
                CycleOutcome& outcome) {
    if (outcome.columns == 0) return;
    const int vectors = outcome.columns + (outcome.closed ? 0 : 1);
    const int usable = orthogonalization.finish(basis(), vectors, system, relation());
    relation().refresh();
    if (usable < vectors) {
      system.tell(stop.iterations(), "second stage", "lost rank at " + std::to_string(usable));
      outcome.columns = std::max(usable - 1, 0);
    }
  }

  /// The error of the next column of H, relative to the operator, that this solve still bears: it grows as the residual
  /// falls, the less the worse H is conditioned ([Simoncini and Szyld 2003]). Local.
  Scalar bearableError(const StopTest& stop) const {
    const auto& leastSquares = space_.relation().leastSquares();
    return ratioOr(static_cast<Scalar>(tuning::gmres::safety) * leastSquares.reciprocalCondition() *
                       static_cast<Scalar>(stop.target()),
                   leastSquares.residual(), Scalar(1));
  }

  /// The most columns from which a cycle can go on to the target; exact_columns.hpp has what it costs. Collective.
  int exactColumns(LinearSystem<Types>& system, const StopTest& stop, int columns, int step) {
    return ExactColumns<Types>(system, stop, space_, candidate_.batch()).most(columns, step);
  }

  /// How far column j of H is from the truth, relative to H. 1 A, 1 M^{-1}, 1 reduction. Collective.
  Scalar errorOf(LinearSystem<Types>& system, const StopTest& stop, int j) {
    return ExactColumns<Types>(system, stop, space_, candidate_.batch()).error(j);
  }

  /// Whether a refuted claim leaves less to do, from the residual it has led to, than doing `columns` - `kept` columns
  /// again. At the rate of the cycle. Local.
  bool restartsSooner(const StopTest& stop, int columns, int kept) const {
    const double now = candidate_.norms().native, before = static_cast<double>(space_.relation().beta());
    if (!(now < before)) return false;
    return columns * std::log(boundedRatio(now, stop.target())) <
           (columns - kept) * std::log(boundedRatio(before, now));
  }

  /// Whether a claim has been examined, and was refuted, since the recursion has lost touch with the residual. Local.
  bool isRefuted(const CycleOutcome& outcome) const {
    const auto& leastSquares = space_.relation().leastSquares();
    return outcome.claimed && !outcome.closed && candidate_.columns() == outcome.columns && candidate_.finite() &&
           !StopTest::trusts(candidate_.norms(), static_cast<double>(leastSquares.residual(outcome.columns)));
  }

 private:
  /// A claim after `columns` columns that the computed residual does not bear out, though the recursion is right (a
  /// left preconditioner, or another scaling, makes them differ): the cycle goes on, to a lower target. Where it ends
  /// anyway the update looks.
  bool tooEarly(LinearSystem<Types>& system, StopTest& stop, int columns, double recursive) {
    if (columns == length() || stop.exhausted()) return false;
    candidate_.form(system, space_, columns);
    return candidate_.finite() && stop.examined(candidate_.norms(), recursive) == Claim::TooEarly;
  }

  KrylovSpace<Types> space_;
  CandidateIterate<Types> candidate_;
  VectorOrthogonalization<Types> explicit_;
};

}  // namespace capstan
