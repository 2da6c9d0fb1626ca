#pragma once

/// \file
/// Products with A and an explicit M^{-1}, one after the other, for which only A's input comes from other ranks.

#include <Kokkos_Core.hpp>
#include <Teuchos_RCP.hpp>
#include <Tpetra_Import_fwd.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "tpetra_ext/operators/explicit_preconditioner.hpp"
#include "tpetra_ext/operators/matrix_exchange.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan {

/// Whether so many entries can be numbered by a Scalar, as a zone numbers those of a matrix, and by a GlobalOrdinal,
/// for the map of the numbers.
template <class Scalar, class GlobalOrdinal>
constexpr bool numbersEntries(std::uint64_t entries) {
  static_assert(std::numeric_limits<Scalar>::digits < 64);
  return entries <= std::uint64_t(1) << std::numeric_limits<Scalar>::digits &&
         entries <= static_cast<std::uint64_t>(std::numeric_limits<GlobalOrdinal>::max());
}

/// s = A p and t = M^{-1} s on this rank's rows, from p on a wider zone: the rows of others that M^{-1} s reaches here
/// are held here, too, and A is applied on them redundantly. So p's entries in the zone are all that has to travel, and
/// both products together send no message of their own.
///
/// Depth: one layer for each stage of M, and one for A. The zone grows with it, as in matrix powers
/// [Mohiyuddin, Hoemmen, Demmel and Yelick 2009].
///
/// Memory: the rows of A and of M's stages in the zone, the rank's own among them; four vectors of the zone's length;
/// for each matrix a vector of its entries, and lists of those that come from others.
template <class Types>
class GhostZone {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using CrsMatrix = typename Types::CrsMatrix;
  using Vector = typename Types::Vector;
  using Import = Tpetra::Import<typename Types::LocalOrdinal, typename Types::GlobalOrdinal, typename Types::Node>;

  /// With the values that A and M have now. See fits(). Collective: an import of rows for each stage, and one for A.
  GhostZone(const CrsMatrix& a, const ExplicitPreconditioner<Types>& m);

  /// Takes the values that A and M have now; their graphs are as they were. Collective: one import for each stage and
  /// for A, of the entries of others, and one of M's scaling. No collective call.
  void refresh(const CrsMatrix& a, const ExplicitPreconditioner<Types>& m);

  /// Whether there can be a zone: A and M are on one map of rows, canExchange() takes A and M's matrices, and their
  /// entries can be numbered, see numbersEntries(). The same on all ranks but for what is seen of the maps here. Local.
  static bool fits(const CrsMatrix& a, const ExplicitPreconditioner<Types>& m);

  /// Of all of A and M on this rank but the values: other zones differ in it. Local: a pass over the graphs.
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
    /// Where the values of others come from: by the number of an entry in the whole matrix. Null: none on any rank.
    Teuchos::RCP<const Import> import;
    Teuchos::RCP<Vector> own, others;
    std::size_t count() const { return begin.extent(0) - 1; }
  };
  using Zone = Kokkos::View<Scalar*, typename Types::DeviceType>;

  class Builder;
  static void refreshRows(const CrsMatrix& f, Rows& rows);

  template <class X, class R>
  static void multiplyBy(const Rows& rows, const int* sources, int own, const X& x, const R& received, const Zone& y);

  Teuchos::RCP<const CrsMatrix> frame_;
  std::size_t owned_ = 0;
  Rows a_;
  std::vector<Rows> stages_;
  Zone scaling_;  ///< empty: the identity
  Teuchos::RCP<const Import> scalingImport_;
  Teuchos::RCP<Vector> scalingHere_;
  Scalar start_ = 1;
  Kokkos::View<int*, typename Types::DeviceType> sources_;
  Zone s_, u_, v_, w_;  ///< on A's rows in the zone
};

}  // namespace capstan
