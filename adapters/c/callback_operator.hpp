#pragma once
/// \file
/// A function of the application as an operator of Trilinos.

#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Operator.hpp>
#include <Tpetra_Vector.hpp>
#include <limits>
#include <stdexcept>
#include <utility>

#include "adapters/c/capstan.h"
#include "adapters/preconditioners/types.hpp"
#include "tpetra_ext/compat/local_views.hpp"

namespace capstan::c {

using preconditioning::Map;
using preconditioning::MultiVector;
using preconditioning::Operator;

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
    for (std::size_t j = 0; j < X.getNumVectors(); ++j) applyTo(*X.getVector(j), *Y.getVectorNonConst(j));
  }

  /// Whether it has failed on this rank since it was last asked. Local.
  bool takeFailure() {
    const bool failed = failed_;
    failed_ = false;
    return failed;
  }

 private:
  // The application may solve with another solver meanwhile: no view is alive then. What it writes is on the side that
  // the view was of, where Tpetra looks for it.
  void applyTo(const MultiVector& X, MultiVector& Y) const {
    const double* x = nullptr;
    double* y = nullptr;
    {
      const auto from = compat::hostView(X, Tpetra::Access::ReadOnly);
      const auto to = compat::hostView(Y, Tpetra::Access::OverwriteAll);
      if (to->extent(0) > 0) {
        x = from->data();
        y = to->data();
      }
    }
    if (calls(x, y)) return;
    failed_ = true;
    Y.putScalar(std::numeric_limits<double>::quiet_NaN());
  }

  bool calls(const double* x, double* y) const noexcept {
    try {
      return function_(context_, x, y) == 0;
    } catch (...) {  // of an application in C++
      return false;
    }
  }

  Teuchos::RCP<const Map> map_;
  capstan_apply function_;
  void* context_;
  mutable bool failed_ = false;
};

}  // namespace capstan::c
