#pragma once
/// \file
/// One random problem of the soak: plain data, drawn from a seed before anything runs, so that a failure can be
/// repeated and made simpler. All functions are local and give the same on every rank.

#include <Teuchos_ParameterList.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/test/support/methods.hpp"

namespace capstan::soak {

/// A x = b with guess and preconditioner. Words are those of the tables in recipe.cpp, matrices.cpp and system.cpp.
struct SystemRecipe {
  std::uint64_t seed = 0;
  std::string matrix = "laplace2d";
  int rows = 64;
  int columns = 1;              ///< right-hand sides
  std::string map = "even";     ///< how rows are spread over ranks
  int matrixExponent = 0;       ///< A is multiplied by 10 to this power
  int rhsExponent = 0;          ///< b likewise, where it is not made of A
  int scatter = 0;              ///< rows of A are scaled by up to 10^(+-scatter)
  bool scatterColumns = false;  ///< columns too, as symmetric scaling does
  std::string spoil = "nothing";
  std::string rhs = "random";
  std::string guess = "zero";
  std::string preconditioner = "none";
  std::string side = "right";
  bool bare = false;               ///< the solver gets a linear M^{-1} as the Tpetra::CrsMatrix that it is
  std::string wrapper = "matrix";  ///< what the solver gets for A
};

/// One solve.
struct StepRecipe {
  std::string method = id::Gmres;
  std::string reuse = "new";    ///< where the solver comes from
  std::string reset = "none";   ///< what is reset before
  std::string split = "world";  ///< which ranks solve together; groups solve systems of their own
  SystemRecipe system;
  Teuchos::ParameterList parameters;
  std::string userTest = "none", combination = "OR", debugTest = "none";
};

struct Recipe {
  std::uint64_t seed = 0;
  std::vector<StepRecipe> steps;
};

/// The problem of that seed. \param folder where report files may be written
Recipe draw(std::uint64_t seed, const std::string& folder);

/// For people, one line a step.
std::string describe(const Recipe& recipe);

/// A change that takes one difficulty out of a recipe.
struct Simplification {
  std::string name, meaning;
  std::function<void(Recipe&)> apply;
};
const std::vector<Simplification>& simplifications();

/// Applies the simplifications named, in the order of the table; any other name is a parameter's, which is dropped.
void simplify(Recipe& recipe, const std::vector<std::string>& names);

/// How often each ingredient occurs in these problems, by a name such as "right-hand sides 7", "map last" or "parameter
/// Basis": every parameter, and what else at least one problem has.
std::map<std::string, long> survey(std::uint64_t first, long problems, const std::string& folder);

/// Names of the parameters the recipe sets.
std::vector<std::string> parameterNames(const Recipe& recipe);

/// Random values for some of the rows of the parameter table, all rows in time.
/// \param share the share of the rows that have an effect on the method; a tenth of it of the others
Teuchos::ParameterList drawParameters(std::uint64_t seed, const std::string& method, double share,
                                      const std::string& folder);

}  // namespace capstan::soak
