// Random values for the rows of the parameter table: those of parameter_values.cpp, unless it says otherwise here.

#include <fmt/format.h>

#include <Teuchos_oblackholestream.hpp>
#include <map>
#include <stdexcept>
#include <typeinfo>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/test/soak/random.hpp"
#include "belos_ext/test/soak/recipe.hpp"
#include "belos_ext/test/support/parameter_values.hpp"

namespace capstan::soak {
namespace {

using Teuchos::ParameterEntry;
using Drawer = std::function<ParameterEntry(Random&)>;

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

/// Where a list of values is not enough.
const std::map<std::string, Drawer>& drawers() {
  static const std::map<std::string, Drawer> table = {
      {"Step Size", drawStepSize},
      {"Shifts", drawShifts},
      {"Eigenvalue Bounds", drawBounds},
      {"Verbosity", [](Random& random) { return ParameterEntry(random.between(0, 127)); }},
  };
  return table;
}

/// A value that the row accepts, or an empty entry where it takes none that can be drawn here (a stream).
ParameterEntry drawValue(const ParameterRow& row, Random& random, const std::string& folder) {
  if (row.name == "Output Stream") return {};
  if (row.name == "Report File" || row.name == "History File" || row.name == "Trace File" ||
      row.name == "Choice File") {
    return ParameterEntry(random.chance(0.2) ? std::string() : folder + "/" + row.name);
  }
  if (const auto found = drawers().find(row.name); found != drawers().end()) return found->second(random);
  return random.oneOf(testing::valuesToTry(row, folder));
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
      if (entry.getAny(false).type() != typeid(void)) list.setEntry(row.name, entry);
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
