// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What an application does with vectors, as Trilinos applies it.

#include <Tpetra_MultiVector.hpp>
#include <stdexcept>
#include <string>

#include "adapters/driver/host_actions.hpp"
#include "adapters/driver/trilinos_types.hpp"
#include "tpetra_ext/operators/split_preconditioner.hpp"
#include "tpetra_ext/types.hpp"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan::driver {

using OperatorTypes = TpetraTypes<double, Map::local_ordinal_type, Map::global_ordinal_type, Map::node_type>;

/// The application's product or preconditioner as an operator of Trilinos: no matrix behind it, no copy of a vector.
class HostOperator final : public Operator, public SplitPreconditioner<OperatorTypes> {
 public:
  enum class Kind { Product, Preconditioner };

  HostOperator(Teuchos::RCP<const Map> map, Kind kind) : map_(std::move(map)), kind_(kind) {}

  /// What acts from now on; null: nothing may.  \param timed what that takes is measured
  void set(HostActions* actions, bool timed = false) {
    actions_ = actions;
    timed_ = timed;
  }

  /// Applications so far, and what they took where it is measured.
  long applications() const { return applications_; }
  double seconds() const { return seconds_; }

  Teuchos::RCP<const Map> getDomainMap() const override { return map_; }
  Teuchos::RCP<const Map> getRangeMap() const override { return map_; }
  std::string description() const override {
    return kind_ == Kind::Product ? "the application's product" : "the application's preconditioner";
  }

  void apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp mode, double alpha, double beta) const override {
    if (actions_ == nullptr) throw std::logic_error(description() + " is there during a solve only");
    if (mode != Teuchos::NO_TRANS || alpha != 1.0 || beta != 0.0) {
      throw std::invalid_argument(description() + " is applied as it is: not transposed, not scaled, not added");
    }
    const double start = timed_ ? wallSeconds() : 0;
    forColumns(X, Y, [this](const double* x, double* y) {
      if (kind_ == Kind::Product) {
        actions_->apply(x, y);
      } else {
        actions_->precondition(x, y);
      }
      ++applications_;
    });
    if (timed_) seconds_ += wallSeconds() - start;
  }

  bool splits() const override {
    return kind_ == Kind::Preconditioner && actions_ != nullptr && actions_->split() != nullptr;
  }
  void applySplit(const MultiVector& v, MultiVector& w) const override {
    forColumns(v, w, [this](const double* x, double* y) { actions_->split()->applySplit(x, y); });
  }
  void applyLeftPart(const MultiVector& r, MultiVector& z) const override {
    forColumns(r, z, [this](const double* x, double* y) { actions_->split()->solveLeft(x, y); });
  }
  void applyRightPart(const MultiVector& u, MultiVector& d) const override {
    forColumns(u, d, [this](const double* x, double* y) { actions_->split()->solveRight(x, y); });
  }
  void multiplyRightPart(const MultiVector& d, MultiVector& u) const override {
    forColumns(d, u, [this](const double* x, double* y) { actions_->split()->multiplyRight(x, y); });
  }
  double absoluteSum(const MultiVector& z) const override {
    const auto values = compat::hostView(z, Tpetra::Access::ReadOnly);
    return values->extent(0) == 0 ? 0 : actions_->split()->absoluteSum(values->data());
  }

 private:
  /// act(x, y) for each column; null pointers on ranks without rows.
  template <class Act>
  static void forColumns(const MultiVector& X, MultiVector& Y, const Act& act) {
    const std::size_t columns = X.getNumVectors();
    if (X.isConstantStride() && Y.isConstantStride()) {
      forColumnsOf(X, Y, columns, act);
    } else {
      for (std::size_t j = 0; j < columns; ++j) forColumnsOf(*X.getVector(j), *Y.getVectorNonConst(j), 1, act);
    }
  }
  template <class Act>
  static void forColumnsOf(const MultiVector& X, MultiVector& Y, std::size_t columns, const Act& act) {
    const auto from = compat::hostView(X, Tpetra::Access::ReadOnly);  // at a tenth of what getData takes
    const auto to = compat::hostView(Y, Tpetra::Access::OverwriteAll);
    for (std::size_t j = 0; j < columns; ++j) {
      // Views of no rows do not always know their columns.
      const double* const x = from->extent(0) == 0 ? nullptr : from->data() + j * from->stride(1);
      double* const y = to->extent(0) == 0 ? nullptr : to->data() + j * to->stride(1);
      act(x, y);
    }
  }

  Teuchos::RCP<const Map> map_;
  Kind kind_;
  HostActions* actions_ = nullptr;
  bool timed_ = false;
  mutable long applications_ = 0;
  mutable double seconds_ = 0;
};

/// The actions of one solve, taken away again however it ends.
class Acting {
 public:
  Acting(HostOperator& product, HostOperator& preconditioner, HostActions& actions, bool timed)
      : product_(product), preconditioner_(preconditioner) {
    product_.set(&actions, timed);
    preconditioner_.set(&actions, timed);
  }
  Acting(const Acting&) = delete;
  Acting& operator=(const Acting&) = delete;
  ~Acting() {
    product_.set(nullptr);
    preconditioner_.set(nullptr);
  }

 private:
  HostOperator& product_;
  HostOperator& preconditioner_;
};

}  // namespace capstan::driver
