#include "tpetra_ext/operators/explicit_preconditioner.hpp"

#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Map.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_Vector.hpp>
#include <stdexcept>
#include <utility>

#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan {
namespace {

template <class Map>
bool isLike(const Map& one, const Map& other) {
  return one.getGlobalNumElements() == other.getGlobalNumElements() &&
         compat::localNumElements(one) == compat::localNumElements(other);
}

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw std::invalid_argument("capstan: explicit preconditioner '" + name + "': " + why);
}

}  // namespace

template <class Types>
ExplicitPreconditioner<Types>::ExplicitPreconditioner(std::string name, Teuchos::RCP<const Map> map,
                                                      Teuchos::RCP<const Vector> scaling, Scalar start,
                                                      std::vector<Stage> stages)
    : name_(std::move(name)),
      map_(std::move(map)),
      scaling_(std::move(scaling)),
      start_(start),
      stages_(std::move(stages)) {
  if (map_.is_null()) refuse(name_, "it has no map");
  if (stages_.empty()) refuse(name_, "it has no stage");
  if (!scaling_.is_null() && !isLike(*scaling_->getMap(), *map_)) refuse(name_, "its scaling is on another map");
  for (const Stage& stage : stages_) {
    const auto& matrix = stage.matrix;
    if (matrix.is_null() || !matrix->isFillComplete()) refuse(name_, "a matrix is missing, or not fill-complete");
    for (const auto& one : {matrix->getRowMap(), matrix->getRangeMap(), matrix->getDomainMap()}) {
      if (!isLike(*one, *map_)) refuse(name_, "a matrix is on other maps");
    }
  }
}

template <class Types>
void ExplicitPreconditioner<Types>::apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp mode, Scalar alpha,
                                          Scalar beta) const {
  if (mode != Teuchos::NO_TRANS) refuse(name_, "its transpose cannot be applied");
  const auto one = Teuchos::ScalarTraits<Scalar>::one(), zero = Teuchos::ScalarTraits<Scalar>::zero();
  const std::size_t columns = X.getNumVectors();
  if (v_.is_null() || v_->getNumVectors() != columns) {
    for (auto* vector : {&u_, &v_, &w_}) *vector = Teuchos::rcp(new MultiVector(map_, columns));
  }
  if (scaling_.is_null()) {
    Tpetra::deep_copy(*u_, X);
  } else {
    u_->elementWiseMultiply(one, *scaling_, X, zero);
  }
  v_->update(start_, *u_, zero);
  for (const Stage& stage : stages_) {
    stage.matrix->apply(*v_, *w_, Teuchos::NO_TRANS, stage.alpha, zero);
    if (stage.beta != zero || stage.gamma != zero) w_->update(stage.beta, *v_, stage.gamma, *u_, one);
    std::swap(v_, w_);
  }
  Y.update(alpha, *v_, beta);
}

#define CAPSTAN_EXPLICIT_PRECONDITIONER(S, LO, GO, NO) \
  template class ExplicitPreconditioner<TpetraTypes<S, LO, GO, NO>>;
CAPSTAN_INSTANTIATE(CAPSTAN_EXPLICIT_PRECONDITIONER)

}  // namespace capstan
