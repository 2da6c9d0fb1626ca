#include "tpetra_ext/operators/preconditioned_operator.hpp"

#include <Teuchos_Time.hpp>
#include <Teuchos_TimeMonitor.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Operator.hpp>
#include <Tpetra_Vector.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"
#include "tpetra_ext/operators/counted_passes.hpp"
#include "tpetra_ext/operators/node_aware_operator.hpp"
#include "tpetra_ext/operators/same_maps.hpp"
#include "tpetra_ext/reductions/counters.hpp"
#include "tpetra_ext/reductions/progress.hpp"
#include "tpetra_ext/trace.hpp"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan {

namespace {

template <class Map>
void requireSameSize(const Map& has, const Map& wanted, const char* which, const char* what) {
  // A subdomain solver used bare (Ifpack2's RILUK) lives on each rank's own communicator: it sees only local rows, and
  // whether they are as many as they should is for all ranks to find out together (firstOtherMap).
  if (has.getComm()->getSize() < wanted.getComm()->getSize()) return;
  if (has.getGlobalNumElements() != wanted.getGlobalNumElements()) {
    throw std::invalid_argument(std::string("capstan: the ") + which + " has " +
                                std::to_string(has.getGlobalNumElements()) + " global rows, " + what + " has " +
                                std::to_string(wanted.getGlobalNumElements()) + "; they must be the same");
  }
}

/// Runs a timer, where there is one that does not run already. By way of TimeMonitor, which also tells the
/// application's Teuchos::StackedTimer.
class RunningTimer {
 public:
  explicit RunningTimer(const Teuchos::RCP<Teuchos::Time>& timer) {
    if (!timer.is_null()) monitor_.emplace(*timer);
  }
  RunningTimer(const RunningTimer&) = delete;
  RunningTimer& operator=(const RunningTimer&) = delete;

 private:
  std::optional<Teuchos::TimeMonitor> monitor_;
};

void requireDistinct(const void* in, const void* out, const char* function) {
  if (in == out) {
    throw std::invalid_argument(std::string("capstan::PreconditionedOperator::") + function +
                                ": input and output are the same vector");
  }
}

/// By its description, so that no type of Ifpack2 is needed here, and wrappers that pass the description on count, too.
template <class Operator>
bool isDiagonal(const Operator& preconditioner) {
  const std::string text = preconditioner.description();
  const auto says = [&text](const char* part) { return text.find(part) != std::string::npos; };
  return says("\"Ifpack2::Diagonal\"") || says("\"Capstan::Diagonal\"") ||
         (says("\"Ifpack2::Relaxation\"") && says("Type: Jacobi,") && says("sweeps: 1,"));
}

/// How many columns a preconditioner has first seen of several: these, where it has seen none. It stays with the
/// object, since applications make solvers anew and keep their preconditioners. Local.
template <class Operator>
std::size_t widthOf(Teuchos::RCP<const Operator>& op, std::size_t columns) {
  constexpr const char* name = "Capstan: columns that a preconditioner has first seen";
  const auto known = Teuchos::get_optional_extra_data<std::size_t>(op, name);
  if (!known.is_null()) return *known;
  Teuchos::set_extra_data(columns, name, Teuchos::inOutArg(op), Teuchos::POST_DESTROY, false);
  return columns;
}

}  // namespace

template <class Types>
PreconditionedOperator<Types>::PreconditionedOperator(Teuchos::RCP<const Operator> A, Teuchos::RCP<const Operator> left,
                                                      Teuchos::RCP<const Operator> right)
    : A_(std::move(A)), blocks_(A_), left_{std::move(left)}, right_{std::move(right)} {
  if (A_.is_null()) throw std::invalid_argument("capstan: the linear problem has no operator");
  // Sizes only, which every rank knows: comparing whole maps takes a reduction (firstOtherMap).
  requireSameSize(*A_->getRangeMap(), *A_->getDomainMap(), "range of the operator", "its domain");
  if (hasLeft()) {
    requireSameSize(*left_.op->getDomainMap(), *A_->getRangeMap(), "domain of the left preconditioner",
                    "the operator's range");
    requireSameSize(*left_.op->getRangeMap(), *A_->getDomainMap(), "range of the left preconditioner",
                    "the operator's domain");
  }
  if (hasRight()) {
    requireSameSize(*right_.op->getDomainMap(), *A_->getRangeMap(), "domain of the right preconditioner",
                    "the operator's range");
    requireSameSize(*right_.op->getRangeMap(), *A_->getDomainMap(), "range of the right preconditioner",
                    "the operator's domain");
  }
  const auto diagonal = [](const Preconditioner& side) { return side.op.is_null() || isDiagonal(*side.op); };
  diagonalPreconditioner_ = (hasLeft() || hasRight()) && diagonal(left_) && diagonal(right_);
  split_ = dynamic_cast<const SplitPreconditioner<Types>*>(right_.op.get());
}

