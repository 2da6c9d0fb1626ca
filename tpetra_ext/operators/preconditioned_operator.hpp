#pragma once

/// \file
/// A linear operator with its preconditioners: the one place that knows left from right.

#include <Teuchos_RCP.hpp>
#include <Teuchos_Time.hpp>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "tpetra_ext/operators/block_product.hpp"
#include "tpetra_ext/operators/diagonal_rows.hpp"
#include "tpetra_ext/operators/embedded_operator.hpp"
#include "tpetra_ext/operators/explicit_preconditioner.hpp"
#include "tpetra_ext/operators/ghost_zone.hpp"
#include "tpetra_ext/operators/split_preconditioner.hpp"
#include "tpetra_ext/operators/widest_block.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan {

/// What a PreconditionedOperator has done since it was built or its cost was reset. Local.
struct OperatorCost {
  long operatorApplications = 0;        ///< calls of A.apply, whatever the number of columns
  long preconditionerApplications = 0;  ///< calls of a preconditioner's apply
  long operatorColumns = 0;             ///< vectors multiplied by A
  long preconditionerColumns = 0;       ///< vectors preconditioned
  double operatorSeconds = 0;        ///< wall time in A.apply, with a recurrence that goes with it (on a GPU: until it
                                     ///< returns, without a fence)
  double preconditionerSeconds = 0;  ///< wall time in the preconditioners, likewise
};

/// What a PreconditionedOperator applies to so many columns: all that it sends is sent by these.
struct Application {
  enum class Kind { Operator, Left, Right, Split, LeftPart, RightPart, TimesRightPart };
  Kind kind = Kind::Operator;
  std::size_t columns = 1;

  bool operator==(const Application& o) const { return kind == o.kind && columns == o.columns; }
};

/// Is told of each before it is done.
class ApplicationWatch {
 public:
  virtual ~ApplicationWatch() = default;
  virtual void beforeApplication(const Application& next) = 0;
};

/// w = L^-1 A R^-1 v for an operator A and optional preconditioners that apply L^-1 and R^-1, as Belos has them.
///
/// All vectors are MultiVectors of any number of columns over A's maps. Everything but the constructor is collective,
/// as A's and the preconditioners' apply are. Scratch vectors are kept, as many as there were columns at most: after
/// the first call with so many no vector is allocated here. Not for use by two threads at once.
///
/// Preconditioners see one column, or as many as when they first saw several: Ifpack2's Chebyshev, and with it MueLu's
/// usual smoother, keeps scratch of the first width and throws at another one. Narrower blocks are padded with zeros,
/// or applied column by column where that is less work.
///
/// Products are those of BlockProduct where A is a Tpetra::CrsMatrix that it takes: with A's own messages, and counted
/// as applications of A.
///
/// Pending reductions are looked at before and after every application (see progress.hpp). Inside, the operator
/// decides: Tpetra's halo exchange enters MPI and lets it make progress, its local product does not.
template <class Types>
class PreconditionedOperator {
 public:
  using Operator = typename Types::Operator;
  using MultiVector = typename Types::MultiVector;
  using CrsMatrix = typename Types::CrsMatrix;

  /// `left` and `right` may be null. Throws std::invalid_argument when A is null or not square, or a preconditioner on
  /// as many ranks does not fit it by its global size. Local; the same on every rank. See firstOtherMap() for the rest.
  PreconditionedOperator(Teuchos::RCP<const Operator> A, Teuchos::RCP<const Operator> left,
                         Teuchos::RCP<const Operator> right);

  /// Computes A v by `product` from now on, another implementation of the same operator: one that sends its messages
  /// in another way, for instance. A stays what is looked at for its rows and maps. Null: A does it itself. Counted and
  /// timed as before. Throws std::invalid_argument where the sizes differ. Local; call it alike on every rank.
  void exchangeProduct(Teuchos::RCP<const Operator> product);

  /// What a product needs of other ranks may travel inside reductions from now on; null: not. Of the same matrix, or of
  /// the zone's frame where there is a zone: then M^{-1} of that product needs nothing of other ranks either.
  /// Local; call it alike on every rank.
  void embedProduct(std::shared_ptr<EmbeddedOperator<Types>> embedded,
                    std::shared_ptr<GhostZone<Types>> zone = nullptr) {
    embedded_ = std::move(embedded);
    zone_ = std::move(zone);
  }
  EmbeddedOperator<Types>* embedded() const { return embedded_.get(); }
  bool embedsPreconditioner() const { return zone_ != nullptr; }

  /// w = A v by embedded(), with what others own of v. Counted and timed as applyA(). Local.
  void applyReceived(const MultiVector& v, const MultiVector& ghosts, MultiVector& w);
  /// z = M^{-1} w for the w of the last applyReceived(), where embedsPreconditioner(). Counted and timed as
  /// applyLeft(). Local.
  void preconditionReceived(MultiVector& z);

  /// Whether the only preconditioner is of explicit products: an ExplicitPreconditioner, or a Tpetra::CrsMatrix, an
  /// approximate inverse. By its type: local, and the same on every rank.
  bool hasExplicitPreconditioner() const;
  /// It; null where there is none, or a matrix that does not fit the operator on this rank. Local.
  Teuchos::RCP<const ExplicitPreconditioner<Types>> explicitPreconditioner() const;

