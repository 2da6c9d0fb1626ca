// What the random problems are made of.

#include <fmt/format.h>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/test/soak/recipe.hpp"

namespace capstan::soak {
namespace {

std::vector<std::string> ingredients(const StepRecipe& step) {
  const SystemRecipe& s = step.system;
  std::vector<std::string> names = {"solver " + methodOf(step.method).canonical,
                                    "reuse " + step.reuse,
                                    "reset " + step.reset,
                                    "split " + step.split,
                                    "matrix " + s.matrix,
                                    "map " + s.map,
                                    "spoilt " + s.spoil,
                                    "rhs " + s.rhs,
                                    "guess " + s.guess,
                                    "wrapper " + s.wrapper,
                                    "preconditioner " + s.preconditioner,
                                    "user test " + step.userTest,
                                    "debug test " + step.debugTest,
                                    fmt::format("right-hand sides {}", s.columns),
                                    fmt::format("A x 1e{}", s.matrixExponent),
                                    fmt::format("b x 1e{}", s.rhsExponent),
                                    fmt::format("rows x 1e+-{}", s.scatter)};
  if (s.preconditioner != "none") names.push_back("side " + s.side);
  if (step.userTest != "none") names.push_back("combination " + step.combination);
  return names;
}

}  // namespace

std::map<std::string, long> survey(std::uint64_t first, long problems, const std::string& folder) {
  std::map<std::string, long> counts;
  for (const ParameterRow& row : parameterRows()) counts["parameter " + row.name] = 0;
  for (long k = 0; k < problems; ++k) {
    for (const StepRecipe& step : draw(first + static_cast<std::uint64_t>(k), folder).steps) {
      for (const std::string& name : ingredients(step)) ++counts[name];
      for (auto item = step.parameters.begin(); item != step.parameters.end(); ++item) {
        ++counts["parameter " + step.parameters.name(item)];
      }
    }
  }
  return counts;
}

}  // namespace capstan::soak
