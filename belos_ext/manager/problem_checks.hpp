#pragma once
/// \file
/// What a linear problem has to be before it is solved: set, of sizes that fit, and on one map.

#include <BelosLinearProblem.hpp>
#include <Teuchos_RCP.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "belos_ext/parameters/method_traits.hpp"
#include "tpetra_ext/operators/same_maps.hpp"

namespace capstan {

/// Throws std::invalid_argument that names the method.
[[noreturn]] inline void misuse(const MethodTraits& method, const std::string& what) {
  throw std::invalid_argument(method.canonical + ": " + what);
}

/// Throws std::invalid_argument where the problem is not set, or its sizes do not fit. Local; the same on all ranks
/// that have set it alike.
template <class Problem>
void requireReady(const MethodTraits& method, const Teuchos::RCP<Problem>& problem) {
  if (problem.is_null()) misuse(method, "solve() before setProblem()");
  if (!problem->isProblemSet()) misuse(method, "the linear problem is not ready: call its setProblem() first");
  const auto x = problem->getLHS();
  const auto b = problem->getRHS();
  if (x.is_null() || b.is_null()) misuse(method, "the linear problem has no solution or no right-hand side vector");
  if (x->getNumVectors() != b->getNumVectors()) {
    std::ostringstream text;
    text << "the solution has " << x->getNumVectors() << " columns, the right-hand side " << b->getNumVectors();
    misuse(method, text.str());
  }
  if (x->getGlobalLength() != b->getGlobalLength()) {
    std::ostringstream text;
    text << "the solution has " << x->getGlobalLength() << " rows, the right-hand side " << b->getGlobalLength();
    misuse(method, text.str());
  }
}

/// Throws std::invalid_argument, on all ranks alike, where the problem's vectors or preconditioners are on other maps
/// than the operator's domain. Collective where the maps are different objects that are not `known`.
/// \param known the maps that have been found alike last; takes those of this problem
template <class Types, class Problem>
void requireOneMap(const MethodTraits& method, const Problem& problem,
                   std::vector<Teuchos::RCP<const typename Types::Map>>& known) {
  using Map = typename Types::Map;
  const auto domain = problem.getOperator()->getDomainMap();
  std::vector<Teuchos::RCP<const Map>> maps{domain, problem.getOperator()->getRangeMap(), problem.getLHS()->getMap(),
                                            problem.getRHS()->getMap()};
  std::vector<std::string> preconditioners;
  const auto add = [&](const Teuchos::RCP<const typename Types::Operator>& preconditioner, const char* which) {
    if (preconditioner.is_null()) return;
    maps.push_back(preconditioner->getDomainMap());
    maps.push_back(preconditioner->getRangeMap());
    preconditioners.emplace_back(which);
  };
  add(problem.getLeftPrec(), "left preconditioner");
  add(problem.getRightPrec(), "right preconditioner");
  if (maps == known) return;
  std::vector<ComparedMap<Map>> compared;
  for (std::size_t k = 1; k < maps.size(); ++k) compared.push_back({maps[k], k > 3});
  std::vector<std::string> names{"the operator's range", "the solution", "the right-hand side"};
  for (const std::string& which : preconditioners) {
    names.push_back("the domain of the " + which);
    names.push_back("the range of the " + which);
  }
  const std::size_t other = firstOtherMap(compared, *domain);
  if (other < compared.size()) {
    misuse(method, names[other] + " is on another map than the operator's domain: their " +
                       std::to_string(domain->getGlobalNumElements()) +
                       " rows are dealt out to the ranks, or ordered there, in different ways");
  }
  known = maps;
}

}  // namespace capstan
