#pragma once
/// \file
/// The local dense kernels of tpetra_ext/kernels on Tpetra::MultiVector columns, with small matrices given from the
/// host.
///
/// All functions are local. Coefficients are copied into memory the execution space can read before the launch, so the
/// caller may change them at once; no function waits for the kernel, unless it says so. Distributed operands need
/// constant stride and equal local lengths.
///
/// The time of all but fill(), scaledSquares(), absoluteSum() and finite() is added to counters().kernelSeconds (on a
/// GPU: until the launch). They look at pending reductions when they end, on CPUs also between chunks of rows if they
/// take long (see progress.hpp).

#include <Teuchos_SerialDenseMatrix.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/kernels/dots.hpp"
#include "tpetra_ext/kernels/orthonormalize.hpp"
#include "tpetra_ext/kernels/sweep.hpp"
#include "tpetra_ext/kernels/sweep_list.hpp"
#include "tpetra_ext/node_queue.hpp"
#include "tpetra_ext/operators/coefficient_staging.hpp"
#include "tpetra_ext/operators/counted_passes.hpp"
#include "tpetra_ext/operators/entry_kernels.hpp"
#include "tpetra_ext/operators/vector_sweep.hpp"
#include "tpetra_ext/reductions/progress.hpp"
#include "tpetra_ext/single_columns.hpp"

namespace capstan {

/// Keeps its staging memory: let it live as long as the solver, not as long as a solve.
template <class Types>
class BlockKernels {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using ExecutionSpace = typename Types::ExecutionSpace;
  using HostMatrix = Teuchos::SerialDenseMatrix<int, Scalar>;
  using Singles = SingleColumns<Types>;

  /// V -= Q R. Q: n x k, R: k x s, V: n x s.
  void update(const MultiVector& q, const HostMatrix& r, MultiVector& v) {
    const auto from = detail::readable(q);
    updateBy(*from, r, v);
  }
  /// The same, Q in single precision.
  void update(const Singles& q, const HostMatrix& r, MultiVector& v) { updateBy(q, r, v); }

  /// V = W - Q R, in one pass. W, V: n x s, V is neither Q nor W.
  void updateFrom(const MultiVector& w, const MultiVector& q, const HostMatrix& r, MultiVector& v) {
    const LocalWork work;
    const auto from = detail::readable(w), basis = detail::readable(q);
    const auto to = detail::writable(v);
    detail::countUpdate(*basis, *from, *to);
    kernels::updateFrom(queue_, *from, *basis, *staged(r), *to);
  }

  /// X += Q Y. Q: n x k, Y: k x t, X: n x t.
  void accumulate(const MultiVector& q, const HostMatrix& y, MultiVector& x) {
    const auto from = detail::readable(q);
    accumulateBy(*from, y, x);
  }
  /// The same, Q in single precision.
  void accumulate(const Singles& q, const HostMatrix& y, MultiVector& x) { accumulateBy(q, y, x); }

  /// V <- V U^{-1}, U upper triangular s x s.
  void triangularSolve(MultiVector& v, const HostMatrix& u) {
    const LocalWork work;
    const auto block = detail::writable(v);
    detail::countOrthonormalize(detail::noColumns(*block), detail::noColumns(*block), *block);
    kernels::triangularSolve(queue_, *block, *staged(u));
  }

  /// One pass: P <- P S^{-1}; V <- (V - [Q P] R) U^{-1}. Q or P may be null (no columns).
  void orthonormalize(const MultiVector* q, MultiVector* p, const HostMatrix& s, MultiVector& v, const HostMatrix& r,
                      const HostMatrix& u) {
    const auto block = detail::writable(v);
    using Tall = std::decay_t<decltype(*block)>;
    using ConstTall = typename Tall::const_type;
    std::optional<decltype(detail::readable(v))> basis;
    std::optional<decltype(detail::writable(v))> before;
    if (q != nullptr) basis.emplace(detail::readable(*q));
    if (p != nullptr) before.emplace(detail::writable(*p));
    const Tall none = detail::noColumns(*block);
    const ConstTall qView = basis.has_value() ? ConstTall(**basis) : ConstTall(none);
    const Tall pView = before.has_value() ? **before : none;
    const LocalWork work;
    detail::countOrthonormalize(qView, pView, *block);
    kernels::orthonormalize(queue_, qView, pView, *staged(s), *block, *staged(r), *staged(u));
  }

