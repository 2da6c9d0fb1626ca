// Random values for the rows of the parameter table. A row that is not named here gets what its type and words allow.

#include <fmt/format.h>

#include <Teuchos_oblackholestream.hpp>
#include <map>
#include <stdexcept>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/test/soak/random.hpp"
#include "belos_ext/test/soak/recipe.hpp"

namespace capstan::soak {
namespace {

using Teuchos::ParameterEntry;
using Drawer = std::function<ParameterEntry(Random&)>;

template <class T>
Drawer among(std::vector<T> values) {
  return [values](Random& random) { return ParameterEntry(random.oneOf(values)); };
}

ParameterEntry drawShifts(Random& random) {
  std::string text;
  for (int i = random.between(1, 6); i > 0; --i) {
    const double real = 10 * random.uniform() - 1;
    const bool pair = random.chance(0.3);
    const double imaginary = random.uniform() + 0.1;
    text += text.empty() ? "" : ", ";
    text += pair ? fmt::format("{}+{}i, {}-{}i", real, imaginary, real, imaginary) : fmt::format("{}", real);
  }
  return ParameterEntry(random.chance(0.2) ? std::string("auto") : "[" + text + "]");
}

ParameterEntry drawBounds(Random& random) {
  const double low = 2 * random.uniform() - 0.5;
  const double high = low + 10 * random.uniform() + 1e-3;
  return ParameterEntry(random.chance(0.2) ? std::string("auto") : fmt::format("[{}, {}]", low, high));
}

ParameterEntry drawStepSize(Random& random) {
  return random.chance(0.3) ? ParameterEntry(std::string("auto"))
                            : ParameterEntry(random.oneOf<int>({1, 2, 3, 4, 5, 8, 10, 20, 100}));
}

const std::map<std::string, Drawer>& drawers() {
  static const std::map<std::string, Drawer> table = {
      {"Convergence Tolerance", among<double>({0, 1e-15, 1e-14, 1e-12, 1e-10, 1e-6, 1e-4, 1e-2, 0.5, 1, 3})},
      {"Maximum Iterations", among<int>({0, 1, 2, 3, 7, 20, 50, 100, 150, 300, 1000})},
      {"Maximum Restarts", among<int>({0, 1, 2, 5, 20, 1000})},
      {"Num Blocks", among<int>({1, 2, 3, 5, 8, 13, 20, 30, 50, 100, 150, 300, 600})},
      {"Block Size", among<int>({0, 1, 2, 3, 5, 100})},
      {"Pipeline Depth", among<int>({1, 1, 2, 3, 4, 5, 8, 13, 25, 1000})},
      {"Polynomial Degree", among<int>({1, 1, 2, 3, 4, 8, 64})},
      {"Step Size", drawStepSize},
      {"Shifts", drawShifts},
      {"Eigenvalue Bounds", drawBounds},
      {"Change of Basis Drop Tolerance", among<double>({0, 1e-14, 1e-8, 1e-2, 1})},
      {"User Defined Residual Scaling", among<double>({1e-200, 1e-6, 1, 100, 1e200})},
      {"Residual Smoothing", among<std::string>({"auto", "on", "off"})},
      {"Residual Replacement", among<std::string>({"auto", "off", "every 1", "every 3", "every 10"})},
      {"Initial Guess", among<std::string>({"application", "extrapolation 1", "extrapolation 2", "extrapolation 3",
                                            "projection 1", "projection 2", "projection 5", "projection 20"})},
      {"Verbosity", [](Random& random) { return ParameterEntry(random.between(0, 127)); }},
      {"Output Style", among<int>({0, 1, 2})},
      {"Output Frequency", among<int>({-1, 0, 1, 2, 10})},
      // Not auto, and not tuned: they go by time, and the same seed is to give the same results.
      {"Communication Strategy", among<std::string>({"application", "standard", "two-step", "three-step", "optimal"})},
      {"Reduction Strategy", among<std::string>({"mpi", "node-aware"})},
      {"Enlarging Factor", among<int>({1, 2, 3, 4, 8, 17, 64})},
      {"Residual Splitting", among<std::string>({"contiguous", "interleaved", "by rank"})},
      {"Ranks Per Node", among<int>({0, 1, 2, 3, 100})},
      {"Solver Name", among<std::string>({"", "pressure", "momentum"})},
      {"Timer Label", among<std::string>({"", "soak"})},
      // A thread of its own is slow where ranks outnumber cores.
      {"Progress",
       among<std::string>({"none", "poll", "none", "poll", "none", "poll", "none", "poll", "none", "poll", "thread"})},
      // Not all that Belos has words for are to be had.
      {"Residual Norm", among<std::string>({"TwoNorm", "OneNorm"})},
  };
  return table;
}

bool accepted(const ParameterRow& row, const ParameterEntry& entry) {
  try {
    checkParameter(row, entry);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

/// A value that the row accepts, or an empty entry where it takes none that can be drawn here (a stream).
ParameterEntry drawValue(const ParameterRow& row, Random& random, const std::string& folder) {
  if (row.name == "Report File" || row.name == "History File") {
    return ParameterEntry(random.chance(0.2) ? std::string() : folder + "/" + row.name);
  }
  if (const auto found = drawers().find(row.name); found != drawers().end()) return found->second(random);
  if (!row.words.empty()) return ParameterEntry(random.oneOf(row.words));
  if (row.type == "bool") return ParameterEntry(random.chance(0.5));
  for (int i = 0; i < 10; ++i) {
    const double value = random.oneOf<double>({-1, 0, 1e-8, 0.5, 1, 2, 3, 10});
    const ParameterEntry entry = row.type == "int" ? ParameterEntry(static_cast<int>(value)) : ParameterEntry(value);
    if (accepted(row, entry)) return entry;
  }
  return {};
}

}  // namespace

Teuchos::ParameterList drawParameters(std::uint64_t seed, const std::string& method, double share,
                                      const std::string& folder) {
  Random random(seed);
  for (int attempt = 0; attempt < 8; ++attempt) {  // options that are valid one by one may exclude each other
    Teuchos::ParameterList list;
    if (!random.chance(0.2)) list.set("Maximum Iterations", random.oneOf<int>({5, 30, 60, 100, 200}));
    for (const ParameterRow& row : parameterRows()) {
      // What has no effect on the method is taken too, but for "Strict Parameters".
      if (!random.chance(row.appliesTo(methodOf(method)) ? share : share / 10)) continue;
      const ParameterEntry entry = drawValue(row, random, folder);
      if (!entry.getAny(false).empty()) list.setEntry(row.name, entry);
    }
    try {
      Teuchos::ParameterList quiet(list);
      quiet.set("Output Stream", Teuchos::RCP<std::ostream>(Teuchos::rcp(new Teuchos::oblackholestream)));
      Parameters(methodOf(method)).merge(quiet);
      return list;
    } catch (const std::invalid_argument&) {
    }
  }
  return {};
}

}  // namespace capstan::soak
