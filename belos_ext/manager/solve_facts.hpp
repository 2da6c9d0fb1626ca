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

/// The facts of a solve that begins now, its system counted. The problem is complete and outlives them. Call it once
/// a solve, on all ranks alike, when no earlier matrix is held on to. Local; collective, as symmetryNow(), once a solve
/// on the communicator has asked for the symmetry of its matrix.
/// \param solverName as the application has named its solver, or empty
/// \param askedAs    the name under which the application asked for the solver, or empty
template <class Types>
SolveFacts solveFacts(
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
    look.kind += name + '\n';
  }
  look.kind += std::to_string(problem.getLHS()->getNumVectors()) + '\n' + kindOf(problem.getLeftPrec()) + '\n' +
               kindOf(problem.getRightPrec());
  auto& numbers = SystemNumbers::of(*problem.getLHS()->getMap()->getComm());
  facts.system = numbers.next(a, look);
  // What one rank's options ask for is not for this rank to know: all look, or none does.
  const bool together = numbers.looksForSymmetry();
  const auto answer = together ? symmetryNow<Types>(a) : std::nullopt;
  facts.symmetric = [together, answer] {
    if (!together) throw SymmetryAsked();
    return answer;
  };
  return facts;
}

/// What the names of a solve's timers begin with: "Timer Label", then the label of the solve where it is another.
inline std::string timerPrefix(const std::string& timerLabel, const std::string& label) {
  return timerLabel + ": " + (label.empty() || label == timerLabel ? "" : label + ": ");
}

}  // namespace capstan