  /// The same with Q in single precision, from where P, if it is not null, goes to `single`, too.
  void orthonormalize(const Singles& q, MultiVector* p, const HostMatrix& s, const Singles& single, MultiVector& v,
                      const HostMatrix& r, const HostMatrix& u) {
    const auto block = detail::writable(v);
    const LocalWork work;
    if (p == nullptr) {
      const auto none = detail::noColumns(*block);
      detail::countOrthonormalize(q, none, *block);
      return kernels::orthonormalize(queue_, q, none, *staged(s), *block, *staged(r), *staged(u));
    }
    const auto before = detail::writable(*p);
    detail::countOrthonormalize(q, *before, *block, &single);
    kernels::orthonormalize(queue_, q, *before, *staged(s), single, *block, *staged(r), *staged(u));
  }

  /// `to` = what single precision has of `from`, of as many columns.
  void round(const MultiVector& from, const Singles& to) {
    const LocalWork work;
    const auto given = detail::readable(from);
    detail::countRound(*given, to);
    kernels::round(queue_, *given, to);
  }

  /// Several updates of single vectors of one length in one pass over memory, in order: VectorUpdate, ScaledUpdate.
  template <class First, class... Rest>
  void sweep(const First& first, const Rest&... rest) {
    const LocalWork work;
    sweepHeld(first.y.getLocalLength(), held(first), held(rest)...);
  }

  void sweep(const SweepList<Types>& list) {
    const LocalWork work;
    detail::countList(list.rows(), list.list());
    kernels::sweep(queue_, list.rows(), list.list());
  }

  /// y = a x + b y; b == 0 overwrites.
  void axpby(Scalar a, const MultiVector& x, Scalar b, MultiVector& y) { sweep(capstan::axpby(a, x, b, y)); }

  /// y = a x.
  void scale(Scalar a, const MultiVector& x, MultiVector& y) { sweep(capstan::axpby(a, x, Scalar(0), y)); }

  /// Every entry of v = value, behind what kernels do to v: on CPUs Tpetra fills memory at once.
  void fill(Scalar value, MultiVector& v) const {
    kernels::handOver<ExecutionSpace>();
    v.putScalar(value);
  }

  /// What a recurrence says, in one pass; nothing where it changes nothing.
  void recur(const VectorRecurrence<Types>& then, MultiVector& w) {
    if (then.plain()) return;
    SweepList<Types> list(w.getLocalLength());
    list.recur(then, w);
    sweep(list);
  }
  /// w = a w + b v + c u in one pass; terms with a zero factor are not read, unless all are zero.
  void recur(Scalar a, MultiVector& w, Scalar b, const MultiVector& v, Scalar c, const MultiVector& u) {
    recur({a, b, &v, c, &u}, w);
  }

  /// v = entries in (-1, 1) that depend on the global row and the series alone, the same on any number of ranks. A
  /// single vector.
  void scatter(MultiVector& v, std::uint64_t series = 0) const {
    const LocalWork work;
    const auto rows = v.getMap()->getLocalMap();
    const auto held = detail::overwritableColumn(v);
    const auto& column = *held;
    VectorPass(column.extent(0)).writes(column.data());
    kernels::launch(
        "capstan scatter", queue_, column.extent(0),
        detail::ScatterEntry<std::decay_t<decltype(rows)>, std::decay_t<decltype(column)>>{rows, column, series});
  }

  /// y = x with pseudo-random signs, which depend on the global row alone: the same on any number of ranks. Single
  /// vectors.
  void changeSigns(const MultiVector& x, MultiVector& y) const {
    const LocalWork work;
    const auto rows = x.getMap()->getLocalMap();
    const auto source = detail::readableColumn(x);
    const auto target = detail::overwritableColumn(y);
    const auto& from = *source;
    const auto& to = *target;
    VectorPass pass(to.extent(0));
    pass.reads(from.data());
    pass.writes(to.data());
    kernels::launch(
        "capstan signs", queue_, from.extent(0),
        detail::ChangeSign<std::decay_t<decltype(rows)>, std::decay_t<decltype(from)>, std::decay_t<decltype(to)>>{
            rows, from, to});
  }

