#pragma once
/// \file
/// An operator that counts how often it is applied, for solvers that do not tell.

#include <Tpetra_Operator.hpp>

#include "adapters/preconditioners/types.hpp"

namespace capstan::perf {

/// Hands everything to another operator. An application costs one call more; nothing is copied.
class CountedOperator final : public preconditioning::Operator {
 public:
  explicit CountedOperator(const Teuchos::RCP<const preconditioning::Operator>& op) : op_(op) {}

  Teuchos::RCP<const preconditioning::Map> getDomainMap() const override { return op_->getDomainMap(); }
  Teuchos::RCP<const preconditioning::Map> getRangeMap() const override { return op_->getRangeMap(); }
  bool hasTransposeApply() const override { return op_->hasTransposeApply(); }
  /// Collective as the other operator's.
  void apply(const preconditioning::MultiVector& x, preconditioning::MultiVector& y, Teuchos::ETransp mode,
             double alpha, double beta) const override {
    ++count_;
    op_->apply(x, y, mode, alpha, beta);
  }

  /// Applications since the last restart, to any number of columns each. Local.
  long count() const { return count_; }
  void restart() { count_ = 0; }

 private:
  Teuchos::RCP<const preconditioning::Operator> op_;
  mutable long count_ = 0;
};

}  // namespace capstan::perf
