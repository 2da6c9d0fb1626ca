#pragma once
/// \file
/// Preconditioners of Ifpack2 for the real matrices.

#include <Ifpack2_Factory.hpp>
#include <string>

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {

/// "jacobi": one sweep; "riluk": RILUK within a rank, level 0; "none": null. Collective.
inline RCP<const Operator> ifpack2Preconditioner(const RCP<const CrsMatrix>& a, const std::string& name) {
  if (name == "none") return Teuchos::null;
  const RCP<const CrsMatrix::row_matrix_type> rows = a;
  const auto made = Ifpack2::Factory().create(name == "jacobi" ? "RELAXATION" : "RILUK", rows, 0);
  Params p;
  if (name == "jacobi") p.set("relaxation: type", "Jacobi");
  made->setParameters(p);
  made->initialize();
  made->compute();
  return made;
}

}  // namespace capstan::testing
