#pragma once
/// \file
/// A system whose preconditioner is followed by a Chebyshev polynomial of M^{-1} A: what a method takes for M^{-1} is
/// q(M^{-1} A) M^{-1} (chebyshev_polynomial.hpp). All else is the system's own.
///
/// Cost of an application: d - 1 A and d M^{-1}, no reduction, and a sweep for each of the d - 1 (4 vectors read, 2
/// written; with M one of them is read by the product). Storage: 2 vectors, 1 more with M, 1 more with a left and a
/// right one.
///
/// | symbol      | here      | shape              | meaning                                        |
/// |-------------|-----------|--------------------|------------------------------------------------|
/// | p           | p         | n x 1, distributed | the last change of z                           |
/// | u - A z     | w         | n x 1, distributed | what is left of u; without M it stands for A z |
/// | M^{-1} w    | s         | n x 1, distributed | with M only                                    |

#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include "belos_ext/problem/forwarding_system.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/spectrum/chebyshev_polynomial.hpp"
#include "belos_ext/spectrum/ritz_watch.hpp"

namespace capstan::tuning::polynomial {
/// Ritz values beyond the image of the interval by this factor do harm enough to begin anew at once. Derived: such a
/// condition number takes sqrt(2) times the iterations.
inline constexpr double harmful = 2;
}  // namespace capstan::tuning::polynomial

namespace capstan {

/// Vectors of a PolynomialSystem, kept from solve to solve.
template <class Types>
struct PolynomialVectors {
  Teuchos::RCP<typename Types::MultiVector> p, w, s, between;
};

template <class Types>
class PolynomialSystem final : public ForwardingSystem<Types> {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  /// Thrown by a reduction or a step, on all ranks alike, and only while x holds a finite iterate: the method is to
  /// begin again.
  enum class Refusal {
    NotUsable,   ///< by the first reduction of a solve, in which ranks compare what they bring: see the constructor
    Unfit,       ///< a Ritz value is far from where the polynomial should have it
    Stale,       ///< `doubted` says so
    Indefinite,  ///< the method has seen that A or the preconditioner is not definite
    Fallback     ///< the method gives itself up
  };

  /// \param usable asked after the first reduction, in which ranks compare what they bring: whether the polynomial is
  ///   good, the same on all ranks then. Empty: it is
  /// \param doubted asked in every step: whether the method is to begin again. Collective
  /// \param judgesBelow whether Ritz values between zero and the image of the polynomial are far from it
  PolynomialSystem(LinearSystem<Types>& system, const ChebyshevPolynomial& polynomial,
                   PolynomialVectors<Types>& vectors, std::function<bool()> usable, std::function<bool()> doubted,
                   bool judgesBelow)
      : ForwardingSystem<Types>(system, system.hasLeft(), !system.hasLeft(), false),
        polynomial_(polynomial),
        vectors_(vectors),
        usable_(std::move(usable)),
        doubted_(std::move(doubted)),
        watch_(polynomial.image(), tuning::polynomial::harmful, judgesBelow) {}

  /// What the method has shown of the spectrum so far.
  const IntervalWatch& watch() const { return watch_; }

  void act(Action action, const MultiVector& in, MultiVector& out) override {
    switch (action) {
      case Action::Operator:
        return system_.act(action, in, out);
      case Action::Preconditioned:
        throw std::logic_error("PolynomialSystem: A and M^{-1} are applied one by one");
      case Action::LeftPreconditioner:
      case Action::RightPreconditioner:
        return apply(in, out);
    }
  }
  void toNative(const MultiVector& r, MultiVector& z) override { system_.toNative(r, z); }

  void reduce(ReductionBatch<Types>& batch) override {
    system_.reduce(batch);
    refuse();
  }
  void tell(int iteration, Event event) override {
    if (event.kind == EventKind::Indefinite && !refusal_) refusal_ = Refusal::Indefinite;
    if (event.kind == EventKind::Fallback) refusal_ = Refusal::Fallback;
    event.ofPolynomial = true;
    system_.tell(iteration, event);
  }
  void observe(double pivot, double coupling) override {
    watch_.sees(pivot, coupling);
    if (watch_.farAbove() || watch_.farBelow()) throw Refusal::Unfit;
    if (doubted_()) throw Refusal::Stale;
  }
  void startUpEnds(int operators, int preconditioners) override {
    const int d = polynomial_.degree();
    system_.startUpEnds(operators + (d - 1) * preconditioners, d * preconditioners);
  }

 private:
  void refuse() {
    if (const auto usable = std::exchange(usable_, nullptr); usable && !usable()) throw Refusal::NotUsable;
    if (refusal_) throw *refusal_;
  }

  using Recurrence = VectorRecurrence<Types>;

  /// z = q(M^{-1} A) M^{-1} u.
  void apply(const MultiVector& u, MultiVector& z) {
    auto& kernels = this->kernels();
    const bool preconditioned = system_.preconditioned();
    MultiVector &p = vectorLike(u, vectors_.p), &w = vectorLike(u, vectors_.w);
    const auto first = static_cast<Scalar>(polynomial_.first());
    if (preconditioned) {
      precondition(u, p);
      kernels.scale(first, p, z);
    } else {
      kernels.scale(first, u, z);
    }
    bool begins = true;
    for (const auto& step : polynomial_.steps()) {
      const auto onto = static_cast<Scalar>(step.onto), along = static_cast<Scalar>(step.along);
      const MultiVector& last = std::exchange(begins, false) ? z : p;
      system_.actThen(Action::Operator, z, w, preconditioned ? Recurrence::differenceTo(u) : Recurrence());
      SweepList<Types> sweep(u.getLocalLength());
      if (preconditioned) {
        MultiVector& s = vectorLike(u, vectors_.s);
        precondition(w, s);
        sweep.combine(onto, last, along, s, Scalar(0), s, p);
      } else {
        sweep.combine(onto, last, along, u, -along, w, p);
      }
      sweep.axpy(Scalar(1), p, z);
      kernels.sweep(sweep);
    }
  }

  void precondition(const MultiVector& r, MultiVector& z) {
    const bool both = system_.hasLeft() && system_.hasRight();
    system_.precondition(r, both ? &vectorLike(r, vectors_.between) : nullptr, z);
  }

  using ForwardingSystem<Types>::system_;
  const ChebyshevPolynomial& polynomial_;
  PolynomialVectors<Types>& vectors_;
  std::function<bool()> usable_, doubted_;
  IntervalWatch watch_;
  std::optional<Refusal> refusal_;
};

}  // namespace capstan
