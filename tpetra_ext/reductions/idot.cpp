#include "tpetra_ext/reductions/idot.hpp"

#include <Teuchos_Comm.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "tpetra_ext/compat/instantiate.hpp"

namespace capstan {

namespace {

template <class Types>
class BatchRequest final : public IdotRequest {
 public:
  using Batch = ReductionBatch<Types>;
  using Deliver = std::function<void(const typename Batch::SmallView&)>;

  BatchRequest(const typename Types::MultiVector& X, const typename Types::MultiVector& Y, Deliver deliver)
      : batch_(X.getMap()->getComm()),
        slot_(batch_.innerProducts(X, Y)),
        deliver_(std::move(deliver)),
        pending_(batch_.start()) {}

  void wait() override {
    pending_.wait();
    if (deliver_) std::exchange(deliver_, nullptr)(batch_.view(slot_));
  }

  void cancel() override {
    deliver_ = nullptr;
    pending_.wait();
  }

  bool test() override { return pending_.test(); }

 private:
  Batch batch_;
  typename Batch::Slot slot_;
  Deliver deliver_;
  PendingReduction<Types> pending_;
};

}  // namespace

namespace detail {

void requireIdotShape(std::size_t rows, std::size_t cols, std::size_t columnsOfX, std::size_t columnsOfY) {
  if (rows == columnsOfX && cols == columnsOfY) return;
  throw std::invalid_argument("capstan::idot: the result is " + std::to_string(rows) + " x " + std::to_string(cols) +
                              ", must be " + std::to_string(columnsOfX) + " x " + std::to_string(columnsOfY) +
                              " (columns of X by columns of Y)");
}

void requireIdotMemory(const void* result, int leadingDimension, std::size_t columnsOfX, std::size_t columnsOfY) {
  if (result == nullptr && columnsOfX > 0 && columnsOfY > 0) {
    throw std::invalid_argument("capstan::idot: the result is a null pointer");
  }
  if (leadingDimension < 1 || static_cast<std::size_t>(leadingDimension) < columnsOfX) {
    throw std::invalid_argument("capstan::idot: leading dimension " + std::to_string(leadingDimension) +
                                " is too small; at least " + std::to_string(columnsOfX > 0 ? columnsOfX : 1) +
                                " (columns of X)");
  }
}

template <class Types>
std::shared_ptr<IdotRequest> startIdot(const typename Types::MultiVector& X, const typename Types::MultiVector& Y,
                                       std::function<void(const typename ReductionBatch<Types>::SmallView&)> deliver) {
  return std::make_shared<BatchRequest<Types>>(X, Y, std::move(deliver));
}

#define CAPSTAN_START_IDOT(S, LO, GO, NO)                                                             \
  template std::shared_ptr<IdotRequest> startIdot<TpetraTypes<S, LO, GO, NO>>(                        \
      const TpetraTypes<S, LO, GO, NO>::MultiVector&, const TpetraTypes<S, LO, GO, NO>::MultiVector&, \
      std::function<void(const ReductionBatch<TpetraTypes<S, LO, GO, NO>>::SmallView&)>);
CAPSTAN_INSTANTIATE(CAPSTAN_START_IDOT)

}  // namespace detail

}  // namespace capstan
