#pragma once
/// \file
/// The inner products of p(l)-CG on their way: one nonblocking reduction a column of G, l of them in flight.

#include <algorithm>
#include <memory>
#include <vector>

#include "belos_ext/solvers/pipelined_cg/pipelined_bases.hpp"
#include "tpetra_ext/reductions/pending_reduction.hpp"

namespace capstan {

/// Column c: (u_c, q_{c-l}), (u_c, z^(l)_j) for j = c-l+1 .. c, |q_{c-l}|^2 in the M-norm, with a preconditioner
/// |M q_{c-l}|^2 in the 2-norm, (u_{c-l}, p_{c-l-1}), which is zero but for rounding, and (s, z^(l)_c) where a
/// direction s is given. Of a negative definite M the products are those with -M. Buffers are kept.
template <class Types>
class PipelinedProducts {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;

  /// Collective where something is in flight, which is completed.
  void begin(const Teuchos::RCP<const Teuchos::Comm<int>>& comm, int depth, bool preconditioned) {
    drain();
    if (comm.get() != comm_.get()) columns_.clear();
    comm_ = comm;
    depth_ = depth;
    preconditioned_ = preconditioned;
    while (static_cast<int>(columns_.size()) < depth + 1) columns_.push_back(std::make_unique<Column>(comm));
  }

  /// The sign of M, 1 or -1, where that has been seen. Local.
  void setSign(Scalar ofM) { sign_ = ofM; }

  /// Completes what is in flight. Collective.
  void drain() {
    for (const auto& column : columns_) column->pending = PendingReduction<Types>();
  }

  /// Starts the reduction of column c >= 1; u_c and z^(l)_c are there. Collective.
  /// \param p p_{c-l-1}   \param direction s; null: none
  /// \param bare the products without z^(l)_c, which is not there
  void start(LinearSystem<Types>& system, int c, PipelinedBases<Types>& bases, const MultiVector& p,
             const MultiVector* direction, bool bare) {
    Column& column = at(c);
    auto& batch = column.batch;
    batch.clear();
    column.slots.clear();
    const int j = c - depth_;
    if (j >= 0) column.slots.push_back(batch.dot(bases.u(c), bases.z(0, j)));
    const int most = bare ? c - 1 : c;
    for (int k = std::max(0, j + 1); k <= most; ++k) column.slots.push_back(batch.dot(bases.u(c), bases.top(k)));
    if (j >= 0) column.square = batch.dot(bases.u(0, j), bases.z(0, j));
    if (j >= 0 && preconditioned_) column.residual = batch.norm2(bases.u(0, j));
    if (j > 0) column.onto = batch.dot(bases.u(0, j), p);
    if (direction != nullptr) column.along = batch.dot(*direction, bases.top(c));
    column.pending = system.start(batch);
  }

  /// Waits for column c. Collective; idempotent.
  void wait(int c) { at(c).pending.wait(); }

  /// Results of column c after wait(). The products, in the order above; valid until the next call.
  const std::vector<Scalar>& products(int c) {
    values_.clear();
    for (const auto& slot : at(c).slots) values_.push_back(sign_ * at(c).batch[slot]);
    return values_;
  }
  /// |q_{c-l}|^2, for c >= l.
  Scalar square(int c) { return sign_ * at(c).batch[at(c).square]; }
  /// |M q_{c-l}|^2 in the 2-norm, for c >= l.
  Scalar residual(int c) { return preconditioned_ ? at(c).batch[at(c).residual] : square(c); }
  /// (u_{c-l}, p_{c-l-1}), for c > l.
  Scalar onto(int c) { return at(c).batch[at(c).onto]; }
  /// (s, z^(l)_c)
  Scalar along(int c) { return at(c).batch[at(c).along]; }

 private:
  struct Column {
    using Slot = typename ReductionBatch<Types>::Slot;
    explicit Column(const Teuchos::RCP<const Teuchos::Comm<int>>& comm) : batch(comm) {}
    ReductionBatch<Types> batch;
    std::vector<Slot> slots;
    Slot square, residual, onto, along;
    PendingReduction<Types> pending;
  };

  Column& at(int c) { return *columns_[static_cast<std::size_t>(c % (depth_ + 1))]; }

  Teuchos::RCP<const Teuchos::Comm<int>> comm_;
  int depth_ = 1;
  bool preconditioned_ = false;
  Scalar sign_ = 1;
  std::vector<std::unique_ptr<Column>> columns_;
  std::vector<Scalar> values_;
};

}  // namespace capstan
