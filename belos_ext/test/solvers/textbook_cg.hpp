#pragma once
/// \file
/// Conjugate gradients as Hestenes and Stiefel wrote them, for methods that are to take the same steps.

#include <functional>
#include <vector>

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {

using InnerProduct = std::function<Scalar(const MultiVector&, const MultiVector&)>;

/// Tpetra's; one column. Collective.
inline Scalar innerProduct(const MultiVector& x, const MultiVector& y) {
  std::vector<Scalar> result(1);
  x.dot(y, Teuchos::arrayViewFromVector(result));
  return result[0];
}

/// x of Hestenes and Stiefel's CG after each of so many iterations. \param m null: none \param guess null: zero
inline std::vector<RCP<MultiVector>> textbookIterates(const Operator& a, const Operator* m, const MultiVector& b,
                                                      int iterations, const MultiVector* guess = nullptr,
                                                      const InnerProduct& dot = innerProduct) {
  std::vector<RCP<MultiVector>> iterates;
  MultiVector x(b.getMap(), 1), r(b, Teuchos::Copy), z(b, Teuchos::Copy), s(b, Teuchos::Copy);
  if (guess != nullptr) {
    Tpetra::deep_copy(x, *guess);
    a.apply(x, s);
    r.update(-1, s, 1);
    Tpetra::deep_copy(z, r);
  }
  if (m != nullptr) m->apply(r, z);
  MultiVector p(z, Teuchos::Copy);
  Scalar nu = dot(r, z);
  for (int i = 0; i < iterations; ++i) {
    a.apply(p, s);
    const Scalar alpha = nu / dot(p, s);
    x.update(alpha, p, 1);
    r.update(-alpha, s, 1);
    if (m != nullptr) {
      m->apply(r, z);
    } else {
      Tpetra::deep_copy(z, r);
    }
    const Scalar next = dot(r, z);
    p.update(1, z, next / nu);
    nu = next;
    iterates.push_back(copyOf(x));
  }
  return iterates;
}

/// The last of them, from zero; at least one iteration.
inline RCP<MultiVector> textbook(const Operator& a, const Operator* m, const MultiVector& b, int iterations) {
  return textbookIterates(a, m, b, iterations).back();
}

}  // namespace capstan::testing