  /// w = L^-1 A R^-1 v. v and w are different vectors.
  /// \param then what is to become of w, a single vector; null: nothing
  /// \return whether it has, in the pass of the product: not with L, nor where A computes its products itself
  bool apply(const MultiVector& v, MultiVector& w, const VectorRecurrence<Types>* then = nullptr);

  /// w = A v, likewise.
  bool applyA(const MultiVector& v, MultiVector& w, const VectorRecurrence<Types>* then = nullptr);

  /// z = L^-1 r, or a copy without a left preconditioner. r and z are different vectors.
  void applyLeft(const MultiVector& r, MultiVector& z);

  /// z = R^-1 u, or a copy without a right preconditioner. u and z are different vectors.
  void applyRight(const MultiVector& u, MultiVector& z);

  /// Whether the only preconditioner is a right one, M = M_L M_R, that takes A in between. Local; the same on every
  /// rank. Where it is, for the functions below:
  bool splits() const { return split_ != nullptr && split_->splits() && !hasLeft(); }
  /// To be asked for each call of it: what vectors hold is known to it from then on.
  const SplitPreconditioner<Types>& split() const;
  /// w = M_L^{-1} A M_R^{-1} v: an application of A and one of M, in the time of A. v and w are different vectors.
  void applySplit(const MultiVector& v, MultiVector& w);
  /// z = M_L^{-1} r, and d = M_R^{-1} u: both together count as one application of M. Input and output are different.
  void applyLeftPart(const MultiVector& r, MultiVector& z);
  void applyRightPart(const MultiVector& u, MultiVector& d);

  /// u = M_R d. Not counted.
  void multiplyRightPart(const MultiVector& d, MultiVector& u);

  /// `watch` is told of each application from now on; null: nobody. It outlives that. Local.
  void watch(ApplicationWatch* watch) { watch_ = watch; }

  /// Does it, for ranks that may be about to, with zeros. Allocates.
  void applyToZeros(const Application& application);

  /// r = b - A x. r is different from b and x.
  void residual(const MultiVector& b, const MultiVector& x, MultiVector& r);

  bool hasLeft() const { return !left_.op.is_null(); }
  bool hasRight() const { return !right_.op.is_null(); }
  /// Whether there is a preconditioner, and all there is describes itself as Ifpack2's scaling by a diagonal (one sweep
  /// of Jacobi): an application then costs nothing beside one of A. Local; the same on every rank.
  bool hasDiagonalPreconditioner() const { return diagonalPreconditioner_; }
  const Operator& A() const { return *A_; }

  /// Teuchos timers that run while A, or a preconditioner, is applied; null for none. Local.
  void setTimers(Teuchos::RCP<Teuchos::Time> ofOperator, Teuchos::RCP<Teuchos::Time> ofPreconditioner) {
    operatorTimer_ = std::move(ofOperator);
    preconditionerTimer_ = std::move(ofPreconditioner);
  }

  /// Looks anew for rows of A that hold a diagonal alone, for a symmetric method. Local.
  void findDiagonalRows() {
    diagonalRows_.find(*A_);
    diagonalRowsWanted_ = true;
  }
  /// This rank's rows of that kind; null where nobody looked for them.
  const DiagonalRows<Types>* diagonalRows() const { return diagonalRowsWanted_ ? &diagonalRows_ : nullptr; }

  const OperatorCost& cost() const { return cost_; }
  void resetCost() { cost_ = {}; }

 private:
  template <class Product>
  void multiply(std::size_t columns, const Product& product);
  /// A side's preconditioner, and how many columns it has first seen of several; 0: none yet.
  struct Preconditioner {
    Teuchos::RCP<const Operator> op;
    std::size_t width = 0;
  };
  void announce(Application::Kind kind, const MultiVector& in) {
    if (watch_ != nullptr) watch_->beforeApplication({kind, in.getNumVectors()});
  }
  void precondition(Preconditioner& preconditioner, const MultiVector& from, MultiVector& to);
  void applyInWidth(Preconditioner& preconditioner, const MultiVector& from, MultiVector& to);
  template <class Apply>
  void timedPreconditioner(std::size_t columns, const Apply& apply);
  template <class Apply>
  void applyHalf(std::size_t columns, const Apply& apply);

  Teuchos::RCP<const Operator> A_;
  Teuchos::RCP<const Operator> product_;                 // what stands in for A_; null: A_ itself
  const NodeAwareOperator<Types>* nodeAware_ = nullptr;  // product_, where it is one
  BlockProduct<Types> blocks_;                           // of A_
  bool prepared_ = false;                                // blocks_, where product_ stands in
  std::shared_ptr<EmbeddedOperator<Types>> embedded_;
  std::shared_ptr<GhostZone<Types>> zone_;
  DiagonalRows<Types> diagonalRows_;
  bool diagonalRowsWanted_ = false;
  bool diagonalPreconditioner_ = false;
  Preconditioner left_, right_;
  const SplitPreconditioner<Types>* split_ = nullptr;  // right_, where it is one
  int halves_ = 0;                                     // parts of it applied, not counted yet
  WidestBlock<Types> preconditioned_;                  // R^-1 v
  WidestBlock<Types> multiplied_;                      // A R^-1 v
  WidestBlock<Types> padded_, paddedTo_;               // what a preconditioner gets in its width, and makes of it
  Teuchos::RCP<Teuchos::Time> operatorTimer_, preconditionerTimer_;
  OperatorCost cost_;
  ApplicationWatch* watch_ = nullptr;
};

}  // namespace capstan
