#include "belos_ext/parameters/solver_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "belos_ext/support/nearest_match.hpp"

namespace capstan {

const std::vector<SolverName>& solverNames() {
  static const std::vector<SolverName> names = {
      {"CAPSTAN GMRES", "capstan_gmres", Method::Gmres,
       "restarted GMRES, one reduction an iteration (delayed classical Gram-Schmidt, twice)",
       "Yamazaki, Thomas, Hoemmen, Boman, Swirydowicz, Elliott 2020"},
      {"CAPSTAN GMRES S-STEP", "capstan_sstep_gmres", Method::SStepGmres,
       "s-step (communication-avoiding) GMRES, one reduction for s iterations",
       "Hoemmen 2010; Yamazaki, Thomas, Hoemmen, Boman, Swirydowicz, Elliott 2020"},
      {"CAPSTAN GMRES PIPELINE", "capstan_pipelined_gmres", Method::PipelinedGmres,
       "p(l)-GMRES: each reduction hidden behind the next l iterations", "Ghysels, Ashby, Meerbergen, Vanroose 2013"},
      {"CAPSTAN GMRES S-STEP PIPELINE", "capstan_pipelined_sstep_gmres", Method::PipelinedSStepGmres,
       "pipelined CA-GMRES: one hidden reduction for a block of t iterations",
       "Yamazaki, Hoemmen, Luszczek, Dongarra 2017"},
      {"CAPSTAN CG", "capstan_cg", Method::Cg,
       "conjugate gradients, one reduction an iteration, Hestenes and Stiefel's behaviour in rounding",
       "Hestenes and Stiefel 1952; Chen and Carson 2020"},
      {"CAPSTAN CG PIPELINE", "capstan_pipelined_cg", Method::PipelinedCg,
       "p(l)-CG: each reduction hidden behind the next l iterations", "Cornelis, Cools, Vanroose 2019"},
  };
  return names;
}

const SolverName* findSolver(const std::string& name) {
  const std::string wanted = normalizedName(name);
  for (const SolverName& row : solverNames()) {
    if (wanted == normalizedName(row.canonical) || wanted == normalizedName(row.alias)) return &row;
  }
  return nullptr;
}

const std::vector<Method>& conjugateGradientMethods() {
  static const std::vector<Method> methods = {Method::Cg, Method::PipelinedCg, Method::EnlargedCg, Method::EmbeddedCg};
  return methods;
}

const std::vector<Method>& pipelinedMethods() {
  static const std::vector<Method> methods = {Method::PipelinedGmres, Method::PipelinedSStepGmres, Method::PipelinedCg};
  return methods;
}

namespace {
bool isOneOf(const std::vector<Method>& methods, Method method) {
  return std::find(methods.begin(), methods.end(), method) != methods.end();
}
}  // namespace

bool isConjugateGradient(Method method) { return isOneOf(conjugateGradientMethods(), method); }

bool isPipelined(Method method) { return isOneOf(pipelinedMethods(), method); }

const SolverName& solverName(Method method) {
  for (const SolverName& row : solverNames()) {
    if (row.method == method) return row;
  }
  throw std::invalid_argument("Capstan: method number " + std::to_string(static_cast<int>(method)) +
                              " has no solver in this version");
}

bool looksLikeOurs(const std::string& name) { return normalizedName(name).rfind("capstan", 0) == 0; }

std::string unknownSolverMessage(const std::string& name) {
  std::vector<std::string> candidates;
  std::string valid;
  for (const SolverName& row : solverNames()) {
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
  for (const SolverName& row : solverNames()) {
    table += fmt::format("| `{}` | `{}` | {} | {} |\n", row.canonical, row.alias, row.summary, row.source);
  }
  return table;
}

std::string solverTableText() {
  std::string table;
  for (const SolverName& row : solverNames()) {
    table += fmt::format("{:<30} {:<29} {}\n", row.canonical, row.alias, row.summary);
  }
  return table;
}

}  // namespace capstan
