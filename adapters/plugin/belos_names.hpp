#pragma once

/// \file
/// The names Belos knows its own solvers by.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <string>
#include <vector>

namespace capstan {

/// Belos' canonical name for one of its aliases, in upper case; any other name in upper case with '_' as a blank.
/// "sstep_gmres", which is Nalu-wind's word, is TPETRA GMRES S-STEP.
std::string canonicalBelosName(const std::string& name);

/// The same for Belos' solvers and for ours.
std::string canonicalSolverName(const std::string& name);

/// Canonical names and aliases of all solvers of Belos and of its Tpetra adapter, and Nalu-wind's words.
std::vector<std::string> belosNames();

/// A copy of an application's list with what the alias `name` stands for in Belos added ("FLEXIBLE GMRES" sets
/// "Flexible Gmres"); an empty list for null.
Teuchos::RCP<Teuchos::ParameterList> parametersOfAlias(const std::string& name,
                                                       const Teuchos::RCP<Teuchos::ParameterList>& parameters);

}  // namespace capstan
