#pragma once
/// \file
/// Conjugate residuals as in [Saad 2003], algorithm 6.20: each inner product where it is needed.

#include <cmath>
#include <vector>

#include "belos_ext/test/solvers/textbook_cg.hpp"

namespace capstan::testing {

/// || r_i || after each iteration, until one is at most `goal` or there have been so many; x_0 = 0, and M^{-1} is the
/// inner product. \param m null: none
inline std::vector<double> textbookCr(const Operator& a, const Operator* m, const MultiVector& b, double goal,
                                      int iterations) {
  const auto precondition = [m](const MultiVector& in, MultiVector& out) {
    if (m != nullptr) {
      m->apply(in, out);
    } else {
      Tpetra::deep_copy(out, in);
    }
  };
  MultiVector r(b, Teuchos::Copy), z(b, Teuchos::Copy), w(b, Teuchos::Copy), t(b, Teuchos::Copy);
  precondition(r, z);
  a.apply(z, w);
  MultiVector p(z, Teuchos::Copy), s(w, Teuchos::Copy);
  Scalar zw = innerProduct(z, w);
  std::vector<double> norms;
  while (static_cast<int>(norms.size()) < iterations) {
    precondition(s, t);
    const Scalar alpha = zw / innerProduct(s, t);
    r.update(-alpha, s, 1);
    z.update(-alpha, t, 1);
    norms.push_back(std::sqrt(innerProduct(r, r)));
    if (norms.back() <= goal) break;
    a.apply(z, w);
    const Scalar next = innerProduct(z, w), beta = next / zw;
    p.update(1, z, beta);
    s.update(1, w, beta);
    zw = next;
  }
  return norms;
}

}  // namespace capstan::testing
