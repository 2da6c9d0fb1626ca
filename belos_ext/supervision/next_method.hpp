#pragma once
/// \file
/// The fallback of a method: what goes on if the method cannot (MethodTraits::next).

#include <algorithm>
#include <memory>

#include "belos_ext/problem/right_preconditioned_system.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/supervision/krylov_solver.hpp"
#include "belos_ext/supervision/restart_length.hpp"

namespace capstan {

/// GMRES is the last fallback: with a restart that is short at first (RestartLength), unless it was asked to begin
/// where A is not symmetric, and M^{-1} on the right, so that b - A x is what it minimises.
template <class Types>
class NextMethod {
 public:
  using MultiVector = typename Types::MultiVector;

  void set(const MethodTraits& method) {
    method_ = &method;
    solver_ = makeKrylovSolver<Types>(method);
  }

  void configure(const SolverOptions& options) {
    if (method_ == nullptr) return;
    options_ = options;
    options_.polynomialDegree = 1;
    if (!isLast()) return solver_->configure(options_);
    options_.numBlocks = SolverOptions().numBlocks;
    options_.numBlocksGiven = false;
  }
  void recall(const SolverState& state) {
    if (method_ != nullptr && !isLast()) solver_->recall(state);
  }
  /// Drops what recall() took over. Local.
  void forget() {
    if (method_ != nullptr && !isLast()) solver_->recall(SolverState());
  }
  void remember(SolverState& state) const { solver_->remember(state); }

  /// Whether it may go on: the user may have "Fallback" none, which means GMRES.
  bool wanted() const { return method_ != nullptr && (!isLast() || options_.fallback == Fallback::Gmres); }

  /// Solves in the place of the method, from the first residual on. Collective.
  void solve(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop) {
    solver_->solve(system, b, x, stop);
  }

  /// As KrylovSolver::abandon(), after solve(). Local.
  void abandon(LinearSystem<Types>& system, MultiVector& x, const StopTest& stop) { solver_->abandon(system, x, stop); }

  /// Goes on from x. `stop` has begun; it is over afterwards. Collective.
  /// \param why the other method cannot go on   \param direction as KrylovSolver::takeOver()
  void goOn(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, Why why,
            const MultiVector* direction = nullptr) {
    if (isLast()) return goOnFromTheRight(system, b, x, stop, why);
    system.tell(stop.iterations(), Event(EventKind::HandedOver, why).by(method_->canonical));
    solver_->takeOver(system, b, x, stop, direction);
  }

 private:
  bool isLast() const { return method_->family == Family::Gmres; }

  void goOnFromTheRight(LinearSystem<Types>& system, const MultiVector& b, MultiVector& x, StopTest& stop, Why why) {
    const bool begins = stop.criteria().handsOverAsymmetric && system.isNonsymmetric();
    const int longest = begins ? options_.numBlocks : tuning::gmres::fallbackRestart;
    const int m = static_cast<int>(std::min<Tpetra::global_size_t>(
        static_cast<Tpetra::global_size_t>(longest), std::max<Tpetra::global_size_t>(b.getGlobalLength(), 1)));
    const double megabytes = 1e-6 * (m + 6) * static_cast<double>(b.getGlobalLength()) * sizeof(typename Types::Scalar);
    system.tell(stop.iterations(), Event(EventKind::Fallback, why, m, m + 6, megabytes).by(method_->canonical));
    if (system.preconditioned()) vectorLike(b, scratch_);
    if (system.hasLeft() && system.hasRight()) vectorLike(b, between_);
    solver_->configure(options_);
    RightPreconditionedSystem<Types> right(system, scratch_.get(), between_.get());
    if (begins) return solver_->solve(right, b, x, stop);
    solver_->takeOver(right, b, x, stop, nullptr);
  }

  const MethodTraits* method_ = nullptr;
  SolverOptions options_;
  std::unique_ptr<KrylovSolver<Types>> solver_;
  Teuchos::RCP<MultiVector> scratch_, between_;
};

}  // namespace capstan
