#pragma once
/// \file
/// What the user can tell a solve by, and tools can tell it from others by.

#include <BelosLinearProblem.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Teuchos_RCP.hpp>
#include <optional>
#include <string>

#include "belos_ext/manager/problem_key.hpp"
#include "belos_ext/manager/symmetry_watch.hpp"
#include "belos_ext/manager/system_numbers.hpp"
#include "belos_ext/parameters/parameter_overlay.hpp"

namespace capstan {

/// The facts of a solve that begins now, its system counted, but for the symmetry of its matrix. The problem is
/// complete and outlives them. Call it on all ranks alike, when no earlier matrix is held on to. Local. \param
/// solverName as the application has named its solver, or empty \param askedAs    the name under which the application
/// asked for the solver, or empty
template <class Types>
SolveFacts factsButSymmetry(
    const Belos::LinearProblem<typename Types::Scalar, typename Types::MultiVector, typename Types::Operator>& problem,
    const MethodTraits& method, const std::string& solverName, const std::string& askedAs) {
  const auto a = problem.getOperator();
  SolveFacts facts;
  facts.method = &method;
  facts.askedAs = askedAs;
  facts.rows = static_cast<long long>(problem.getLHS()->getGlobalLength());
  const std::string matrixName = a->getObjectLabel();
  facts.label = solverName.empty() ? matrixName : solverName;
  SystemLook look{"", facts.rows, globalEntries<Types>(a)};
  for (const std::string& name : {solverName, matrixName, askedAs, method.canonical, method.alias}) {
    if (!name.empty()) facts.names.push_back(name);
  }
  // CAPSTAN solves the same system by one method now and by another one later.
  const MethodTraits* const asked = findMethod(askedAs);
  for (const std::string& name : {solverName, matrixName, askedAs, (asked == nullptr ? method : *asked).canonical}) {
    look.kind += name + '\n';
  }
  look.kind += std::to_string(problem.getLHS()->getNumVectors()) + '\n' + kindOf(problem.getLeftPrec()) + '\n' +
               kindOf(problem.getRightPrec());
  facts.system = SystemNumbers::of(*problem.getLHS()->getMap()->getComm()).next(a, look);
  facts.symmetric = []() -> std::optional<bool> { throw SymmetryAsked(); };
  return facts;
}

/// As factsButSymmetry(), with that. Once a solve. Collective, as symmetryNow(), once a solve on the communicator has
/// asked for the symmetry of its matrix; else local.
template <class Types>
SolveFacts solveFacts(
    const Belos::LinearProblem<typename Types::Scalar, typename Types::MultiVector, typename Types::Operator>& problem,
    const MethodTraits& method, const std::string& solverName, const std::string& askedAs) {
  SolveFacts facts = factsButSymmetry<Types>(problem, method, solverName, askedAs);
  // What one rank's options ask for is not for this rank to know: all look, or none does.
  if (SystemNumbers::of(*problem.getLHS()->getMap()->getComm()).looksForSymmetry()) {
    facts.symmetric = [answer = symmetryNow<Types>(problem.getOperator())] { return answer; };
  }
  return facts;
}

/// What the names of a solve's timers begin with: "Timer Label", then the label of the solve where it is another.
inline std::string timerPrefix(const std::string& timerLabel, const std::string& label) {
  return timerLabel + ": " + (label.empty() || label == timerLabel ? "" : label + ": ");
}

}  // namespace capstan
