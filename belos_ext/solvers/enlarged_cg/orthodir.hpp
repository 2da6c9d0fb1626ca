#pragma once
/// \file
/// The Orthodir form of enlarged CG, as published: new directions come from A P by a three-term recurrence. Two
/// reductions an iteration.
///
/// Source: [enlarged-cg], algorithms 1 to 4, where `line k` is line k of algorithm 1 with the changes of algorithm 2.
///
/// | paper | here       | shape              | meaning                                                              |
/// |-------|------------|--------------------|----------------------------------------------------------------------|
/// | Z, P  | z_         | n x t, distributed | new directions, then A-orthonormal ones                              |
/// | AP    | images_    | n x t, distributed | A P = A Z C^{-1}                                                     |
/// | P_old | previous_  | n x t, distributed | directions of the iteration before                                   |
/// | AP_old| oldImages_ | n x t, distributed | A P_old                                                              |
/// | -     | spare_     | n x t, distributed | T_{r,t}; then M^{-1} A P, which becomes Z                            |
/// | r     | r_         | n x 1, distributed | the sum of the columns of the paper's R                              |
/// | d     | d_         | t x t, replicated  | (AP)^T M^{-1} AP                                                     |
/// | d_old | dOld_      | t x t, replicated  | (AP_old)^T M^{-1} AP                                                 |
///
/// It forgets r: what rounding does to the recurrence stays in all later directions. On ill-conditioned systems
/// convergence is then lost where Orthomin keeps it; see docs/methods/ecg.md.

#include <numeric>

#include "belos_ext/solvers/enlarged_cg/enlarged_directions.hpp"

namespace capstan {

template <class Types>
class Orthodir final : public EnlargedDirections<Types> {
 public:
  using Base = EnlargedDirections<Types>;
  using typename Base::MultiVector;
  using typename Base::Outcome;
  using typename Base::Scalar;
  using typename Base::Small;

  void prepare(LinearSystem<Types>& system, const MultiVector& b, int t) override {
    this->prepareShared(system, b, t);
    for (auto* block : {&images_, &oldImages_, &spare_}) block->prepare(b, t);
    vectorLike(b, r_);
    started_ = false;
  }

  MultiVector& parts() override { return spare_.columns(width_); }
  MultiVector& part(int number) override { return started_ ? *r_ : spare_.column(number); }

  void begin(LinearSystem<Types>& system) override {
    system.kernels().scale(Scalar(1), spare_.column(0), *r_);
    precondition(system, spare_.columns(width_), z_.columns(width_));  // line 2: Z = M^{-1} R
    oldWidth_ = 0;                                                     // line 2: P = 0
    this->removeConstants(system, z_);
    started_ = true;
  }

  Outcome step(LinearSystem<Types>& system, MultiVector& x) override {
    auto& batch = *batch_;
    batch.clear();
    const auto gram = batch.symmetricProducts(z_.columns(width_), images_.columns(width_));
    system.applyAndReduce(z_.columns(width_), images_.columns(width_), batch);  // line 5: A Z, Z^T A Z
    if (const auto outcome = this->factorize(this->matrix(gram)); outcome != Outcome::Moved) return outcome;
    if (this->drops()) {
      z_.gather(system, kept_);
      images_.gather(system, kept_);
      width_ = static_cast<int>(kept_.size());
      std::iota(kept_.begin(), kept_.end(), 0);
    }
    MultiVector &p = z_.columns(width_), &ap = images_.columns(width_), &w = spare_.columns(width_);
    system.kernels().triangularSolve(p, factor_);   // line 5
    system.kernels().triangularSolve(ap, factor_);  // line 5
    precondition(system, ap, w);                    // M^{-1} AP

    batch.clear();
    const auto c = batch.innerProducts(p, *r_), along = batch.innerProducts(ap, *r_);
    const auto d = batch.symmetricProducts(ap, w), images = preconditioned_ ? batch.symmetricProducts(ap, ap) : d;
    const auto old = oldWidth_ > 0 ? batch.innerProducts(oldImages_.columns(oldWidth_), w) : d;
    const auto rr = batch.norm2(*r_);
    const auto sums = this->enterSums(spare_);
    this->enterSmoothing(ap);
    system.reduce(batch);
    this->removeConstants(system, sums, spare_);
    Small step = this->matrix(c);  // line 6
    step.scale(sign_);
    d_ = this->matrix(d);       // line 11
    dOld_ = this->matrix(old);  // line 12
    d_.scale(sign_);
    dOld_.scale(sign_);
    const Scalar square = batch[rr];
    if (!allFinite(step) || !std::isfinite(square)) return Outcome::NotFinite;
    const Small ofImages = this->matrix(images), ofResidual = this->matrix(along);
    predict(square, ofImages, ofResidual, step);
    this->smooth(system, x, p, ap, square, ofImages, ofResidual);
    system.kernels().accumulate(p, step, x);  // line 7
    system.kernels().update(ap, step, *r_);   // line 8
    return Outcome::Moved;
  }

  void next(LinearSystem<Types>& system) override {
    MultiVector& w = spare_.columns(width_);
    system.kernels().update(z_.columns(width_), d_, w);                                  // line 13
    if (oldWidth_ > 0) system.kernels().update(previous_.columns(oldWidth_), dOld_, w);  // line 13
    swap(previous_, z_);                                                                 // line 4
    swap(z_, spare_);
    swap(oldImages_, images_);
    oldWidth_ = width_;
  }

  void replaced(LinearSystem<Types>&) override {}

 private:
  using Base::batch_, Base::factor_, Base::kept_, Base::preconditioned_, Base::previous_, Base::sign_, Base::width_,
      Base::z_;
  using Base::precondition, Base::predict;

  bool started_ = false;
  int oldWidth_ = 0;
  Teuchos::RCP<MultiVector> r_;
  ColumnBlock<Types> images_, oldImages_, spare_;
  Small d_, dOld_;
};

}  // namespace capstan
