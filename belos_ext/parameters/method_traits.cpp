#include "belos_ext/parameters/method_traits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>

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
  }
  throw std::logic_error("Family out of range");
}

bool MethodTraits::is(Trait trait) const { return std::find(traits.begin(), traits.end(), trait) != traits.end(); }

bool MethodTraits::takes(const std::string& parameter) const {
  return std::find(parameters.begin(), parameters.end(), parameter) != parameters.end();
}

const MethodTraits* findMethod(const std::string& name) {
  for (const MethodTraits& row : methods()) {
    if (name == row.canonical) return &row;
  }
  // Applications that make a solver for every solve ask often.
  static const auto* const rows = [] {
    auto* all = new std::unordered_map<std::string, const MethodTraits*>;
    for (const MethodTraits& row : methods()) {
      all->emplace(normalizedName(row.canonical), &row);
      all->emplace(normalizedName(row.alias), &row);
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

std::string unknownSolverMessage(const std::string& name) {
  std::vector<std::string> candidates;
  std::string valid;
  for (const MethodTraits& row : methods()) {
    candidates.push_back(row.canonical);
    candidates.push_back(row.alias);
    valid += fmt::format("{}\"{}\" ({})", valid.empty() ? "" : ", ", row.canonical, row.alias);
  }
  return fmt::format("Capstan: there is no solver \"{}\". Valid names, in any case: {}{}", name, valid,
                     didYouMean(name, candidates));
}

void throwUnknownSolver(const std::string& name) { throw std::invalid_argument(unknownSolverMessage(name)); }

std::string solverTableMarkdown() {
  std::string table = "| Solver | Alias | Method | Source |\n|---|---|---|---|\n";
  for (const MethodTraits& row : methods()) {
    table += fmt::format("| `{}` | `{}` | {} | {} |\n", row.canonical, row.alias, row.summary, row.source);
  }
  return table;
}

std::string solverTableText() {
  std::string table;
  for (const MethodTraits& row : methods()) {
    table += fmt::format("{:<30} {:<29} {}\n", row.canonical, row.alias, row.summary);
  }
  return table;
}

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

using CostCells = std::array<std::string, 8>;

/// Solver, all-reduces, hidden, A, M, vectors, flops, bytes.
CostCells costCells(const MethodTraits& row) {
  const Cost cost = row.cost(SolverOptions(), true);
  return {row.canonical,
          withM(row, &Cost::reductions),
          row.pipelined ? "yes" : "no",
          shortNumber(cost.operators),
          shortNumber(cost.preconditioners),
          withM(row, &Cost::vectors),
          withM(row, &Cost::flops),
          withM(row, &Cost::bytes)};
}

}  // namespace

std::string costTableMarkdown() {
  std::string table =
      "| Solver | All-reduces | Hidden | A | M | Vectors beyond x and b | Flops a row | Bytes a row |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const MethodTraits& row : methods()) {
    const auto [solver, reductions, hidden, a, m, vectors, flops, bytes] = costCells(row);
    table += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", solver, reductions, hidden, a, m, vectors,
                         flops, bytes);
  }
  return table;
}

std::string costTableText() {
  std::string table = fmt::format("{:<30} {:>12} {:>6} {:>3} {:>3} {:>17} {:>17} {:>19}\n", "an iteration of",
                                  "all-reduces", "hidden", "A", "M", "vectors", "flops a row", "bytes a row");
  for (const MethodTraits& row : methods()) {
    const auto [solver, reductions, hidden, a, m, vectors, flops, bytes] = costCells(row);
    table += fmt::format("{:<30} {:>12} {:>6} {:>3} {:>3} {:>17} {:>17} {:>19}\n", solver, reductions, hidden, a, m,
                         vectors, flops, bytes);
  }
  return table;
}

}  // namespace capstan