  /// The sum of (factor x_i)^2 over this rank's part of a single vector. Waits for the result.
  Scalar scaledSquares(const MultiVector& v, Scalar factor) const {
    const auto held = detail::readableColumn(v);
    const auto& column = *held;
    detail::countRead(column, 3);
    Scalar squares = 0;
    kernels::reduceAndWait("capstan squares", queue_, column.extent(0),
                           detail::AddScaledSquare<std::decay_t<decltype(column)>>{column, factor}, squares);
    return squares;
  }

  /// The sum of |v_i| over this rank's part of a single vector. Waits for the result.
  Scalar absoluteSum(const MultiVector& v) const {
    const auto held = detail::readableColumn(v);
    const auto& column = *held;
    detail::countRead(column, 1);
    return kernels::magnitudes(queue_, column);
  }

  /// Whether this rank's part of a single vector holds neither NaN nor Inf. Waits for the result.
  bool finite(const MultiVector& v) const {
    const auto held = detail::readableColumn(v);
    const auto& column = *held;
    detail::countRead(column, 1);
    std::size_t others = 0;
    kernels::reduceAndWait("capstan finite", queue_, column.extent(0),
                           detail::CountNotFinite<std::decay_t<decltype(column)>>{column}, others);
    return others == 0;
  }

  kernels::Queue<ExecutionSpace>& queue() const { return queue_; }

 private:
  /// A step whose vectors are held.
  struct HeldUpdate {
    Scalar a, b;
    decltype(detail::readableColumn(std::declval<const MultiVector&>())) x;
    decltype(detail::writableColumn(std::declval<MultiVector&>())) y;

    explicit HeldUpdate(const VectorUpdate<MultiVector>& op)
        : a(op.a), b(op.b), x(detail::readableColumn(op.x)), y(detail::writableColumn(op.y)) {}
    auto operation() const { return kernels::axpby(a, *x, b, *y); }
  };
  struct HeldScaledUpdate {
    decltype(detail::readableColumn(std::declval<const MultiVector&>())) d, x;
    Scalar b;
    decltype(detail::writableColumn(std::declval<MultiVector&>())) y;

    explicit HeldScaledUpdate(const ScaledUpdate<MultiVector>& op)
        : d(detail::readableColumn(op.d)), x(detail::readableColumn(op.x)), b(op.b), y(detail::writableColumn(op.y)) {}
    auto operation() const { return kernels::scaledAxpby(*d, *x, b, *y); }
  };
  static HeldUpdate held(const VectorUpdate<MultiVector>& op) { return HeldUpdate(op); }
  static HeldScaledUpdate held(const ScaledUpdate<MultiVector>& op) { return HeldScaledUpdate(op); }

  template <class Q>
  void updateBy(const Q& q, const HostMatrix& r, MultiVector& v) {
    const LocalWork work;
    const auto to = detail::writable(v);
    detail::countUpdate(q, *to, *to);
    kernels::update(queue_, q, *staged(r), *to);
  }

  template <class Q>
  void accumulateBy(const Q& q, const HostMatrix& y, MultiVector& x) {
    const LocalWork work;
    const auto to = detail::writable(x);
    detail::countUpdate(q, *to, *to);
    kernels::accumulate(queue_, q, *staged(y), *to);
  }

  template <class... Updates>
  void sweepHeld(std::size_t rows, const Updates&... updates) {
    VectorPass pass(rows);
    if (pass.counts()) (detail::countCombined(pass, updates.operation()), ...);
    kernels::sweep(queue_, static_cast<std::ptrdiff_t>(rows), updates.operation()...);
  }

  /// A copy of a host matrix where the kernel reads it, as long as it stands among the arguments of the launch.
  auto staged(const HostMatrix& a) { return staging_.copy(a); }

  kernels::Queue<ExecutionSpace>& queue_ = nodeQueue<Types>();
  CoefficientStaging<ExecutionSpace, Scalar> staging_{queue_};
};

}  // namespace capstan
