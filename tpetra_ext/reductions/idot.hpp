#pragma once

/// \file
/// Nonblocking inner products: two vectors, one vector against many, block against block.
///
/// This is a part of the public API, for solvers that applications write themselves. Capstan's own solvers use
/// ReductionBatch, which also sends products of different kinds in one message.
///
/// Source: [low-sync], section 5.1, except that letting the request fall out of scope completes the reduction instead
/// of cancelling it, because MPI forbids MPI_Cancel on a collective.
///
/// Unlike Tpetra::idot, which pairs columns, X^T Y is computed, one local kernel and one all-reduce whatever the
/// shapes: result(i, j) = X(:,i)^T Y(:,j).

#include <Kokkos_Core.hpp>
#include <functional>
#include <memory>
#include <type_traits>

#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/kernels/base/copy.hpp"
#include "tpetra_ext/node_queue.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"

namespace capstan {

/// A started idot(). Also serves wherever Tpetra takes a CommRequest.
///
/// It shares ownership of the buffers, so the vectors may be changed or destroyed once idot() has returned.
class IdotRequest : public Tpetra::Details::CommRequest {
 public:
  ~IdotRequest() override = default;

  /// True when the sums have arrived; the result is written by wait() all the same. Not collective.
  virtual bool test() = 0;
};

namespace detail {

/// Starts X^T Y; wait() hands the result, a column-major block in host memory, to `deliver`.
template <class Types>
std::shared_ptr<IdotRequest> startIdot(const typename Types::MultiVector& X, const typename Types::MultiVector& Y,
                                       std::function<void(const typename ReductionBatch<Types>::SmallView&)> deliver);

/// Throws std::invalid_argument unless a result of rows x cols fits X^T Y.
void requireIdotShape(std::size_t rows, std::size_t cols, std::size_t columnsOfX, std::size_t columnsOfY);

/// Throws std::invalid_argument unless 1 <= ... <= leadingDimension and the pointer can be written to.
void requireIdotMemory(const void* result, int leadingDimension, std::size_t columnsOfX, std::size_t columnsOfY);

}  // namespace detail

/// Starts result = X^T Y into host memory.
///
/// \param result column-major, element (i, j) at result[i + j * leadingDimension], i < cols(X), j < cols(Y). wait() on
///   the request writes it, so it must live until then; if the request is dropped without wait(), it is not written.
/// \param leadingDimension at least cols(X).
///
/// X and Y have the same map. Collective over its communicator, both at the start and at wait() (or at the end of the
/// request's life). For locally replicated maps nothing is summed. wait() is idempotent; cancel() completes the
/// reduction and drops the result. Throws std::invalid_argument for operands that do not fit, before anything is sent;
/// wait() throws std::runtime_error when MPI reports an error.
template <class S, class LO, class GO, class NO>
std::shared_ptr<IdotRequest> idot(S* result, int leadingDimension, const Tpetra::MultiVector<S, LO, GO, NO>& X,
                                  const Tpetra::MultiVector<S, LO, GO, NO>& Y) {
  using Types = TpetraTypes<S, LO, GO, NO>;
  detail::requireIdotMemory(result, leadingDimension, X.getNumVectors(), Y.getNumVectors());
  return detail::startIdot<Types>(X, Y, [=](const typename ReductionBatch<Types>::SmallView& sums) {
    for (std::size_t j = 0; j < sums.extent(1); ++j) {
      for (std::size_t i = 0; i < sums.extent(0); ++i) {
        result[i + j * static_cast<std::size_t>(leadingDimension)] = sums(i, j);
      }
    }
  });
}

/// The same with the numbers packed: two vectors give result[0]; one vector against t gives result[0..t), on whichever
/// side it stands; k columns against t give result[i + j * k].
template <class S, class LO, class GO, class NO>
std::shared_ptr<IdotRequest> idot(S* result, const Tpetra::MultiVector<S, LO, GO, NO>& X,
                                  const Tpetra::MultiVector<S, LO, GO, NO>& Y) {
  return idot(result, X.getNumVectors() > 0 ? static_cast<int>(X.getNumVectors()) : 1, X, Y);
}

/// The same into a Kokkos view, host or device, which the request keeps alive.
///
/// \param result rank 2: cols(X) x cols(Y); rank 1: as long as the only dimension of the result that is not 1; rank 0:
///   one number
template <class S, class LO, class GO, class NO, class Data, class... Properties>
std::shared_ptr<IdotRequest> idot(const Kokkos::View<Data, Properties...>& result,
                                  const Tpetra::MultiVector<S, LO, GO, NO>& X,
                                  const Tpetra::MultiVector<S, LO, GO, NO>& Y) {
  using Types = TpetraTypes<S, LO, GO, NO>;
  using Result = Kokkos::View<Data, Properties...>;
  static_assert(std::is_same<typename Result::value_type, S>::value,
                "idot: the result holds the vectors' scalar, not const");
  constexpr int rank = static_cast<int>(Result::rank);
  static_assert(rank <= 2, "idot: the result has rank 0, 1 or 2");
  const bool oneOfX = X.getNumVectors() == 1;
  const std::size_t rows = rank == 2 ? result.extent(0) : rank == 1 && !oneOfX ? result.extent(0) : 1;
  const std::size_t cols = rank == 2 ? result.extent(1) : rank == 1 && oneOfX ? result.extent(0) : 1;
  detail::requireIdotShape(rows, cols, X.getNumVectors(), Y.getNumVectors());
  return detail::startIdot<Types>(X, Y, [=](const typename ReductionBatch<Types>::SmallView& sums) {
    // The sums are in host memory; the result may be in device memory with any layout: same-layout mirror in between.
    const auto mirror = kernels::mirror(result);
    for (std::size_t j = 0; j < cols; ++j) {
      for (std::size_t i = 0; i < rows; ++i) {
        if constexpr (rank == 2) {
          mirror(i, j) = sums(i, j);
        } else if constexpr (rank == 1) {
          mirror(i + j) = sums(i, j);
        } else {
          mirror() = sums(i, j);
        }
      }
    }
    kernels::copyAndWait(nodeQueue<Types>(), result, mirror);
  });
}

}  // namespace capstan
