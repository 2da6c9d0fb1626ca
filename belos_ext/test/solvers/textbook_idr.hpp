#pragma once
/// \file
/// IDR(s) as van Gijzen and Sonneveld wrote their algorithm 913 down: each inner product where it is needed.

#include <algorithm>
#include <cmath>
#include <vector>

#include "belos_ext/test/solvers/solver_suite.hpp"
#include "belos_ext/test/solvers/textbook_cg.hpp"
#include "tpetra_ext/operators/entry_kernels.hpp"

namespace capstan::testing {

/// What detail::ScatterEntry asks of a map and a column, for one row on the host.
struct OneRow {
  using local_ordinal_type = int;
  GO row;
  KOKKOS_FUNCTION GO getGlobalElement(int) const { return row; }
};
struct OneEntry {
  using non_const_value_type = Scalar;
  Scalar* entry;
  KOKKOS_FUNCTION Scalar& operator()(std::size_t) const { return *entry; }
};

/// s vectors of random numbers; the first ones are those of the first cycle of CAPSTAN IDR. On the host: no kernel of a
/// test runs between those of a solver.
inline std::vector<RCP<MultiVector>> shadowSpace(const RCP<const Map>& map, int s, int first = 1) {
  std::vector<RCP<MultiVector>> shadow;
  for (int j = 0; j < s; ++j) {
    shadow.push_back(vectorFrom(map, [series = static_cast<std::uint64_t>(first + j)](GO g) {
      Scalar entry = 0;
      detail::ScatterEntry<OneRow, OneEntry>{{g}, {&entry}, series}(0);
      return entry;
    }));
  }
  return shadow;
}

/// || r_i || after each product, until one is at most `goal` or there have been so many; x_0 = 0. \param m null: none
/// \param shadow the columns of P
inline std::vector<double> textbookIdr(const Operator& a, const Operator* m, const MultiVector& b,
                                       const std::vector<RCP<MultiVector>>& shadow, double goal, int products) {
  const std::size_t s = shadow.size();
  const auto precondition = [m](const MultiVector& in, MultiVector& out) {
    if (m != nullptr) {
      m->apply(in, out);
    } else {
      Tpetra::deep_copy(out, in);
    }
  };
  std::vector<MultiVector> g(s), u(s);
  for (std::size_t k = 0; k < s; ++k) g[k] = MultiVector(b.getMap(), 1), u[k] = MultiVector(b.getMap(), 1);
  std::vector<std::vector<Scalar>> small(s, std::vector<Scalar>(s, 0));
  for (std::size_t k = 0; k < s; ++k) small[k][k] = 1;
  MultiVector r(b, Teuchos::Copy), v(b.getMap(), 1), hat(b.getMap(), 1), t(b.getMap(), 1);
  std::vector<double> norms;
  Scalar omega = 1;
  const auto goesOn = [&] {
    norms.push_back(std::sqrt(innerProduct(r, r)));
    return norms.back() > goal && static_cast<int>(norms.size()) < products;
  };
  for (;;) {
    std::vector<Scalar> f(s), c(s);
    for (std::size_t i = 0; i < s; ++i) f[i] = innerProduct(*shadow[i], r);
    for (std::size_t k = 0; k < s; ++k) {
      for (std::size_t i = k; i < s; ++i) {
        c[i] = f[i];
        for (std::size_t j = k; j < i; ++j) c[i] -= small[i][j] * c[j];
        c[i] /= small[i][i];
      }
      Tpetra::deep_copy(v, r);
      for (std::size_t i = k; i < s; ++i) v.update(-c[i], g[i], 1);
      precondition(v, hat);
      u[k].scale(c[k]);
      for (std::size_t i = k + 1; i < s; ++i) u[k].update(c[i], u[i], 1);
      u[k].update(omega, hat, 1);
      a.apply(u[k], g[k]);
      for (std::size_t i = 0; i < k; ++i) {
        const Scalar alpha = innerProduct(*shadow[i], g[k]) / small[i][i];
        g[k].update(-alpha, g[i], 1);
        u[k].update(-alpha, u[i], 1);
      }
      for (std::size_t i = k; i < s; ++i) small[i][k] = innerProduct(*shadow[i], g[k]);
      const Scalar beta = f[k] / small[k][k];
      r.update(-beta, g[k], 1);
      for (std::size_t i = k + 1; i < s; ++i) f[i] -= beta * small[i][k];
      if (!goesOn()) return norms;
    }
    precondition(r, hat);
    a.apply(hat, t);
    const Scalar tr = innerProduct(t, r), tt = innerProduct(t, t);
    const Scalar cosine = std::abs(tr) / std::sqrt(tt * innerProduct(r, r));
    omega = tr / tt * std::max(Scalar(1), Scalar(0.7) / cosine);
    r.update(-omega, t, 1);
    if (!goesOn()) return norms;
  }
}

}  // namespace capstan::testing
