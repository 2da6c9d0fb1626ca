#pragma once
/// \file
/// What a Krylov method sees of the outside world, for one right-hand side: the operator, the preconditioner on its
/// side, reductions, and the end of an iteration or block. No method touches MPI, Belos or a preconditioner directly.
///
/// Two kinds exist: DirectSystem acts at once (one right-hand side); the columns of a Lockstep make several
/// right-hand sides advance together, their operator applications and reductions merged.

#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "belos_ext/convergence/residual_measure.hpp"
#include "belos_ext/events/event.hpp"
#include "tpetra_ext/operators/block_kernels.hpp"
#include "tpetra_ext/operators/diagonal_rows.hpp"
#include "tpetra_ext/operators/embedded_operator.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"

namespace capstan {

enum class Action { Preconditioned, Operator, LeftPreconditioner, RightPreconditioner };

/// What the ranks have agreed on in the first reduction of a solve: the same on all of them from then on.
struct AgreedFacts {
  bool onState = true;                ///< they hold the same state of earlier solves; else it is to be forgotten
  bool notOnState = false;            ///< they have found that they do not; both are false before they have looked
  bool onZeroGuess = false;           ///< the application's x is zero
  bool annihilatesConstants = false;  ///< the rows of A sum to zero
  bool nonsymmetric = false;          ///< A has been seen not to be symmetric: false is no proof of symmetry, which is
                                      ///< looked at for symmetric methods
};

/// What a system is, as long as it lives.
template <class Types>
struct SystemFacts {
  bool left = false, right = false;           ///< preconditioners there are
  bool diagonal = false;                      ///< they are known to scale by a diagonal and no more
  bool own = true;                            ///< what is known of the rows of A is for the method, too
  const DiagonalRows<Types>* rows = nullptr;  ///< symmetric methods solve them first, and keep them at zero; null: none
  ResidualMeasure* measure = nullptr;  ///< takes the norm that the tolerance is meant in; null: that is the 2-norm
  const AgreedFacts* agreed = nullptr;
};

/// What is applied.
template <class Types>
class Operators {
 public:
  using MultiVector = typename Types::MultiVector;

  virtual ~Operators() = default;
  /// out = action(in); both n x t on the system's map: t = 1, or t columns that belong to this one right-hand side
  /// (enlarged methods). Collective.
  virtual void act(Action action, const MultiVector& in, MultiVector& out) = 0;
  /// out = action(in), and what `then` says of it; single vectors. In the pass of the product where that can be.
  /// Collective.
  virtual void actThen(Action action, const MultiVector& in, MultiVector& out, const VectorRecurrence<Types>& then) = 0;
  /// r = b - A x. Its norm is to be reduced next: the norm that the tolerance is meant in goes with it. Collective.
  virtual void residual(const MultiVector& b, const MultiVector& x, MultiVector& r) = 0;
  /// The norm of r that the tolerance is meant in goes with the next reduce(), not with start(), where that is another
  /// one than the 2-norm. Local.
  virtual void takeMeasure(const MultiVector& r) = 0;
  /// z = M_L^{-1} r: from a residual to the one GMRES minimises. Collective.
  virtual void toNative(const MultiVector& r, MultiVector& z) { act(Action::LeftPreconditioner, r, z); }
  /// Products with A so far, of all that advance together; 0: nobody counts. Local; the same on all ranks.
  virtual long products() const { return 0; }
};

/// Products whose messages travel inside reductions (CAPSTAN CG EMBEDDED).
template <class Types>
class CarriedExchange {
 public:
  using MultiVector = typename Types::MultiVector;

  virtual ~CarriedExchange() = default;
  /// Of what this rank needs of others: a map of this rank alone. Local.
  virtual Teuchos::RCP<const typename Types::Map> ghostMap() const = 0;
  /// One reduction of the batch, which may be empty, and in the same messages to every rank what it needs of these
  /// vectors. Collective.
  virtual void carry(ReductionBatch<Types>& batch, const std::vector<CarriedVector<Types>>& vectors) = 0;
  /// out = A in, where what this rank needs of others is there, on ghostMap(); n x 1. Local.
  virtual void multiplyCarried(const MultiVector& in, const MultiVector& ghosts, MultiVector& out) = 0;
  /// Whether M^{-1} of a product by multiplyCarried() needs nothing of other ranks either: M is explicit, and the halo
  /// as deep as both need.
  virtual bool carriesPreconditioner() const = 0;
  /// u = M^{-1} of what the last multiplyCarried() has computed; n x 1. Where carriesPreconditioner(). Local.
  virtual void preconditionCarried(MultiVector& u) = 0;
};

/// What is summed over the ranks.
template <class Types>
class Reductions {
 public:
  virtual ~Reductions() = default;
  /// One blocking all-reduce of everything in the batch. Collective.
  virtual void reduce(ReductionBatch<Types>& batch) = 0;
  /// The same without waiting; the results are there after wait() of the handle. Not before the first reduce() of a
  /// solve, in which the ranks compare what they bring. Collective.
  virtual PendingReduction<Types> start(ReductionBatch<Types>& batch) { return batch.start(); }
  /// How products travel inside reductions; null where they do not. Known, and the same on all ranks, after the first
  /// reduction of a solve.
  virtual CarriedExchange<Types>* carried() { return nullptr; }
};

/// What a method tells.
template <class Types>
class Events {
 public:
  using MultiVector = typename Types::MultiVector;

