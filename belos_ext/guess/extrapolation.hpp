#pragma once
/// \file
/// Initial guess by extrapolation in time: the polynomial through the last solutions, evaluated one step ahead.
///
/// Steps are taken to be equally long. The polynomial of degree m through the last q = m + 1 solutions, Lagrange's form
/// at the next step: x = sum_{i=1..q} (-1)^{i-1} binomial(q, i) x_{n+1-i}. While there are fewer solutions the degree
/// is lower; one solution is the guess itself.
///
/// Cost of a solve beyond the method's: 1 A (of the guess; the other product is the method's first, made early), 1
/// reduction of 2 norms, q + 2 vectors read, 2 written; nothing of M. Storage: q vectors. Whether the guess is taken
/// stands in guess_start.hpp.
///
/// | symbol      | here       | shape  | meaning                                  |
/// |-------------|------------|--------|------------------------------------------|
/// | x_{n+1-i}   | solutions_ | n x q  | solutions, in a ring                     |
/// | q           | most_      | scalar | solutions kept, the degree and one       |
/// | (+-) binom. | weights    | q x 1  | weight of each solution, replicated      |

#include <algorithm>
#include <limits>

#include "belos_ext/dense/small_matrix.hpp"
#include "belos_ext/guess/guess_policy.hpp"

namespace capstan {

template <class Types>
class Extrapolation final : public GuessPolicy<Types> {
 public:
  using typename GuessPolicy<Types>::Scalar;
  using typename GuessPolicy<Types>::MultiVector;
  using typename GuessPolicy<Types>::Batch;

  explicit Extrapolation(int degree) : most_(degree + 1) {}

  bool needsResidual() const override { return false; }
  bool wantsResiduals() const override { return false; }
  void enter(LinearSystem<Types>&, Batch&, const MultiVector&) override {}

  Proposal propose(LinearSystem<Types>& system, Batch&, Scalar, const MultiVector&, MultiVector& x) override {
    if (count_ == 0) return {};
    SmallMatrix<Scalar> weights(most_, 1);
    Scalar binomial = 1;
    for (int i = 1; i <= count_; ++i) {
      binomial *= static_cast<Scalar>(count_ - i + 1) / static_cast<Scalar>(i);
      weights((newest_ - i + 1 + most_) % most_, 0) = i % 2 == 1 ? binomial : -binomial;
    }
    const auto solutions = solutions_->subView(Teuchos::Range1D(0, count_ - 1));
    system.kernels().fill(Scalar(0), x);
    system.kernels().accumulate(*solutions, block(weights, 0, 0, count_, 1), x);
    return {count_, std::numeric_limits<double>::quiet_NaN(), false};
  }

  std::optional<Event> judge(double norm, double) override {
    if (std::isfinite(norm)) return {};
    forget();
    return EventKind::GuessesForgotten;
  }

  void learn(LinearSystem<Types>& system, const SolvedSystem<Types>& solved) override {
    if (solutions_.is_null()) {
      solutions_ = Teuchos::rcp(new MultiVector(solved.x.getMap(), static_cast<std::size_t>(most_), false));
    }
    newest_ = (newest_ + 1) % most_;
    count_ = std::min(count_ + 1, most_);
    system.kernels().scale(Scalar(1), solved.x, *solutions_->getVectorNonConst(static_cast<std::size_t>(newest_)));
  }

  void forget() override {
    count_ = 0;
    newest_ = -1;
  }

  std::vector<Teuchos::RCP<MultiVector>> kept() const override {
    if (solutions_.is_null()) return {};
    return {solutions_};
  }

 private:
  int most_;
  int count_ = 0, newest_ = -1;  ///< solutions there are; the column of the last one
  Teuchos::RCP<MultiVector> solutions_;
};

}  // namespace capstan
