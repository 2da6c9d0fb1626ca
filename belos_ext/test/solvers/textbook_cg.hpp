#pragma once
/// \file
/// Conjugate gradients as Hestenes and Stiefel wrote them, for methods that are to take the same steps.

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {

/// x of Hestenes and Stiefel's CG after so many iterations from zero. \param m null: none
inline RCP<MultiVector> textbook(const Operator& a, const Operator* m, const MultiVector& b, int iterations) {
  const auto dot = [](const MultiVector& x, const MultiVector& y) {
    std::vector<Scalar> result(1);
    x.dot(y, Teuchos::arrayViewFromVector(result));
    return result[0];
  };
  const auto x = rcp(new MultiVector(b.getMap(), 1));
  MultiVector r(b, Teuchos::Copy), z(b, Teuchos::Copy), s(b, Teuchos::Copy);
  if (m != nullptr) m->apply(r, z);
  MultiVector p(z, Teuchos::Copy);
  Scalar nu = dot(r, z);
  for (int i = 0; i < iterations; ++i) {
    a.apply(p, s);
    const Scalar alpha = nu / dot(p, s);
    x->update(alpha, p, 1);
    r.update(-alpha, s, 1);
    if (m != nullptr) {
      m->apply(r, z);
    } else {
      Tpetra::deep_copy(z, r);
    }
    const Scalar next = dot(r, z);
    p.update(1, z, next / nu);
    nu = next;
  }
  return x;
}

}  // namespace capstan::testing
