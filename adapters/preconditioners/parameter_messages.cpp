#include "adapters/preconditioners/parameter_messages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <regex>
#include <vector>

#include "belos_ext/support/nearest_match.hpp"

namespace capstan::preconditioning {
namespace {

/// The parameters of those Ifpack2 types that take unknown ones without a word.
const std::vector<std::string>& uncheckedNames(const std::string& ifpack2) {
  static const std::vector<std::string> none;
  static const std::map<std::string, std::vector<std::string>> names = {
      {"ILUT",
       {"fact: ilut level-of-fill", "fact: drop tolerance", "fact: absolute threshold", "fact: relative threshold",
        "fact: relax value"}},
      {"RILUK",
       {"fact: iluk level-of-fill", "fact: iluk overalloc", "fact: absolute threshold", "fact: relative threshold",
        "fact: relax value", "fact: type"}},
      {"CHEBYSHEV",
       {"chebyshev: degree", "chebyshev: ratio eigenvalue", "chebyshev: max eigenvalue", "chebyshev: min eigenvalue",
        "chebyshev: boost factor", "chebyshev: eigenvalue max iterations", "chebyshev: eigenvalue relative tolerance",
        "chebyshev: eigenvalue normalization frequency", "chebyshev: eigenvalue keep vectors",
        "chebyshev: min diagonal value", "chebyshev: zero starting solution", "chebyshev: textbook algorithm",
        "chebyshev: compute max residual norm", "chebyshev: assume matrix does not change", "chebyshev: use block mode",
        "chebyshev: solve normal equations"}}};
  const auto found = names.find(ifpack2);
  return found == names.end() ? none : found->second;
}

}  // namespace

std::string plainMessage(const std::string& what) {
  std::string text = what;
  const std::string marker = "Throw test that evaluated to true:";
  const auto at = text.find(marker);
  if (at != std::string::npos) {
    const auto end = text.find('\n', at);
    text = end == std::string::npos ? "" : text.substr(end);
  }
  text = std::regex_replace(text, std::regex("\\s+"), " ");
  return std::regex_replace(
      text, std::regex("^ | in (?:the parameter \\(sub\\)list|sublist) \"ANONYMOUS\"| ?Throw number = [0-9]+|\\s$"),
      "");
}

ParameterProblem parameterProblem(const std::string& what) {
  std::smatch match;
  // Of Teuchos' validator of ranges.
  const std::regex range(R"(Parameter: ([^\n]*?)\s+Min: (\S+)\s+Max: (\S+)\s+Value entered: (\S+))");
  if (std::regex_search(what, match, range)) {
    return {match[1], fmt::format("found {}; allowed: {} to {}", match[4].str(), match[2].str(), match[3].str())};
  }
  if (!std::regex_search(what, match, std::regex("(?:ame=|Parameter )\"([^\"]*)\""))) return {"", plainMessage(what)};
  const std::string name = match[1];
  if (what.find("was not found in the list of valid parameters") == std::string::npos)
    return {name, plainMessage(what)};
  std::vector<std::string> valid;
  const std::regex row("\n    \"([^\"]*)\" : ");
  for (std::sregex_iterator it(what.begin(), what.end(), row), end; it != end; ++it) valid.push_back((*it)[1]);
  return {name,
          fmt::format("unknown parameter '{}'; allowed: {}{}", name, fmt::join(valid, ", "), didYouMean(name, valid))};
}

std::optional<ParameterProblem> unknownIfpack2Name(const std::string& ifpack2, const Teuchos::ParameterList& list) {
  const auto& names = uncheckedNames(ifpack2);
  for (const auto& entry : list) {
    const std::string& name = entry.first;
    if (names.empty() || std::find(names.begin(), names.end(), name) != names.end()) continue;
    return ParameterProblem{name, fmt::format("unknown parameter '{}'; allowed: {}{}", name, fmt::join(names, ", "),
                                              didYouMean(name, names))};
  }
  return std::nullopt;
}

}  // namespace capstan::preconditioning