template <class Types>
void PreconditionedOperator<Types>::exchangeProduct(Teuchos::RCP<const Operator> product) {
  if (product.is_null()) {
    product_ = Teuchos::null;
    nodeAware_ = nullptr;
    return;
  }
  requireSameSize(*product->getDomainMap(), *A_->getDomainMap(), "domain of the product", "the operator's domain");
  requireSameSize(*product->getRangeMap(), *A_->getRangeMap(), "range of the product", "the operator's range");
  product_ = std::move(product);
  nodeAware_ = dynamic_cast<const NodeAwareOperator<Types>*>(product_.get());
}

template <class Types>
bool PreconditionedOperator<Types>::apply(const MultiVector& v, MultiVector& w, const VectorRecurrence<Types>* then) {
  const std::size_t columns = v.getNumVectors();
  const MultiVector* toMultiply = &v;
  if (hasRight()) {
    MultiVector& u = preconditioned_.columns(A_->getDomainMap(), columns);
    precondition(right_, v, u);
    toMultiply = &u;
  }
  if (!hasLeft()) return applyA(*toMultiply, w, then);
  MultiVector& product = multiplied_.columns(A_->getRangeMap(), columns);
  applyA(*toMultiply, product);
  precondition(left_, product, w);
  return false;
}

/// product() is a product with A of so many columns.
template <class Types>
template <class Product>
void PreconditionedOperator<Types>::multiply(std::size_t columns, const Product& product) {
  const RunningTimer timer(operatorTimer_);
  const double begin = wallSeconds();
  pollReductions();
  product();
  pollReductions();
  cost_.operatorSeconds += wallSeconds() - begin;
  ++cost_.operatorApplications;
  cost_.operatorColumns += static_cast<long>(columns);
  eventLog().record(LoggedKind::OperatorApply, static_cast<long>(columns));
}

template <class Types>
bool PreconditionedOperator<Types>::applyA(const MultiVector& v, MultiVector& w, const VectorRecurrence<Types>* then) {
  requireDistinct(&v, &w, "applyA");
  announce(Application::Kind::Operator, v);
  bool updated = then != nullptr;
  multiply(v.getNumVectors(), [&] {
    if (!product_.is_null()) {
      // Products before the first reduction of a later solve must not allocate.
      if (!prepared_) blocks_.prepare(v, w);
      prepared_ = true;
      updated = updated && nodeAware_ != nullptr;
      if (updated) {
        nodeAware_->apply(v, w, *then);
      } else {
        if (nodeAware_ == nullptr) compat::handOver<typename Types::ExecutionSpace>("the product");
        product_->apply(v, w);
      }
    } else if (!blocks_.apply(v, w, then)) {
      updated = false;
      compat::handOver<typename Types::ExecutionSpace>("the operator");
      A_->apply(v, w);
    }
  });
  if (updated) detail::countRecurrence(*then, v);
  return updated;
}

template <class Types>
void PreconditionedOperator<Types>::applyReceived(const MultiVector& v, const MultiVector& ghosts, MultiVector& w) {
  requireDistinct(&v, &w, "applyReceived");
  multiply(v.getNumVectors(), [&] {
    if (zone_ != nullptr) {
      zone_->multiply(v, ghosts, w);
    } else {
      embedded_->multiply(v, ghosts, w);
    }
  });
}