  virtual ~Events() = default;
  /// The end of an iteration or block: status tests and output see the recursive residual norm and, on demand, the
  /// update of the solution. Returns false when the application's own test asks to stop. Collective.
  /// \param update writes the pending change of x into its argument; empty where x is updated in place
  virtual bool boundary(int iterations, double recursive, const std::function<void(MultiVector&)>& update) = 0;
  /// Records one iteration's residual in the history.
  virtual void record(int iteration, double recursive) = 0;
  /// Records something worth telling in the report.
  virtual void tell(int iteration, Event event) = 0;
  /// A step of CG, before it is taken: 1 / alpha = (p, A p) / (r, M^{-1} r), and the beta that its p was made with; 0:
  /// p begins anew. They are rows of the Lanczos matrix of M^{-1} A (spectrum/ritz_watch.hpp). To be called where x
  /// holds the iterate that has been counted last. May end the method by an exception, on all ranks alike. Collective.
  virtual void observe([[maybe_unused]] double pivot, [[maybe_unused]] double coupling) {}
  /// The first iteration begins: what has been applied so far, but for that iteration itself, was its start. Where it
  /// is said again before an iteration has been recorded, the last time counts. Local.
  /// \param operators, preconditioners how often A and M^{-1} have been applied for the first iteration already
  virtual void startUpEnds([[maybe_unused]] int operators = 0, [[maybe_unused]] int preconditioners = 0) {}
};

template <class Types>
class LinearSystem : public Operators<Types>, public Reductions<Types>, public Events<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  /// \param kernels keep their memory from solve to solve; they outlive the system, as what `facts` point to
  explicit LinearSystem(BlockKernels<Types>& kernels, const SystemFacts<Types>& facts = {})
      : kernels_(kernels), facts_(facts) {
    static const AgreedFacts none{};  // nvcc 11.8 wants the braces
    if (facts_.agreed == nullptr) facts_.agreed = &none;
  }

  const SystemFacts<Types>& facts() const { return facts_; }
  bool hasLeft() const { return facts_.left; }
  bool hasRight() const { return facts_.right; }
  const DiagonalRows<Types>* diagonalRows() const { return facts_.rows; }
  bool agreesOnState() const { return facts_.agreed->onState; }
  bool differsOnState() const { return facts_.agreed->notOnState; }
  bool agreesOnZeroGuess() const { return facts_.agreed->onZeroGuess; }
  bool annihilatesConstants() const { return facts_.own && facts_.agreed->annihilatesConstants; }
  bool isNonsymmetric() const { return facts_.agreed->nonsymmetric; }

  void actThen(Action action, const MultiVector& in, MultiVector& out, const VectorRecurrence<Types>& then) override {
    this->act(action, in, out);
    kernels_.recur(then, out);
  }

  /// out = A in, then the reduction, in one call. The batch may hold inner products with `out`. Collective.
  void applyAndReduce(const MultiVector& in, MultiVector& out, ReductionBatch<Types>& batch) {
    this->act(Action::Operator, in, out);
    this->reduce(batch);
  }

  bool preconditioned() const { return hasLeft() || hasRight(); }

  /// Whether a product too many costs more than a reduction may save: there is a preconditioner, of unknown cost.
  bool sparesProducts() const { return preconditioned() && !facts_.diagonal; }

  /// u = M_R^{-1} M_L^{-1} r, for methods that want M^{-1} = M_R^{-1} M_L^{-1} as a whole. `scratch` is used with both,
  /// and then holds M_L^{-1} r. Diagonal rows that are solved already stay zero.
  void precondition(const MultiVector& r, MultiVector* scratch, MultiVector& u) {
    if (hasLeft() && hasRight()) {
      this->act(Action::LeftPreconditioner, r, *scratch);
      this->act(Action::RightPreconditioner, *scratch, u);
    } else {
      this->act(hasLeft() ? Action::LeftPreconditioner : Action::RightPreconditioner, r, u);
    }
    if (const auto* rows = diagonalRows(); rows != nullptr) rows->clear(u);
  }

