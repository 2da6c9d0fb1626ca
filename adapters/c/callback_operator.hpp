#pragma once
/// \file
/// A function of the application as an operator of Trilinos.

#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Operator.hpp>
#include <Tpetra_Vector.hpp>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "adapters/c/capstan.h"
#include "adapters/preconditioners/types.hpp"
#include "tpetra_ext/compat/local_views.hpp"

namespace capstan::c {

using preconditioning::Map;
using preconditioning::MultiVector;
using preconditioning::Operator;

/// What a function of the application returns; 1 where it throws, as one in C++ may.
template <class Call>
int called(const Call& call) noexcept {
  try {
    return call();
  } catch (...) {
    return 1;
  }
}

/// The entries of a vector on the host, for a function of the application; null where there are none. No view is alive
/// when it is called: it may solve with another solver meanwhile. What it writes is on the side that the view was of,
/// where Tpetra looks for it. \{
inline const double* entriesOf(const MultiVector& x) {
  const auto view = compat::hostView(x, Tpetra::Access::ReadOnly);
  return view->extent(0) > 0 ? view->data() : nullptr;
}
inline double* entriesToWrite(MultiVector& y) {
  const auto view = compat::hostView(y, Tpetra::Access::OverwriteAll);
  return view->extent(0) > 0 ? view->data() : nullptr;
}
/// \}

/// Y = F X, a column after the other. Where F fails on a rank, Y is NaN there: every norm and inner product of the
/// method carries that to all ranks, none of which waits for another.
class CallbackOperator final : public Operator {
 public:
  CallbackOperator(Teuchos::RCP<const Map> map, capstan_apply function, void* context)
      : map_(std::move(map)), function_(function), context_(context) {}

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }

  void apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp mode, double alpha, double beta) const override {
    if (mode != Teuchos::NO_TRANS || alpha != 1.0 || beta != 0.0) {
      throw std::invalid_argument("a function of the application is applied as it is: not transposed, scaled or added");
    }
    if (zero_) return Y.putScalar(0);
    // A vector of Tpetra's for a column costs as much as work on a thousand rows.
    if (X.getNumVectors() == 1 && X.isConstantStride() && Y.isConstantStride()) {
      applyTo(X, Y);
      return;
    }
    for (std::size_t j = 0; j < X.getNumVectors(); ++j) applyTo(*X.getVector(j), *Y.getVectorNonConst(j));
  }

  /// As solvers look for it (tpetra_ext/operators/preconditioned_operator.hpp).
  std::string description() const override { return diagonal_ ? "\"Capstan::Diagonal\"" : "a function"; }
  /// Whether it multiplies by a diagonal. Local. \{
  void isDiagonal(bool diagonal) { diagonal_ = diagonal; }
  bool isDiagonal() const { return diagonal_; }
  /// \}

  /// X is zero from now on: the function is not asked. Local.
  void multipliesZero(bool zero) { zero_ = zero; }
  /// Whether it has failed on this rank since it was last asked. Local.
  bool takeFailure() {
    const bool failed = failed_;
    failed_ = false;
    return failed;
  }

 private:
  void applyTo(const MultiVector& X, MultiVector& Y) const {
    const double* const x = entriesOf(X);
    double* const y = entriesToWrite(Y);
    if (called([&] { return function_(context_, x, y); }) == 0) return;
    failed_ = true;
    Y.putScalar(std::numeric_limits<double>::quiet_NaN());
  }

  Teuchos::RCP<const Map> map_;
  capstan_apply function_;
  void* context_;
  bool zero_ = false, diagonal_ = false;
  mutable bool failed_ = false;
};

}  // namespace capstan::c
