#include "belos_ext/test/soak/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/test/soak/matrices.hpp"
#include "belos_ext/test/soak/random.hpp"

namespace capstan::soak {
namespace {

int drawRows(Random& random) {
  const double u = random.uniform();
  if (u < 0.01) return 0;
  if (u < 0.05) return 1;
  if (u < 0.25) return random.between(2, 12);
  if (u < 0.99) return random.between(13, 200);
  return random.between(500, 2000);
}

int drawExponent(Random& random) {
  const int sign = random.chance(0.5) ? 1 : -1;
  return sign * random.oneOf<int>({3, 8, 20, 70, 100, 150, 160, 200, 250, 300});
}

/// \param odd the probability of each unusual feature
SystemRecipe drawSystem(Random& random, double odd) {
  SystemRecipe s;
  s.seed = random.next();
  s.matrix = random.chance(0.3) ? "laplace2d" : random.oneOf(matrixKinds());
  s.rows = drawRows(random);
  if (random.chance(0.4)) s.columns = random.chance(odd / 20) ? 0 : random.between(2, 7);
  if (random.chance(odd)) s.map = random.oneOf<std::string>({"last", "first", "uneven", "cyclic"});
  if (random.chance(odd)) s.matrixExponent = drawExponent(random);
  if (random.chance(odd)) s.rhsExponent = drawExponent(random);
  if (random.chance(odd / 2)) {
    s.scatter = random.oneOf<int>({1, 4, 10, 100});
    s.scatterColumns = random.chance(0.6);
  }
  if (random.chance(odd / 2)) {
    s.spoil = random.oneOf<std::string>(
        {"nan in A", "inf in A", "nan in b", "inf in b", "nan in x0", "inf in x0", "nan in x0 that no equation reads"});
  }
  s.rhs = random.oneOf<std::string>({"random", "range", "range"});
  if (random.chance(odd)) s.rhs = random.oneOf<std::string>({"zero", "one zero column", "unit", "constant", "huge"});
  if (random.chance(0.3)) s.guess = "random";
  if (random.chance(odd)) s.guess = random.oneOf<std::string>({"exact", "nearly exact", "huge", "tiny"});
  if (random.chance(0.6)) {
    s.preconditioner = random.chance(odd)
                           ? random.oneOf<std::string>({"constant", "tridiagonal", "random", "indefinite", "negative",
                                                        "zero", "tiny", "huge", "nan later", "varying", "nested"})
                           : random.oneOf<std::string>({"jacobi", "jacobi", "identity", "tridiagonal"});
    s.side = random.oneOf<std::string>({"right", "right", "left", "left", "both"});
    s.bare = random.chance(0.25);
  }
  if (random.chance(odd)) s.wrapper = random.oneOf<std::string>({"operator", "nested", "nan later"});
  return s;
}

std::string drawTest(Random& random) {
  return random.oneOf<std::string>({"never passes", "passes later", "reads all", "Belos iterations",
                                    "Belos implicit residual", "Belos explicit residual"});
}

/// What the tests of a step are, and how they are combined with the solver's own.
void drawTests(Random& random, double odd, StepRecipe& step) {
  if (random.chance(odd)) step.userTest = drawTest(random);
  if (random.chance(odd)) step.debugTest = drawTest(random);
  step.combination = random.oneOf<std::string>({"OR", "AND", "SEQ"});
}

StepRecipe drawStep(Random& random, double odd, const std::string& folder, const StepRecipe* before) {
  StepRecipe step;
  std::vector<std::string> names;
  for (const MethodTraits& method : methods()) names.push_back(method.canonical);
  step.method = random.oneOf(names);
  if (before != nullptr) {
    step.reuse = random.oneOf<std::string>({"new", "same", "same", "clone", "again"});
    if (random.chance(odd)) step.reset = random.oneOf<std::string>({"problem", "recycle", "both"});
    if (step.reuse != "new" || random.chance(0.7)) step.method = before->method;
  }
  step.split = before != nullptr && step.reuse == "again" ? before->split
               : random.chance(odd)
                   ? random.oneOf<std::string>({"first from rest", "last from rest", "even from odd", "each alone"})
                   : "world";
  step.system = drawSystem(random, odd);
  if (before != nullptr && random.chance(0.6)) {  // the same shape, so that storage and state are used again
    const SystemRecipe now = step.system;
    step.system = before->system;
    step.system.seed = random.chance(0.5) ? now.seed : before->system.seed;
    if (random.chance(0.4)) step.system.matrixExponent = now.matrixExponent;
    if (random.chance(0.4)) step.system.spoil = now.spoil;
    if (random.chance(0.3)) step.system.columns = now.columns;
  }
  if (before == nullptr || random.chance(0.5)) {
    step.parameters = drawParameters(random.next(), step.method, before == nullptr ? odd : odd / 2, folder);
  }
  if (step.system.wrapper == "nested" || step.system.preconditioner == "nested") {  // short: each product is a solve
    step.system.columns = std::min(step.system.columns, 2);
    step.parameters.set("Maximum Iterations", random.between(0, 20));
  }
  drawTests(random, odd, step);
  return step;
}

/// The same solve in groups of two ranks that change: what ranks remember of other groups must not mislead them.
void rotate(Recipe& recipe) {
  StepRecipe step = recipe.steps.front();
  step.reuse = "new";
  for (const char* key : {"State Cache", "Solver Name"}) step.parameters.remove(key, false);
  recipe.steps.clear();
  for (const char* split : {"last from rest", "first from rest", "even from odd", "world"}) {
    step.split = split;
    recipe.steps.push_back(step);
  }
}

std::string valueOf(const Teuchos::ParameterList& list, const std::string& name) {
  return Teuchos::toString(list.getEntry(name).getAny(false));
}

using Changer = std::function<void(StepRecipe&)>;

Simplification inEveryStep(const std::string& name, const std::string& meaning, const Changer& change) {
  return {name, meaning, [change](Recipe& recipe) {
            for (StepRecipe& step : recipe.steps) change(step);
          }};
}

bool readsUpdate(const std::string& test) { return test == "reads all" || test == "Belos explicit residual"; }

bool isScaled(const std::string& guess) { return guess == "huge" || guess == "tiny"; }

constexpr int mostSteps = 4;

/// Without step i, where there is another one. A later step takes its solver where it finds one, else a new one.
Simplification withoutStep(std::size_t i) {
  return {fmt::format("step-{}", i), "no such solve", [i](Recipe& recipe) {
            if (i < recipe.steps.size() && recipe.steps.size() > 1) {
              recipe.steps.erase(recipe.steps.begin() + static_cast<std::ptrdiff_t>(i));
            }
          }};
}

void mend(StepRecipe& step) {
  step.system.spoil = "nothing";
  if (step.system.wrapper == "nan later") step.system.wrapper = "operator";
  if (step.system.preconditioner == "nan later") step.system.preconditioner = "jacobi";
}

void unnest(StepRecipe& step) {
  if (step.system.wrapper == "nested") step.system.wrapper = "operator";
  if (step.system.preconditioner == "nested") step.system.preconditioner = "jacobi";
}

void unscale(StepRecipe& step) {
  step.system.matrixExponent = step.system.rhsExponent = step.system.scatter = 0;
  if (step.system.rhs == "huge") step.system.rhs = "random";
}

void watchLess(StepRecipe& step) {
  if (readsUpdate(step.userTest)) step.userTest = "passes later";
  if (readsUpdate(step.debugTest)) step.debugTest = "never passes";
}

}  // namespace

Recipe draw(std::uint64_t seed, const std::string& folder) {
  Random random(seed);
  Recipe recipe;
  recipe.seed = seed;
  const double odd = random.oneOf<double>({0.04, 0.12, 0.3});
  const int steps = random.oneOf<int>({1, 1, 2, 3, mostSteps});
  for (int i = 0; i < steps; ++i) {
    recipe.steps.push_back(drawStep(random, odd, folder, i == 0 ? nullptr : &recipe.steps.back()));
  }
  if (random.chance(0.04)) rotate(recipe);
  return recipe;
}

std::string describe(const Recipe& recipe) {
  std::string text;
  for (std::size_t i = 0; i < recipe.steps.size(); ++i) {
    const StepRecipe& step = recipe.steps[i];
    const SystemRecipe& s = step.system;
    text += fmt::format(
        "  step {}: {}, {} solver, reset {}, ranks: {}\n    system {}: {} of {} rows as {}, map {}, {} right-hand "
        "sides "
        "({}), guess {}, spoilt: {}\n    A x 1e{}, b x 1e{}, rows x 1e+-{}{}, preconditioner {} ({}{})\n",
        i, methodOf(step.method).canonical, step.reuse, step.reset, step.split, s.seed, s.matrix, s.rows, s.wrapper,
        s.map, s.columns, s.rhs, s.guess, s.spoil, s.matrixExponent, s.rhsExponent, s.scatter,
        s.scatterColumns ? " and columns" : "", s.preconditioner, s.side, s.bare ? ", as a matrix" : "");
    if (step.userTest != "none") text += fmt::format("    user test {} ({})\n", step.userTest, step.combination);
    if (step.debugTest != "none") text += fmt::format("    debug test {}\n", step.debugTest);
    for (auto item = step.parameters.begin(); item != step.parameters.end(); ++item) {
      const std::string& key = step.parameters.name(item);
      text += fmt::format("    {}: {}\n", key, valueOf(step.parameters, key));
    }
  }
  return text;
}

const std::vector<Simplification>& simplifications() {
  static const std::vector<Simplification> table = {
      withoutStep(3),  // the last one first, so that the others keep their numbers
      withoutStep(2),
      withoutStep(1),
      withoutStep(0),
      inEveryStep("reset", "no reset", [](StepRecipe& s) { s.reset = "none"; }),
      inEveryStep("split", "all ranks together", [](StepRecipe& s) { s.split = "world"; }),
      inEveryStep("map", "rows spread evenly", [](StepRecipe& s) { s.system.map = "even"; }),
      inEveryStep("nested", "no solve inside another", unnest),
      inEveryStep("nan", "no NaN or Inf in the input", mend),
      inEveryStep("scaling", "no powers of ten", unscale),
      inEveryStep("huge-guess", "no guess of extreme size",
                  [](StepRecipe& s) { s.system.guess = isScaled(s.system.guess) ? "random" : s.system.guess; }),
      inEveryStep("guess", "x0 = 0", [](StepRecipe& s) { s.system.guess = "zero"; }),
      inEveryStep("rhs", "a random right-hand side", [](StepRecipe& s) { s.system.rhs = "random"; }),
      inEveryStep("no-columns", "at least one right-hand side",
                  [](StepRecipe& s) { s.system.columns = std::max(s.system.columns, 1); }),
      inEveryStep("columns", "at most one right-hand side",
                  [](StepRecipe& s) { s.system.columns = std::min(s.system.columns, 1); }),
      inEveryStep("update-tests", "no status test that reads the current iterate", watchLess),
      inEveryStep("user-test", "no user status test", [](StepRecipe& s) { s.userTest = "none"; }),
      inEveryStep("debug-test", "no debug status test", [](StepRecipe& s) { s.debugTest = "none"; }),
      inEveryStep("preconditioner", "none", [](StepRecipe& s) { s.system.preconditioner = "none"; }),
      inEveryStep("left", "preconditioned from the right", [](StepRecipe& s) { s.system.side = "right"; }),
      inEveryStep("wrapper", "the operator is a Tpetra::CrsMatrix", [](StepRecipe& s) { s.system.wrapper = "matrix"; }),
      inEveryStep("rows", "at most 8 rows", [](StepRecipe& s) { s.system.rows = std::min(s.system.rows, 8); }),
      inEveryStep("parameters", "all at their defaults", [](StepRecipe& s) { s.parameters = {}; }),
  };
  return table;
}

void simplify(Recipe& recipe, const std::vector<std::string>& names) {
  std::set<std::string> left(names.begin(), names.end());
  for (const Simplification& simplification : simplifications()) {
    if (left.erase(simplification.name) != 0) simplification.apply(recipe);
  }
  for (StepRecipe& step : recipe.steps) {
    for (const std::string& key : left) step.parameters.remove(key, false);
  }
}

std::vector<std::string> parameterNames(const Recipe& recipe) {
  std::set<std::string> names;
  for (const StepRecipe& step : recipe.steps) {
    for (auto item = step.parameters.begin(); item != step.parameters.end(); ++item) {
      names.insert(step.parameters.name(item));
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace capstan::soak
