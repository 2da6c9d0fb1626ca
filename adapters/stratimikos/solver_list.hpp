#pragma once

/// \file
/// The parameter list of the linear solver type "Capstan", of the form that Stratimikos' "Belos" has:
///
///     Solver Type: CAPSTAN GMRES S-STEP         # any name or alias, in any case
///     Left Preconditioner If Unspecified: false
///     Solver Types:
///       CAPSTAN GMRES S-STEP: {...}             # parameters of that method
///     VerboseObject: {...}

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <string>

#include "belos_ext/parameters/method_traits.hpp"

namespace capstan::stratimikos {

/// What a list asks for.
struct SolverChoice {
  std::string solver = "CAPSTAN GMRES";                                        ///< as the list writes it
  Teuchos::RCP<Teuchos::ParameterList> parameters = Teuchos::parameterList();  ///< a copy of that solver's own
  bool leftIfUnspecified = false;  ///< the side of a preconditioner that does not say its own
};

/// The method that a "Solver Type" means: by its name, or by a redirect of the user's options; else nullptr. Local.
/// Throws std::invalid_argument where the user's options are wrong.
const MethodTraits* methodFor(const std::string& solverType);

/// Whether a "Solver Type" is for Capstan: methodFor() knows it, or it begins with "capstan". Local. Throws likewise.
bool isForCapstan(const std::string& solverType);

/// Reads a list, with the sublists of solvers that it does not choose. Local; changes nothing.
/// Throws std::invalid_argument, naming list, key, value, what is allowed and the nearest match, for a solver that is
/// none of ours, nor redirected to one, and for a key or a value that it does not take.
SolverChoice readSolverList(const Teuchos::ParameterList& list);

/// Every key with its default and documentation, those of each method below its name. Local.
Teuchos::RCP<const Teuchos::ParameterList> validSolverList();

/// The part of a list for Stratimikos' "Belos" that concerns Capstan: without the sublists of Belos' own solvers, but
/// for one that is redirected, and without what has no effect on ours. Local.
Teuchos::RCP<Teuchos::ParameterList> capstansPart(const Teuchos::ParameterList& belos);

}  // namespace capstan::stratimikos
