#pragma once
/// \file
/// The product of CG whose messages travel inside the reduction of the iteration before.
///
/// Source: [embedded-cg], section 3.2. p is never sent: p = z + beta p and z -= alpha t hold for the entries of
/// other ranks, too, so every rank computes them for those it needs, and t = M^{-1} s alone travels, with the sums.
/// `line k` beside a statement: docs/methods/embedded-cg.md.

#include <memory>
#include <vector>

#include "belos_ext/solvers/cg/plain_product.hpp"

namespace capstan {

/// Storage: z, p and t on what the rank needs of others.
template <class Types>
class CarriedProduct {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Options = MethodOptions<SymmetricOptions, SmoothingOptions, FallbackOptions, EmbeddingOptions>;

  static constexpr bool recurs = true;

  void replaced() { fresh_ = false; }

  /// Where z or p has been replaced, they travel first: one reduction that sums nothing.
  void multiply(LinearSystem<Types>& system, const MultiVector& z, const MultiVector& p, MultiVector& s) {
    auto* const exchange = system.carried();
    if (exchange == nullptr) return system.act(Action::Operator, p, s);
    if (!fresh_) bring(system, z, p);      // line 1
    exchange->multiplyCarried(p, *p_, s);  // lines 1, 9
    arrived_ = false;
  }

  /// Where M is explicit no message either: s is there on the rows of others that M reaches.
  void precondition(LinearSystem<Types>& system, const MultiVector& s, MultiVector* scratch, MultiVector& t) {
    auto* const exchange = system.carried();
    if (exchange == nullptr || !exchange->carriesPreconditioner()) return system.precondition(s, scratch, t);
    exchange->preconditionCarried(t);  // lines 1, 9
    if (const auto* rows = system.diagonalRows(); rows != nullptr) rows->clear(t);
  }

  void reduce(LinearSystem<Types>& system, ReductionBatch<Types>& batch, const MultiVector& t) {
    if (!fresh_) return system.reduce(batch);
    vectors_.assign(1, {&t, t_.get()});
    system.carried()->carry(batch, vectors_);  // lines 2, 10
    arrived_ = true;
  }

  void step(LinearSystem<Types>& system, Scalar alpha, Scalar beta, Scalar shift) {
    fresh_ = fresh_ && arrived_;  // t has stayed at home where something else has reduced the sums
    if (!fresh_) return;
    if (shift == Scalar(0)) {
      system.kernels().sweep(axpy(-alpha, *t_, *z_), axpby(Scalar(1), *z_, beta, *p_));  // lines 5, 8
    } else {
      system.kernels().sweep(axpy(-alpha, *t_, *z_), axpy(shift, ones(), *z_), axpby(Scalar(1), *z_, beta, *p_));
    }
  }

 private:
  void bring(LinearSystem<Types>& system, const MultiVector& z, const MultiVector& p) {
    const auto map = system.carried()->ghostMap();
    if (z_.is_null() || z_->getMap().get() != map.get()) {
      for (auto* v : {&z_, &p_, &t_}) *v = Teuchos::rcp(new MultiVector(map, 1));
      ones_ = Teuchos::null;
      nothing_ = std::make_unique<ReductionBatch<Types>>(p.getMap()->getComm());
    }
    vectors_.assign({{&z, z_.get()}, {&p, p_.get()}});
    nothing_->clear();
    system.carried()->carry(*nothing_, vectors_);
    fresh_ = true;
  }

  const MultiVector& ones() {
    if (ones_.is_null()) {
      ones_ = Teuchos::rcp(new MultiVector(z_->getMap(), 1, false));
      ones_->putScalar(1);
    }
    return *ones_;
  }

  bool fresh_ = false;    ///< z_ and p_ are what other ranks have
  bool arrived_ = false;  ///< so is t_
  Teuchos::RCP<MultiVector> z_, p_, t_, ones_;
  std::unique_ptr<ReductionBatch<Types>> nothing_;
  std::vector<CarriedVector<Types>> vectors_;
};

}  // namespace capstan
