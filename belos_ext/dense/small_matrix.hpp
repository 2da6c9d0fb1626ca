#pragma once
/// \file
/// Small dense matrices, replicated on every rank in host memory: Gram matrices, orthogonalisation coefficients, H.
///
/// Storage is Teuchos::SerialDenseMatrix (column major, leading dimension stride()). The functions below are the few
/// products the methods need, so that a policy reads like its equations. All are local.

#include <Teuchos_BLAS.hpp>
#include <Teuchos_SerialDenseMatrix.hpp>
#include <algorithm>
#include <cmath>

namespace capstan {

template <class Scalar>
using SmallMatrix = Teuchos::SerialDenseMatrix<int, Scalar>;

/// A view (not a copy) of rows [row, row + rows) and columns [column, column + columns) of a.
template <class Scalar>
SmallMatrix<Scalar> block(SmallMatrix<Scalar>& a, int row, int column, int rows, int columns) {
  return SmallMatrix<Scalar>(Teuchos::View, a, rows, columns, row, column);
}
template <class Scalar>
const SmallMatrix<Scalar> block(const SmallMatrix<Scalar>& a, int row, int column, int rows, int columns) {
  return SmallMatrix<Scalar>(Teuchos::View, const_cast<SmallMatrix<Scalar>&>(a), rows, columns, row, column);
}

/// A copy with storage of its own, whatever a is.
template <class Scalar>
SmallMatrix<Scalar> copyOf(const SmallMatrix<Scalar>& a) {
  return SmallMatrix<Scalar>(Teuchos::Copy, a, a.numRows(), a.numCols());
}

template <class Scalar>
SmallMatrix<Scalar> identity(int n) {
  SmallMatrix<Scalar> eye(n, n);
  for (int i = 0; i < n; ++i) eye(i, i) = 1;
  return eye;
}

/// Makes room for `size` rows and columns and keeps what is there; new entries are zero. Grows by doubling, so that the
/// storage follows what is used, up to `capacity` rows and columns.
template <class Scalar>
void growTo(SmallMatrix<Scalar>& a, int size, int capacity) {
  if (a.numCols() >= size) return;
  const int room = std::max(size, std::min(std::max(2 * a.numCols(), 32), capacity));
  a.reshape(room, room);
}

/// c = alpha op(a) op(b) + beta c.
template <class Scalar>
void multiply(Scalar alpha, Teuchos::ETransp opA, const SmallMatrix<Scalar>& a, Teuchos::ETransp opB,
              const SmallMatrix<Scalar>& b, Scalar beta, SmallMatrix<Scalar>& c) {
  if (c.numRows() == 0 || c.numCols() == 0) return;
  const int inner = opA == Teuchos::NO_TRANS ? a.numCols() : a.numRows();
  if (inner == 0) {
    if (beta == Scalar(0)) c.putScalar(0);
    return;
  }
  c.multiply(opA, opB, alpha, a, b, beta);
}

/// a b.
template <class Scalar>
SmallMatrix<Scalar> product(const SmallMatrix<Scalar>& a, const SmallMatrix<Scalar>& b) {
  SmallMatrix<Scalar> c(a.numRows(), b.numCols());
  multiply<Scalar>(1, Teuchos::NO_TRANS, a, Teuchos::NO_TRANS, b, 0, c);
  return c;
}

/// b <- b u^{-1} (u upper triangular).
template <class Scalar>
void solveRight(const SmallMatrix<Scalar>& u, SmallMatrix<Scalar>& b) {
  if (b.numRows() == 0 || b.numCols() == 0) return;
  Teuchos::BLAS<int, Scalar>().TRSM(Teuchos::RIGHT_SIDE, Teuchos::UPPER_TRI, Teuchos::NO_TRANS, Teuchos::NON_UNIT_DIAG,
                                    b.numRows(), b.numCols(), Scalar(1), u.values(), u.stride(), b.values(),
                                    b.stride());
}

/// b <- u^{-1} b (u upper triangular).
template <class Scalar>
void solveLeft(const SmallMatrix<Scalar>& u, SmallMatrix<Scalar>& b) {
  if (b.numRows() == 0 || b.numCols() == 0) return;
  Teuchos::BLAS<int, Scalar>().TRSM(Teuchos::LEFT_SIDE, Teuchos::UPPER_TRI, Teuchos::NO_TRANS, Teuchos::NON_UNIT_DIAG,
                                    b.numRows(), b.numCols(), Scalar(1), u.values(), u.stride(), b.values(),
                                    b.stride());
}

/// b <- u^{-T} b (u upper triangular).
template <class Scalar>
void solveLeftTransposed(const SmallMatrix<Scalar>& u, SmallMatrix<Scalar>& b) {
  if (b.numRows() == 0 || b.numCols() == 0) return;
  Teuchos::BLAS<int, Scalar>().TRSM(Teuchos::LEFT_SIDE, Teuchos::UPPER_TRI, Teuchos::TRANS, Teuchos::NON_UNIT_DIAG,
                                    b.numRows(), b.numCols(), Scalar(1), u.values(), u.stride(), b.values(),
                                    b.stride());
}

template <class Scalar>
bool allFinite(const SmallMatrix<Scalar>& a) {
  for (int j = 0; j < a.numCols(); ++j) {
    for (int i = 0; i < a.numRows(); ++i) {
      if (!std::isfinite(a(i, j))) return false;
    }
  }
  return true;
}

}  // namespace capstan
