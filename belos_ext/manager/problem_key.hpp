#pragma once
/// \file
/// The key by which solves of a linear problem find what earlier ones have learnt.

#include <BelosLinearProblem.hpp>
#include <Tpetra_RowMatrix.hpp>
#include <string>
#include <typeinfo>
#include <utility>

#include "belos_ext/problem/state_key.hpp"

namespace capstan {

/// What kind of object a preconditioner is, and its label, the same on all ranks; empty for null. Local.
template <class Operator>
std::string kindOf(const Teuchos::RCP<const Operator>& preconditioner) {
  if (preconditioner.is_null()) return "";
  const Operator& object = *preconditioner;
  return std::string(typeid(object).name()) + ' ' + object.getObjectLabel();
}

/// Entries of a matrix on all ranks; -1 for an operator that is none. Local.
template <class Types>
long long globalEntries(const Teuchos::RCP<const typename Types::Operator>& a) {
  using RowMatrix = Tpetra::RowMatrix<typename Types::Scalar, typename Types::LocalOrdinal,
                                      typename Types::GlobalOrdinal, typename Types::Node>;
  const auto matrix = Teuchos::rcp_dynamic_cast<const RowMatrix>(a);
  return matrix.is_null() ? -1 : static_cast<long long>(matrix->getGlobalNumEntries());
}

/// Two systems of one application differ in this key though they carry no label: it holds the method, the number of
/// right-hand sides, rows, entries and ranks, what kind of object preconditions on which side, and without a label the
/// number of the system. Local row counts stay out, so that ranks find the same. Local; the same on all ranks.
/// \param system as SystemNumbers counts it
template <class Types>
StateKey problemKey(
    const std::string& method, const std::string& label,
    const Belos::LinearProblem<typename Types::Scalar, typename Types::MultiVector, typename Types::Operator>& problem,
    int system) {
  const auto& x = *problem.getLHS();
  std::string variant = method;
  variant.append(", left ").append(kindOf(problem.getLeftPrec()));
  variant.append(", right ").append(kindOf(problem.getRightPrec()));
  variant.append(", ").append(std::to_string(globalEntries<Types>(problem.getOperator()))).append(" entries, ");
  variant.append(std::to_string(x.getNumVectors())).append(" right-hand sides");
  if (label.empty()) variant.append(", system ").append(std::to_string(system));
  return {label, std::move(variant), static_cast<long long>(x.getGlobalLength()), x.getMap()->getComm()->getSize()};
}

}  // namespace capstan
