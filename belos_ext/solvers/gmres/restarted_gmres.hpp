#pragma once
/// \file
/// The restart loop all GMRES methods share: true residual, a cycle of the method at hand, solution update, and again.
///
/// Source: [Saad and Schultz 1986], algorithm 4; flexible variant [Saad 1993].
///
/// | symbol | here        | shape     | meaning                                                            |
/// |--------|-------------|-----------|--------------------------------------------------------------------|
/// | Q      | basis_      | n x (m+1) | orthonormal basis of the Krylov space of M_L^{-1} A M_R^{-1} and z |
/// | Z      | directions_ | n x m     | M_j^{-1} v_j, with flexible preconditioning only                   |
/// | H      | relation_   | (m+1) x m | projected operator, replicated                                     |
/// | r, z   | r_, z_      | n x 1     | b - A x and M_L^{-1} r                                             |
///
/// Cost of a restart, and of a claim that is examined: 1 reduction, 1 A, 1 M_L^{-1}, 1 M_R^{-1}, m + 1 vectors read
/// once. A claim that stands is examined once, not again when x is updated.
///
/// x is never left with a larger ||z|| than an iterate before it had: what an absurd basis or a preconditioner that
/// changes makes of x is refused.

#include <limits>

#include "belos_ext/basis/krylov_basis.hpp"
#include "belos_ext/dense/arnoldi_relation.hpp"
#include "belos_ext/orthogonalization/kept_gram_schmidt.hpp"
#include "belos_ext/orthogonalization/vector_orthogonalization.hpp"
#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/problem/kept_iterate.hpp"
#include "belos_ext/solvers/common/krylov_solver.hpp"
#include "belos_ext/solvers/common/rounding_level.hpp"
#include "belos_ext/solvers/gmres/exact_columns.hpp"
#include "belos_ext/solvers/gmres/restart_length.hpp"

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
class RestartedGmres : public KrylovSolver<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Matrix = SmallMatrix<Scalar>;

  void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) final {
    prepare(b);
    b_ = &b;
    x_ = &x;
    system.residual(b, x, *r_);
    system.toNative(*r_, *z_);
    batch_->clear();
    const auto native = batch_->norm2(*z_), explicit_ = batch_->norm2(*r_), rhs = batch_->norm2(b);
    wantedLength_.enter(*batch_, static_cast<double>(bases() * b.getLocalLength() * sizeof(Scalar)));
    system.reduce(*batch_);
    restartLength_ = wantedLength_.agreed(*batch_);
    if (restartLength_ < wantedLength_.wanted()) {
      system.tell(0, "restart length", std::to_string(restartLength_) + ": longer bases would take too much memory");
    }
    const int agreed = restartLength_;
    if (!system.agreesOnState()) forget();
    restartLength_ = agreed;
    limitCycle(b, stop);
    basis_.resize(b.getMap(), restartLength_ + 1);
    if (flexible_) directions_.resize(b.getMap(), restartLength_);
    const Scalar zz = (*batch_)[native], rr = (*batch_)[explicit_], bb = (*batch_)[rhs];
    ResidualNorms norms{system.norm(*z_, zz, *batch_), system.norm(*r_, rr, *batch_)};
    stop.begin(norms, system.norm(b, bb, *batch_));
    stop.verified(norms, false);

    while (!stop.over()) {
      const CycleOutcome cycle = iterate(system, static_cast<Scalar>(norms.native), stop);
      if (cycle.columns == 0) {
        stop.stop(cycle.finite ? StopReason::Breakdown : StopReason::NonFinite);
        break;
      }
      const Update made = update(system, x, cycle.columns, norms);
      if (made == Update::Refused) {
        system.tell(stop.iterations(), "refused", "what a cycle found would make the residual larger");
      }
      if (made == Update::NotFinite) {
        stop.stop(StopReason::NonFinite);
      } else if (!stop.verified(norms, cycle.claimed)) {
        if (cycle.stopped) stop.stop(StopReason::UserTest);
        if (cycle.claimed) {
          system.tell(stop.iterations(), "residual replacement",
                      "the computed residual does not meet the tolerance yet");
        }
        if (cycle.claimed) rounding_.ends(system, x, stop);
        stop.restarted(cycle.claimed);
      }
    }
    goBack(system, x, norms, stop);
  }

 protected:
  /// Drops what recall() took over: the ranks do not agree on it.
  virtual void forget() {}

  /// Takes the restart length of these options, and whether the preconditioner may change.
  void configureCycles(const SolverOptions& options) {
    wantedLength_.configure(options);
    restartLength_ = options.numBlocks;
    flexible_ = options.flexible;
  }

  /// Vectors that each iteration of a cycle adds to what is kept.
  virtual std::size_t bases() const { return flexible_ ? 2 : 1; }

  /// Runs one cycle from z / beta: fills basis_ and relation_, counts iterations, stops at the target. Collective.
  virtual CycleOutcome iterate(LinearSystem<Types>& system, Scalar beta, StopTest& stop) = 0;

  /// v_{j+1} = M_L^{-1} A M_R^{-1} v_j; with flexible preconditioning M_R^{-1} v_j is kept in Z.
  void applyTo(LinearSystem<Types>& system, int j) {
    if (flexible_) {
      system.act(Action::RightPreconditioner, basis_[j], directions_[j]);
      system.act(Action::Operator, directions_[j], basis_[j + 1]);
    } else {
      system.apply(basis_[j], basis_[j + 1]);
    }
  }

  /// q_0 = z / beta.
  void start(LinearSystem<Types>& system, Scalar beta) {
    forgetCandidate(system);
    system.kernels().scale(Scalar(1) / beta, *z_, basis_[0]);
    relation_.begin(restartLength_, beta, flexible_);
  }

  /// Adds `gained` columns to H and follows their residuals, one iteration each: the count of iterations is not rounded
  /// up to a multiple of s. Then status tests have their turn.
  void extend(LinearSystem<Types>& system, StopTest& stop, int first, int gained, const Matrix& changeOfBasis,
              const Matrix& coefficients, CycleOutcome& cycle) {
    relation_.addPanel(first, block(changeOfBasis, 0, 0, gained + 1, gained),
                       block(coefficients, 0, 0, first + gained + 1, gained + 1));
    relation_.refresh();
    for (int c = first + 1; c <= first + gained && !cycle.claimed; ++c) {
      const double recursive = static_cast<double>(relation_.leastSquares().residual(c));
      stop.iterated(recursive);
      system.record(stop.iterations(), recursive);
      cycle.columns = c;
      cycle.claimed = stop.reached(recursive) && !tooEarly(system, stop, c, recursive);
    }
    const int columns = cycle.columns;
    const auto update = [&, columns](MultiVector& out) {
      combine(system, columns);
      system.kernels().scale(Scalar(1), *u_, out);
    };
    cycle.stopped = !system.boundary(stop.iterations(), stop.recursive(), update);
  }

  /// One classical Arnoldi step after column `first` with explicit norms, where the fast orthogonalisation found
  /// nothing new. If nothing but rounding is left the Krylov space is invariant: the cycle closes and the true residual
  /// is asked. \param r coefficients of the panel that failed; its first column says what became of q_first
  void classicalStep(LinearSystem<Types>& system, StopTest& stop, int first, const Matrix& r, CycleOutcome& cycle) {
    system.tell(stop.iterations(), "reorthogonalise", "classical Gram-Schmidt with explicit norms");
    relation_.reexpress(first, block(r, 0, 0, first + 1, 1));
    applyTo(system, first);
    vectorOrthogonalization_.prepare(basis_[0].getMap()->getComm());
    Matrix coefficients, plain(2, 1);
    plain(1, 0) = 1;
    const VectorOutcome vector = vectorOrthogonalization_.orthonormalize(basis_, first + 1, system, coefficients);
    cycle.finite = vector.finite;
    if (!vector.finite) return;
    extend(system, stop, first, 1, plain, coefficients, cycle);
    cycle.closed = !vector.independent;
    cycle.claimed = cycle.claimed || cycle.closed;
  }

  /// Second stage of two-stage schemes over the vectors of the cycle; H and the residual follow it.
  void complete(BlockGramSchmidt<Types>& orthogonalization, LinearSystem<Types>& system, StopTest& stop,
                CycleOutcome& cycle) {
    if (cycle.columns == 0) return;
    const int vectors = cycle.columns + (cycle.closed ? 0 : 1);
    const int usable = orthogonalization.finish(basis_, vectors, system, relation_);
    relation_.refresh();
    if (usable < vectors) {
      system.tell(stop.iterations(), "second stage", "lost rank at " + std::to_string(usable));
      cycle.columns = std::max(usable - 1, 0);
    }
  }

  /// The most columns from which a cycle can go on to the target; exact_columns.hpp has what it costs.
  int exactColumns(LinearSystem<Types>& system, const StopTest& stop, int columns, int step) {
    return ExactColumns<Types>(system, stop, basis_, relation_, *u_, *batch_).most(columns, step);
  }

  /// Whether a refuted claim leaves less to do, from the residual it has led to, than doing `columns` - `kept` columns
  /// again. At the rate of the cycle.
  bool restartsSooner(const StopTest& stop, int columns, int kept) const {
    const double now = candidateIs_.norms.native, before = static_cast<double>(relation_.beta());
    if (!(now < before)) return false;
    return columns * std::log(now / stop.target()) < (columns - kept) * std::log(before / now);
  }

  /// Whether a claim has been examined, and was refuted, since the recursion has lost touch with the residual.
  bool isRefuted(const CycleOutcome& cycle) const {
    return cycle.claimed && !cycle.closed && candidateIs_.columns == cycle.columns && candidateIs_.finite &&
           !StopTest::trusts(candidateIs_.norms, static_cast<double>(relation_.leastSquares().residual(cycle.columns)));
  }

  int restartLength_ = 0;  ///< as the ranks have agreed, from the first reduction of a solve on
  bool flexible_ = false;
  KrylovBasis<Types> basis_, directions_;
  ArnoldiRelation<Scalar> relation_;

 private:
  using Vector = Teuchos::RCP<MultiVector>;

  enum class Update { Made, Refused, NotFinite };

  /// What stands in candidate_, with its residuals in r_ and z_.
  struct Candidate {
    int columns = 0;  ///< 0: none
    bool finite = false;
    ResidualNorms norms;
  };
  /// No cycle can be longer than the iterations there may be, or than the Krylov space.
  void limitCycle(const MultiVector& b, const StopTest& stop) {
    const auto rows = std::min<Tpetra::global_size_t>(b.getGlobalLength(), std::numeric_limits<int>::max());
    restartLength_ = std::max(1, std::min({restartLength_, stop.criteria().maxIterations, static_cast<int>(rows)}));
  }

  void prepare(const MultiVector& b) {
    const auto map = b.getMap();
    candidateIs_ = {};
    best_ = std::numeric_limits<double>::infinity();
    if (r_.is_null() || r_->getMap().get() != map.get()) {
      for (Vector* v : {&r_, &z_, &u_, &candidate_}) *v = Teuchos::rcp(new MultiVector(map, 1, false));
      batch_ = std::make_unique<ReductionBatch<Types>>(map->getComm());
    }
  }

  /// u = Q y (or Z y).
  void combine(LinearSystem<Types>& system, int columns) {
    const std::vector<Scalar> y = relation_.leastSquares().solve(columns);
    Matrix coefficients(columns, 1);
    for (int i = 0; i < columns; ++i) coefficients(i, 0) = y[static_cast<std::size_t>(i)];
    u_->putScalar(0);
    system.kernels().accumulate(*(flexible_ ? directions_ : basis_).columns(0, columns), coefficients, *u_);
  }

  /// M_R^{-1} u; Z y needs no preconditioner.
  void mapUpdate(LinearSystem<Types>& system, MultiVector& out) {
    if (flexible_) {
      system.kernels().scale(Scalar(1), *u_, out);
    } else {
      system.toSolution(*u_, out);
    }
  }

  /// A claim after `columns` columns that the computed residual does not bear out, though the recursion is right (a
  /// left preconditioner, or another scaling, makes them differ): the cycle goes on, to a lower target. Where it ends
  /// anyway the update looks.
  bool tooEarly(LinearSystem<Types>& system, StopTest& stop, int columns, double recursive) {
    if (columns == restartLength_ || stop.exhausted()) return false;
    form(system, columns);
    return candidateIs_.finite && stop.examined(candidateIs_.norms, recursive) == Claim::TooEarly;
  }

  /// candidate = x + M_R^{-1} Q y, with its residuals and their norms.
  void form(LinearSystem<Types>& system, int columns) {
    combine(system, columns);
    mapUpdate(system, *candidate_);
    system.kernels().axpby(Scalar(1), *x_, Scalar(1), *candidate_);
    system.residual(*b_, *candidate_, *r_);
    system.toNative(*r_, *z_);
    batch_->clear();
    const auto native = batch_->norm2(*z_), explicit_ = batch_->norm2(*r_), size = batch_->norm2(*candidate_);
    system.reduce(*batch_);
    const Scalar zz = (*batch_)[native], rr = (*batch_)[explicit_], xx = (*batch_)[size];
    const ResidualNorms norms{system.norm(*z_, zz, *batch_), system.norm(*r_, rr, *batch_)};
    candidateIs_ = {columns, std::isfinite(norms.native) && std::isfinite(norms.explicit_) && std::isfinite(xx), norms};
  }

  /// Puts the residuals of x back in the place of those of a candidate that was not taken.
  void forgetCandidate(LinearSystem<Types>& system) {
    if (candidateIs_.columns == 0) return;
    candidateIs_ = {};
    system.residual(*b_, *x_, *r_);
    system.toNative(*r_, *z_);
  }

  /// x <- x + M_R^{-1} Q y, if it and its residual are finite and the residual is hardly larger than that of x: it
  /// cannot be without an A or M that changes, or a basis that is none. Else the same with fewer columns; in the end x
  /// stays.
  Update update(LinearSystem<Types>& system, MultiVector& x, int columns, ResidualNorms& norms) {
    bool finite = false;
    for (; columns > 0; columns /= 2) {
      if (candidateIs_.columns != columns) form(system, columns);
      if (!candidateIs_.finite) continue;
      finite = true;
      const ResidualNorms& now = candidateIs_.norms;
      if (now.native > tuning::gmres::tolerated * norms.native) continue;
      if (now.native > norms.native) keep(system, x, norms);
      norms = now;
      system.kernels().scale(Scalar(1), *candidate_, x);
      candidateIs_ = {};
      return Update::Made;
    }
    if (!finite) return Update::NotFinite;
    forgetCandidate(system);
    return Update::Refused;
  }

  /// Remembers x, which the next one will be a little worse than: near the attainable accuracy residuals rise and fall.
  void keep(LinearSystem<Types>& system, const MultiVector& x, const ResidualNorms& norms) {
    if (best_ <= norms.native) return;
    bestX_.keep(system, x);
    best_ = norms.native;
    bestNorms_ = norms;
  }

  /// Returns to the x of the smallest native residual, if that is not the last one. The application's own test has
  /// judged the last one.
  void goBack(LinearSystem<Types>& system, MultiVector& x, const ResidualNorms& norms, StopTest& stop) {
    if (stop.converged() || stop.reason() == StopReason::UserTest || !(best_ < norms.native)) return;
    bestX_.restore(system, x);
    stop.wentBack(bestNorms_);
    system.tell(stop.iterations(), "went back", "to an earlier iterate with a smaller residual");
  }

  double best_ = std::numeric_limits<double>::infinity();  ///< native residual of bestX_
  ResidualNorms bestNorms_;
  KeptIterate<Types> bestX_;  ///< kept where a cycle makes the residual larger
  Vector r_, z_, u_, candidate_;
  Candidate candidateIs_;
  const MultiVector* b_ = nullptr;  ///< those of the solve at work
  const MultiVector* x_ = nullptr;
  RoundingLevel<Types> rounding_;
  RestartLength<Types> wantedLength_;
  VectorOrthogonalization<Types> vectorOrthogonalization_;
  std::unique_ptr<ReductionBatch<Types>> batch_;
};

}  // namespace capstan
