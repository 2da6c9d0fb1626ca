#pragma once
/// \file
/// Ritz values of an operator from the Hessenberg matrix of a few Arnoldi steps, and their Leja ordering.

#include <Teuchos_LAPACK.hpp>
#include <complex>
#include <vector>

#include "belos_ext/dense/small_matrix.hpp"

namespace capstan {

/// Eigenvalues of the leading order x order block of h (order x order at least; entries below the subdiagonal are not
/// read). Empty when the QR algorithm fails or an entry is not finite. LAPACK HSEQR. Local.
template <class Scalar>
std::vector<std::complex<double>> hessenbergEigenvalues(const SmallMatrix<Scalar>& h, int order) {
  if (order == 0) return {};
  SmallMatrix<Scalar> work(order, order);
  for (int j = 0; j < order; ++j) {
    for (int i = 0; i <= std::min(j + 1, order - 1); ++i) work(i, j) = h(i, j);
  }
  if (!allFinite(work)) return {};
  std::vector<Scalar> re(order), im(order), scratch(std::max(1, 11 * order));
  int info = 0;
  Teuchos::LAPACK<int, Scalar>().HSEQR('E', 'N', order, 1, order, work.values(), work.stride(), re.data(), im.data(),
                                       nullptr, 1, scratch.data(), static_cast<int>(scratch.size()), &info);
  if (info != 0) return {};
  std::vector<std::complex<double>> values;
  for (int i = 0; i < order; ++i) values.emplace_back(re[i], im[i]);
  return values;
}

/// Eigenvalues, ascending, of the symmetric tridiagonal matrix with that diagonal and (at least size - 1) off-diagonal
/// entries. Empty when the iteration fails. LAPACK STEQR. Local.
template <class Scalar>
std::vector<double> tridiagonalEigenvalues(std::vector<Scalar> diagonal, std::vector<Scalar> offDiagonal) {
  int info = 0;
  Scalar unused = 0;
  Teuchos::LAPACK<int, Scalar>().STEQR('N', static_cast<int>(diagonal.size()), diagonal.data(), offDiagonal.data(),
                                       &unused, 1, &unused, &info);
  if (info != 0) return {};
  return std::vector<double>(diagonal.begin(), diagonal.end());
}

/// Leja ordering of a set closed under conjugation: the next point maximises the product of its distances to those
/// before it; a complex number is followed at once by its conjugate (positive imaginary part first), so that the Newton
/// polynomials stay real. A conjugate that is missing is supplied. Source: [Reichel 1990]; [Bai, Hu and Reichel 1994],
/// section 2.
std::vector<std::complex<double>> lejaOrder(std::vector<std::complex<double>> points);

}  // namespace capstan