/// apply() preconditions so many columns, and counts how often it does.
template <class Types>
template <class Apply>
void PreconditionedOperator<Types>::timedPreconditioner(std::size_t columns, const Apply& apply) {
  const RunningTimer timer(preconditionerTimer_);
  const Traced trace("preconditioner");
  const double begin = wallSeconds();
  pollReductions();
  apply();
  pollReductions();
  cost_.preconditionerSeconds += wallSeconds() - begin;
  cost_.preconditionerColumns += static_cast<long>(columns);
  eventLog().record(LoggedKind::PreconditionerApply, static_cast<long>(columns));
}

template <class Types>
void PreconditionedOperator<Types>::precondition(Preconditioner& preconditioner, const MultiVector& from,
                                                 MultiVector& to) {
  announce(&preconditioner == &left_ ? Application::Kind::Left : Application::Kind::Right, from);
  timedPreconditioner(from.getNumVectors(), [&] { applyInWidth(preconditioner, from, to); });
}

template <class Types>
void PreconditionedOperator<Types>::preconditionReceived(MultiVector& z) {
  timedPreconditioner(1, [&] {
    zone_->precondition(z);
    ++cost_.preconditionerApplications;
  });
}

template <class Types>
auto PreconditionedOperator<Types>::split() const -> const SplitPreconditioner<Types>& {
  compat::handOver<typename Types::ExecutionSpace>("a part of the preconditioner");
  return *split_;
}

template <class Types>
void PreconditionedOperator<Types>::applySplit(const MultiVector& v, MultiVector& w) {
  requireDistinct(&v, &w, "applySplit");
  announce(Application::Kind::Split, v);
  multiply(v.getNumVectors(), [&] { split().applySplit(v, w); });
  ++cost_.preconditionerApplications;
  cost_.preconditionerColumns += static_cast<long>(v.getNumVectors());
}

template <class Types>
template <class Apply>
void PreconditionedOperator<Types>::applyHalf(std::size_t columns, const Apply& apply) {
  timedPreconditioner(columns, apply);
  if (++halves_ % 2 == 0) {
    ++cost_.preconditionerApplications;
  } else {
    cost_.preconditionerColumns -= static_cast<long>(columns);
  }
}

template <class Types>
void PreconditionedOperator<Types>::applyLeftPart(const MultiVector& r, MultiVector& z) {
  requireDistinct(&r, &z, "applyLeftPart");
  announce(Application::Kind::LeftPart, r);
  applyHalf(r.getNumVectors(), [&] { split().applyLeftPart(r, z); });
}

template <class Types>
void PreconditionedOperator<Types>::applyRightPart(const MultiVector& u, MultiVector& d) {
  requireDistinct(&u, &d, "applyRightPart");
  announce(Application::Kind::RightPart, u);
  applyHalf(u.getNumVectors(), [&] { split().applyRightPart(u, d); });
}

template <class Types>
void PreconditionedOperator<Types>::multiplyRightPart(const MultiVector& d, MultiVector& u) {
  requireDistinct(&d, &u, "multiplyRightPart");
  announce(Application::Kind::TimesRightPart, d);
  split().multiplyRightPart(d, u);
}

template <class Types>
void PreconditionedOperator<Types>::applyToZeros(const Application& application) {
  const MultiVector zeros(A_->getDomainMap(), application.columns);
  MultiVector out(A_->getRangeMap(), application.columns);
  switch (application.kind) {
    case Application::Kind::Operator:
      applyA(zeros, out);
      return;
    case Application::Kind::Left:
      return applyLeft(zeros, out);
    case Application::Kind::Right:
      return applyRight(zeros, out);
    case Application::Kind::Split:
      return applySplit(zeros, out);
    case Application::Kind::LeftPart:
      return applyLeftPart(zeros, out);
    case Application::Kind::RightPart:
      return applyRightPart(zeros, out);
    case Application::Kind::TimesRightPart:
      return multiplyRightPart(zeros, out);
  }
}

