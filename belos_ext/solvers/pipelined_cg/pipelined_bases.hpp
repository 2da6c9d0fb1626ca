#pragma once
/// \file
/// The vectors of deep pipelined CG: l + 1 bases z^(0) .. z^(l), each one product ahead of the one before, and
/// u^(k) = M z^(k).
///
/// Source: [deep-pipelined-cg], section 2.2, "numerically stable recurrences". z^(0) = Q is the Lanczos basis, v there.
/// Storage: the last max(l, 3) vectors of z^(l) and 2 of each other z^(k), in all 2 l + max(l, 3); with a
/// preconditioner 3 of u^(l) and 2 of each other u^(k) besides, 2 l + 3. Without one u^(k) is z^(k) itself.

#include <algorithm>
#include <vector>

#include "belos_ext/basis/vector_ring.hpp"
#include "belos_ext/dense/pipelined_lanczos.hpp"
#include "belos_ext/problem/linear_system.hpp"

namespace capstan {

template <class Types>
class PipelinedBases {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  /// Collective where it allocates; keeps storage, and z^(l)_0 and u^(l)_0 with it, of the same map and that depth.
  /// \param deepest that will be asked for before z^(l)_0 is made anew
  void resize(const Teuchos::RCP<const typename Types::Map>& map, int depth, int deepest, bool preconditioned) {
    depth_ = depth;
    preconditioned_ = preconditioned;
    resize(z_, map, std::max(deepest, 3));
    if (preconditioned) resize(u_, map, 3);
  }

  /// Vector j of z^(k) and u^(k), 0 <= k <= l; among the latest of their kind.
  MultiVector& z(int k, int j) { return at(z_, k)[j]; }
  MultiVector& u(int k, int j) { return at(preconditioned_ ? u_ : z_, k)[j]; }
  /// z^(l)_j and u^(l)_j.
  MultiVector& top(int j) { return z(depth_, j); }
  MultiVector& u(int j) { return u(depth_, j); }

  /// z^(0)_0 and u^(0)_0 = factor times z^(l)_0 and u^(l)_0, which change alike.
  void begin(LinearSystem<Types>& system, Scalar factor) {
    system.kernels().scale(factor, top(0), top(0));
    if (preconditioned_) system.kernels().scale(factor, u(0), u(0));
    copyDown(system, 0);
  }

  /// z^(k)_k = z^(l)_k and u^(k)_k = u^(l)_k, where basis k < l sets out.
  void copyDown(LinearSystem<Types>& system, int k) {
    system.kernels().scale(Scalar(1), top(k), z(k, k));
    if (preconditioned_) system.kernels().scale(Scalar(1), u(k), u(k, k));
  }

  /// z^(l)_0 = factor q_j and u^(l)_0 likewise: the residual of an iterate, where a new pipeline of any depth can
  /// begin.
  void restartFrom(LinearSystem<Types>& system, int j, Scalar factor) {
    system.kernels().scale(factor, z(0, j), top(0));
    if (preconditioned_) system.kernels().scale(factor, u(0, j), u(0));
  }

  /// Step a of the recurrences, all bases in the sweep:
  ///   z^(k)_{a+k+1} = (z^(k+1)_{a+k+1} + (sigma_k - gamma_a) z^(k)_{a+k} - delta_{a-1} z^(k)_{a+k-1}) / delta_a
  /// for k < l, each in the place of its last term; z^(l)_{a+l+1}, which holds A z^(l)_{a+l} (M^{-1} A), likewise. The
  /// same for u. No vector beyond number `last`, the last product there is.
  /// \param bare there is no z^(l)_last, but u^(l)_last, with a preconditioner
  void recur(SweepList<Types>& sweep, int a, const PipelinedLanczos<Scalar>& lanczos, int last, bool bare) {
    const int whole = bare ? last - 1 : last;
    recur(sweep, z_, a, lanczos, whole, whole);
    if (preconditioned_) recur(sweep, u_, a, lanczos, whole, last);
  }

 private:
  /// The ahead-most basis first: its slot does not move when the depth changes.
  using Rings = std::vector<VectorRing<Types>>;
  VectorRing<Types>& at(Rings& rings, int k) { return rings[k == depth_ ? 0 : static_cast<std::size_t>(k + 1)]; }

  void resize(Rings& rings, const Teuchos::RCP<const typename Types::Map>& map, int ahead) {
    rings.resize(std::max(rings.size(), static_cast<std::size_t>(depth_ + 1)));
    rings.front().resize(map, ahead);
    for (int k = 0; k < depth_; ++k) at(rings, k).resize(map, 2);
  }

  /// \param last, lastAhead numbers of the last vector of the lower bases, and of the ahead-most
  void recur(SweepList<Types>& sweep, Rings& rings, int a, const PipelinedLanczos<Scalar>& lanczos, int last,
             int lastAhead) {
    const auto w = [&](int k, int j) -> MultiVector& { return at(rings, k)[j]; };
    const Scalar gamma = lanczos.gamma(a), scale = 1 / lanczos.delta(a);
    const Scalar back = a > 0 ? -lanczos.delta(a - 1) * scale : Scalar(0);
    for (int k = 0; k < std::min(depth_, last - a); ++k) {
      sweep.recur(back, w(k, a + k + 1), scale, w(k + 1, a + k + 1), (lanczos.shift(k) - gamma) * scale, w(k, a + k));
    }
    const int i = a + depth_;
    if (i >= lastAhead) return;
    sweep.recur(scale, w(depth_, i + 1), -gamma * scale, w(depth_, i), back, w(depth_, i - 1));
  }

  int depth_ = 1;
  bool preconditioned_ = false;
  Rings z_, u_;
};

}  // namespace capstan
