#include "adapters/plugin/belos_names.hpp"

#include <Belos_Details_EBelosSolverType.hpp>
#include <cctype>

#include "belos_ext/parameters/method_traits.hpp"

namespace capstan {

namespace {

std::string upperCase(std::string name) {
  for (char& c : name) c = c == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

/// Nalu-wind translates one of its methods itself. Its other ones are Belos' aliases: "gmres" is PSEUDOBLOCK GMRES.
constexpr const char* naluWindsWord = "SSTEP GMRES";
constexpr const char* naluWindsMeaning = "TPETRA GMRES S-STEP";

}  // namespace

std::string canonicalSolverName(const std::string& name) {
  const MethodTraits* ours = findMethod(name);
  return ours != nullptr ? ours->canonical : canonicalBelosName(name);
}

std::string canonicalBelosName(const std::string& name) {
  if (upperCase(name) == naluWindsWord) return naluWindsMeaning;
  return Belos::Details::getCanonicalNameFromAlias(upperCase(name)).first;
}

std::vector<std::string> belosNames() {
  std::vector<std::string> names = Belos::Details::canonicalSolverNames();
  const std::vector<std::string> aliases = Belos::Details::solverNameAliases();
  names.insert(names.end(), aliases.begin(), aliases.end());
  // Belos lists its Tpetra solvers only once an application has made a factory.
  for (const char* name : {"TPETRA CG", "TPETRA CG PIPELINE", "TPETRA CG SINGLE REDUCE", "TPETRA GMRES",
                           "TPETRA GMRES PIPELINE", naluWindsMeaning, "TPETRA GMRES SINGLE REDUCE", naluWindsWord}) {
    names.emplace_back(name);
  }
  return names;
}

Teuchos::RCP<Teuchos::ParameterList> parametersOfAlias(const std::string& name,
                                                       const Teuchos::RCP<Teuchos::ParameterList>& parameters) {
  auto list = parameters.is_null() ? Teuchos::parameterList() : Teuchos::parameterList(*parameters);
  const std::string upper = upperCase(name);
  if (Belos::Details::getCanonicalNameFromAlias(upper).second) {
    Belos::Details::reviseParameterListForAlias(upper, *list);
  }
  return list;
}

}  // namespace capstan
