#pragma once
/// \file
/// The key by which solves of a linear problem find what earlier ones have learnt.

#include <BelosLinearProblem.hpp>
#include <Teuchos_TypeNameTraits.hpp>
#include <Tpetra_RowMatrix.hpp>
#include <sstream>
#include <string>

#include "belos_ext/problem/state_key.hpp"

namespace capstan {

/// Two systems of one application differ in this key though they carry no label: it holds the method, the number of
/// right-hand sides, rows, entries and ranks, and what kind of object preconditions on which side. Local row counts
/// stay out, so that ranks find the same. Local; the same on all ranks.
template <class Types>
StateKey problemKey(const std::string& method, const std::string& label,
                    const Belos::LinearProblem<typename Types::Scalar, typename Types::MultiVector,
                                               typename Types::Operator>& problem) {
  std::ostringstream variant;
  variant << method;
  const auto tell = [&variant](const char* side, const auto& preconditioner) {
    if (preconditioner.is_null()) return;
    const std::string type = Teuchos::typeName(*preconditioner);
    variant << ", " << side << " " << type.substr(0, type.find('<'));
  };
  tell("left", problem.getLeftPrec());
  tell("right", problem.getRightPrec());
  using RowMatrix = Tpetra::RowMatrix<typename Types::Scalar, typename Types::LocalOrdinal,
                                      typename Types::GlobalOrdinal, typename Types::Node>;
  if (const auto matrix = Teuchos::rcp_dynamic_cast<const RowMatrix>(problem.getOperator()); !matrix.is_null()) {
    variant << ", " << matrix->getGlobalNumEntries() << " entries";
  }
  const auto& x = *problem.getLHS();
  variant << ", " << x.getNumVectors() << " right-hand sides";
  return {label, variant.str(), static_cast<long long>(x.getGlobalLength()), x.getMap()->getComm()->getSize()};
}

}  // namespace capstan