  /// w = M_L^{-1} A M_R^{-1} v.
  void apply(const MultiVector& v, MultiVector& w) { this->act(Action::Preconditioned, v, w); }

  /// r = b - A x has been computed: the next residual() of this x is a copy of it. Until then neither may change, nor
  /// b be another one. Local.
  void know(const MultiVector& x, const MultiVector& r) {
    known_ = &x;
    knownResidual_ = &r;
  }

  /// From now on the first residual() is kept in `first` and the latest in `latest`, n x 1 each, whatever becomes of
  /// the method's own; null: not. Local.
  void keepResiduals(MultiVector* first, MultiVector* latest) {
    first_ = first;
    latest_ = latest;
  }

  /// Whether r = b - A x is known to be this vector; null: it is not known. Local.
  const MultiVector* knownResidual(const MultiVector& x) const { return known_ == &x ? knownResidual_ : nullptr; }

  void residual(const MultiVector& b, const MultiVector& x, MultiVector& r) override {
    if (std::exchange(known_, nullptr) == &x) {
      kernels_.scale(Scalar(1), *knownResidual_, r);
    } else {
      actThen(Action::Operator, x, r, VectorRecurrence<Types>::differenceTo(b));
    }
    if (auto* const kept = std::exchange(first_, nullptr)) kernels_.scale(Scalar(1), r, *kept);
    if (latest_ != nullptr) kernels_.scale(Scalar(1), r, *latest_);
    takeMeasure(r);
  }

  void takeMeasure(const MultiVector& r) override {
    if (facts_.measure == nullptr) return;
    const HostNorm& host = facts_.measure->host();
    facts_.measure->take(host ? host.part(&r) : static_cast<double>(kernels_.absoluteSum(r)));
  }

  /// The norm that the tolerance is meant in, of the residual() that has been reduced last; NaN where that is the
  /// 2-norm. It belongs beside the 2-norm of the same vector (ResidualNorms), not to be asked for later. Local.
  double measured() const {
    return facts_.measure != nullptr ? facts_.measure->value() : std::numeric_limits<double>::quiet_NaN();
  }

  /// d = M_R^{-1} u: from the Krylov space to a change of x.
  void toSolution(const MultiVector& u, MultiVector& d) { this->act(Action::RightPreconditioner, u, d); }

  /// Whether squares of entries of v may be missing from (v, v). Local.
  static bool mayUnderflow(const MultiVector& v, Scalar square) {
    return square < static_cast<Scalar>(v.getGlobalLength()) * std::numeric_limits<Scalar>::min();
  }

  /// ||v|| from its reduced square. Where squares of entries may have underflowed they are summed again, scaled, which
  /// takes one more reduction: a vanishing sum of squares is no proof of a vanishing residual. Never below the smallest
  /// normal number but for v = 0, so that a vector can be divided by it.
  /// \param batch is cleared in that case. Collective
  double norm(const MultiVector& v, Scalar square, ReductionBatch<Types>& batch) {
    using Limits = std::numeric_limits<Scalar>;
    if (!mayUnderflow(v, square)) return std::sqrt(static_cast<double>(square));
    // Entries are below sqrt(n min()): their squares, so scaled, neither overflow nor underflow.
    const Scalar factor = std::ldexp(Scalar(1), Limits::digits - Limits::min_exponent / 2);
    batch.clear();
    const auto all = batch.value(kernels_.scaledSquares(v, factor));
    this->reduce(batch);
    if (batch[all] == Scalar(0)) return 0;  // not where v, computed anew since, has become NaN
    return static_cast<double>(std::max(std::sqrt(batch[all]) / factor, Limits::min()));
  }

  /// || M_L^{-1} r ||. 1 application of M_L^{-1}, 1 reduction. Collective.
  /// \param z gets M_L^{-1} r   \param batch is cleared
  double nativeNorm(const MultiVector& r, MultiVector& z, ReductionBatch<Types>& batch) {
    this->toNative(r, z);
    batch.clear();
    const auto slot = batch.norm2(z);
    this->reduce(batch);
    const Scalar square = batch[slot];
    return norm(z, square, batch);
  }

  BlockKernels<Types>& kernels() { return kernels_; }

 private:
  BlockKernels<Types>& kernels_;
  SystemFacts<Types> facts_;
  const MultiVector* known_ = nullptr;          ///< an x whose residual is known, once
  const MultiVector* knownResidual_ = nullptr;  ///< that residual
  MultiVector *first_ = nullptr, *latest_ = nullptr;
};

}  // namespace capstan
