#include "belos_ext/parameters/method_traits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan {

std::string toString(Family family) {
  switch (family) {
    case Family::Gmres:
      return "GMRES";
    case Family::ConjugateGradients:
      return "CG";
    case Family::BiCgStab:
      return "BiCGStab";
    case Family::Idr:
      return "IDR";
  }
  throw std::logic_error("Family out of range");
}

bool MethodTraits::is(Trait trait) const { return std::find(traits.begin(), traits.end(), trait) != traits.end(); }

bool MethodTraits::takes(const std::string& parameter) const {
  return std::find(parameters.begin(), parameters.end(), parameter) != parameters.end();
}

const MethodTraits& choosingMethod() {
  // Never destroyed: solvers may be made while the process shuts down.
  static const auto* const capstan = [] {
    auto* row = new MethodTraits{"CAPSTAN",
                                 "capstan_auto",
                                 "chooses one of the methods below for each solve, by what earlier solves took",
                                 "[Auer, Cesa-Bianchi and Fischer 2002]",
                                 Family::Gmres,
                                 false,
                                 false,
                                 FirstProducts::None,
                                 nullptr};
    for (const ParameterRow& parameter : parameterRows()) {
      if (!parameter.general) row->parameters.push_back(parameter.name);
    }
    return row;
  }();
  return *capstan;
}

const std::vector<const MethodTraits*>& namedMethods() {
  static const auto* const all = [] {
    auto* rows = new std::vector<const MethodTraits*>{&choosingMethod()};
    for (const MethodTraits& row : methods()) rows->push_back(&row);
    return rows;
  }();
  return *all;
}

const MethodTraits* findMethod(const std::string& name) {
  for (const MethodTraits* row : namedMethods()) {
    if (name == row->canonical) return row;
  }
  // Applications that make a solver for every solve ask often.
  static const auto* const rows = [] {
    auto* all = new std::unordered_map<std::string, const MethodTraits*>;
    for (const MethodTraits* row : namedMethods()) {
      all->emplace(normalizedName(row->canonical), row);
      all->emplace(normalizedName(row->alias), row);
    }
    return all;
  }();
  const auto found = rows->find(normalizedName(name));
  return found == rows->end() ? nullptr : found->second;
}

const MethodTraits& methodOf(const std::string& name) {
  const MethodTraits* found = findMethod(name);
  if (found == nullptr) throwUnknownSolver(name);
  return *found;
}

bool looksLikeOurs(const std::string& name) { return normalizedName(name).rfind("capstan", 0) == 0; }

std::vector<std::string> namesAndAliases() {
  std::vector<std::string> names;
  for (const MethodTraits* row : namedMethods()) {
    names.push_back(row->canonical);
    names.push_back(row->alias);
  }
  return names;
}

std::string unknownSolverMessage(const std::string& name) {
  std::string valid;
  for (const MethodTraits* row : namedMethods()) {
    valid += fmt::format("{}\"{}\" ({})", valid.empty() ? "" : ", ", row->canonical, row->alias);
  }
  return fmt::format("Capstan: there is no solver \"{}\". Valid names, in any case: {}{}", name, valid,
                     didYouMean(name, namesAndAliases()));
}

void throwUnknownSolver(const std::string& name) { throw std::invalid_argument(unknownSolverMessage(name)); }

namespace {

/// "1", "0.2", "123": what differs from a whole number keeps four digits.
std::string shortNumber(double value) { return fmt::format("{:.4g}", value); }

/// "3", or "3 (5 with M)" where a preconditioner makes a difference.
std::string withM(const MethodTraits& method, double Cost::*member) {
  const SolverOptions defaults{};
  const double plain = method.cost(defaults, false).*member, preconditioned = method.cost(defaults, true).*member;
  if (plain == preconditioned) return shortNumber(plain);
  return fmt::format("{} ({} with M)", shortNumber(plain), shortNumber(preconditioned));
}

/// \param line of name, alias, summary and source, for fmt
std::string solverTable(std::string table, const char* line) {
  for (const MethodTraits* row : namedMethods()) {
    table += fmt::format(fmt::runtime(line), row->canonical, row->alias, row->summary, row->source);
  }
  return table;
}

/// \param line of solver, all-reduces, hidden, A, M, vectors, flops and bytes, for fmt
std::string costTable(std::string table, const char* line) {
  for (const MethodTraits& row : methods()) {
    const Cost cost = row.cost(SolverOptions(), true);
    table += fmt::format(fmt::runtime(line), row.canonical, withM(row, &Cost::reductions), row.pipelined ? "yes" : "no",
                         shortNumber(cost.operators), shortNumber(cost.preconditioners), withM(row, &Cost::vectors),
                         withM(row, &Cost::flops), withM(row, &Cost::bytes));
  }
  return table;
}

}  // namespace

std::string solverTableMarkdown() {
  return solverTable("| Solver | Alias | Method | Source |\n|---|---|---|---|\n", "| `{}` | `{}` | {} | {} |\n");
}

std::string solverTableText() { return solverTable("", "{:<30} {:<29} {}\n"); }

std::string costTableMarkdown() {
  return costTable(
      "| Solver | All-reduces | Hidden | A | M | Vectors beyond x and b | Flops a row | Bytes a row |\n"
      "|---|---|---|---|---|---|---|---|\n",
      "| `{}` | {} | {} | {} | {} | {} | {} | {} |\n");
}

std::string costTableText() {
  constexpr const char* line = "{:<30} {:>12} {:>6} {:>3} {:>3} {:>17} {:>17} {:>19}\n";
  return costTable(fmt::format(fmt::runtime(line), "an iteration of", "all-reduces", "hidden", "A", "M", "vectors",
                               "flops a row", "bytes a row"),
                   line);
}

}  // namespace capstan
