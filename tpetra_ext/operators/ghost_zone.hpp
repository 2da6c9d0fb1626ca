#pragma once

/// \file
/// Products with A and an explicit M^{-1}, one after the other, for which only A's input comes from other ranks.

#include <Kokkos_Core.hpp>
#include <Teuchos_RCP.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "tpetra_ext/operators/explicit_preconditioner.hpp"
#include "tpetra_ext/operators/matrix_exchange.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan {

/// s = A p and t = M^{-1} s on this rank's rows, from p on a wider zone: the rows of others that M^{-1} s reaches here
/// are held here, too, and A is applied on them redundantly. So p's entries in the zone are all that has to travel, and
/// both products together send no message of their own.
///
/// Depth: one layer for each stage of M, and one for A. The zone grows with it, as in matrix powers
/// [Mohiyuddin, Hoemmen, Demmel and Yelick 2009].
///
/// Memory: the rows of A and of M's stages in the zone, the rank's own among them; two vectors of the zone's length.
template <class Types>
class GhostZone {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using CrsMatrix = typename Types::CrsMatrix;

  /// With the values that A and M have now. Both are on the same map of rows, and canExchange() takes A and M's
  /// matrices: see fits(). Collective: an import of rows for each stage, and one for A.
  GhostZone(const CrsMatrix& a, const ExplicitPreconditioner<Types>& m);

  /// Whether there can be a zone: sizes and kinds only; the same on all ranks but for sizes here. Local.
  static bool fits(const CrsMatrix& a, const ExplicitPreconditioner<Types>& m);

  /// Of the graphs of A and M on this rank, in which other zones differ. Local: a pass over the graphs.
  static std::uint64_t checksumOfGraphs(const CrsMatrix& a, const ExplicitPreconditioner<Types>& m);

  /// A matrix with A's rows and no entries, whose columns are the zone: what communication plans are made of.
  const Teuchos::RCP<const CrsMatrix>& frame() const { return frame_; }

  /// Finds the zone's entries in what an exchange of frame() brings. Before the first multiply(). Local.
  void receiveBy(const MatrixExchange& exchange);

  /// s = A p; all n x 1.
  /// \param ghosts p's entries of others, in the order of the exchange's needs
  /// Local.
  void multiply(const MultiVector& p, const MultiVector& ghosts, MultiVector& s);

  /// t = M^{-1} s, n x 1, for the s of the last multiply(). Local.
  void precondition(MultiVector& t);

 private:
  /// Rows of a matrix in the zone, the rank's own first, their columns numbered as frame()'s.
  struct Rows {
    Kokkos::View<std::size_t*, typename Types::DeviceType> begin;
    Kokkos::View<int*, typename Types::DeviceType> columns;
    Kokkos::View<Scalar*, typename Types::DeviceType> values;
    Scalar alpha = 1, beta = 0, gamma = 0;
    std::size_t count() const { return begin.extent(0) - 1; }
  };
  using Zone = Kokkos::View<Scalar*, typename Types::DeviceType>;

  class Builder;

  template <class X, class R>
  static void multiplyBy(const Rows& rows, const int* sources, int own, const X& x, const R& received, const Zone& y);

  Teuchos::RCP<const CrsMatrix> frame_;
  std::size_t owned_ = 0;
  Rows a_;
  std::vector<Rows> stages_;
  Zone scaling_;  ///< empty: the identity
  Scalar start_ = 1;
  Kokkos::View<int*, typename Types::DeviceType> sources_;
  Zone s_, u_, v_, w_;  ///< on A's rows in the zone
};

}  // namespace capstan