template <class Types>
bool PreconditionedOperator<Types>::hasExplicitPreconditioner() const {
  if (hasLeft() == hasRight()) return false;
  // A class derived from one of the two may apply itself in another way.
  const Operator& m = hasLeft() ? *left_.op : *right_.op;
  return typeid(m) == typeid(ExplicitPreconditioner<Types>) || typeid(m) == typeid(CrsMatrix);
}

template <class Types>
auto PreconditionedOperator<Types>::explicitPreconditioner() const
    -> Teuchos::RCP<const ExplicitPreconditioner<Types>> {
  if (!hasExplicitPreconditioner()) return Teuchos::null;
  const Teuchos::RCP<const Operator>& m = hasLeft() ? left_.op : right_.op;
  const auto matrix = Teuchos::rcp_dynamic_cast<const CrsMatrix>(m);
  if (matrix.is_null()) return Teuchos::rcp_dynamic_cast<const ExplicitPreconditioner<Types>>(m);
  const auto same = [&matrix](const auto& map) {
    return sameHere(ComparedMap<typename Types::Map>{map}, *matrix->getRowMap());
  };
  if (!matrix->isFillComplete() || !same(matrix->getDomainMap()) || !same(matrix->getRangeMap())) return Teuchos::null;
  return Teuchos::rcp(new ExplicitPreconditioner<Types>("approximate inverse", matrix->getRowMap(), Teuchos::null,
                                                        typename Types::Scalar(1), {{matrix}}));
}

template <class Types>
void PreconditionedOperator<Types>::applyInWidth(Preconditioner& preconditioner, const MultiVector& from,
                                                 MultiVector& to) {
  const std::size_t columns = from.getNumVectors();
  if (columns > 1 && preconditioner.width == 0) preconditioner.width = widthOf(preconditioner.op, columns);
  const std::size_t width = preconditioner.width;
  const auto applyOnce = [&](const MultiVector& in, MultiVector& out) {
    compat::handOver<typename Types::ExecutionSpace>("the preconditioner");
    preconditioner.op->apply(in, out);
    ++cost_.preconditionerApplications;
  };
  if (columns <= 1 || columns == width) {
    applyOnce(from, to);
    return;
  }
  if (columns > width || 2 * columns <= width) {
    for (std::size_t c = 0; c < columns; ++c) applyOnce(*from.getVector(c), *to.getVectorNonConst(c));
    return;
  }
  MultiVector& in = padded_.columns(A_->getRangeMap(), width);
  MultiVector& out = paddedTo_.columns(A_->getDomainMap(), width);
  for (std::size_t c = 0; c < columns; ++c) Tpetra::deep_copy(*in.getVectorNonConst(c), *from.getVector(c));
  for (std::size_t c = columns; c < width; ++c) in.getVectorNonConst(c)->putScalar(0);
  applyOnce(in, out);
  for (std::size_t c = 0; c < columns; ++c) Tpetra::deep_copy(*to.getVectorNonConst(c), *out.getVector(c));
}

template <class Types>
void PreconditionedOperator<Types>::applyLeft(const MultiVector& r, MultiVector& z) {
  requireDistinct(&r, &z, "applyLeft");
  if (hasLeft()) {
    precondition(left_, r, z);
  } else {
    Tpetra::deep_copy(z, r);
  }
}

template <class Types>
void PreconditionedOperator<Types>::applyRight(const MultiVector& u, MultiVector& z) {
  requireDistinct(&u, &z, "applyRight");
  if (hasRight()) {
    precondition(right_, u, z);
  } else {
    Tpetra::deep_copy(z, u);
  }
}

template <class Types>
void PreconditionedOperator<Types>::residual(const MultiVector& b, const MultiVector& x, MultiVector& r) {
  requireDistinct(&b, &r, "residual");
  applyA(x, r);  // not r = b - 1 A x in one call: applications' own operators often ignore alpha and beta
  using Traits = Teuchos::ScalarTraits<typename Types::Scalar>;
  r.update(Traits::one(), b, -Traits::one());
}

#define CAPSTAN_PRECONDITIONED_OPERATOR(S, LO, GO, NO) \
  template class PreconditionedOperator<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_PRECONDITIONED_OPERATOR)

}  // namespace capstan
