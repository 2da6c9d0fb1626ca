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

/// What kind of object a preconditioner is, the same on all ranks; empty for null. Local.
template <class Operator>
std::string kindOf(const Teuchos::RCP<const Operator>& preconditioner) {
  if (preconditioner.is_null()) return "";
  const Operator& object = *preconditioner;
  return typeid(object).name();
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
/// right-hand sides, rows, entries and ranks, and what kind of object preconditions on which side. Local row counts
/// stay out, so that ranks find the same. Local; the same on all ranks.
template <class Types>
StateKey problemKey(const std::string& method, const std::string& label,
                    const Belos::LinearProblem<typename Types::Scalar, typename Types::MultiVector,
                                               typename Types::Operator>& problem) {
  const auto& x = *problem.getLHS();
  std::string variant = method;
  variant.append(", left ").append(kindOf(problem.getLeftPrec()));
  variant.append(", right ").append(kindOf(problem.getRightPrec()));
  variant.append(", ").append(std::to_string(globalEntries<Types>(problem.getOperator()))).append(" entries, ");
  variant.append(std::to_string(x.getNumVectors())).append(" right-hand sides");
  return {label, std::move(variant), static_cast<long long>(x.getGlobalLength()), x.getMap()->getComm()->getSize()};
}

}  // namespace capstan
