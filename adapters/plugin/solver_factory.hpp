#pragma once

/// \file
/// What Belos::SolverFactory asks before it looks among its own solvers.

#include <BelosCustomSolverFactory.hpp>
#include <Teuchos_TypeNameTraits.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "adapters/plugin/belos_names.hpp"
#include "adapters/plugin/options_file.hpp"
#include "belos_ext/choice/choosing_manager.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/support/said_once.hpp"

namespace capstan {

/// What `action` returns. What it throws is also said once, by rank 0.
template <class Action>
auto saidOnStderr(const Action& action) -> decltype(action()) {
  try {
    return action();
  } catch (const std::invalid_argument& error) {
    if (speaksForAll()) sayOnce(error.what());
    throw;
  }
}

/// The user's options. What is wrong with them, or with CAPSTAN_KERNELS, is thrown, and said, now and not in the midst
/// of a solve. Local. Throws as environmentOptions() and kernels::instructionSet() do.
UserOptions optionsBeforeSolver();

/// Makes Capstan's solvers for Belos. Local.
template <class Types>
class SolverFactory final
    : public Belos::CustomSolverFactory<typename Types::Scalar, typename Types::MultiVector, typename Types::Operator> {
 public:
  using Manager = Belos::SolverManager<typename Types::Scalar, typename Types::MultiVector, typename Types::Operator>;

  /// The solver of a canonical name, an alias, or another solver's name that the user's options redirect here; null for
  /// any other name, so that Belos goes on looking.
  ///
  /// Throws std::invalid_argument for a name that starts with "capstan" and is none of ours, for wrong parameters, and,
  /// whatever the name, while the user's options or CAPSTAN_KERNELS are wrong. Belos asks factories not to throw for
  /// names they do not know; a misspelt "capstan" name is known to be nobody else's, and Belos' own message would not
  /// say what is valid. Wrong names and options are also said once on the standard error stream: an application may
  /// catch the exception and solve by other means without a word.
  Teuchos::RCP<Manager> getSolver(const std::string& name,
                                  const Teuchos::RCP<Teuchos::ParameterList>& parameters) override {
    const UserOptions options = optionsBeforeSolver();
    const MethodTraits* redirected = options.redirected(name);
    const MethodTraits* solver = redirected != nullptr ? redirected : findMethod(name);
    if (solver == nullptr) {
      if (looksLikeOurs(name)) saidOnStderr([&] { throwUnknownSolver(name); });
      return Teuchos::null;
    }
    const bool forAnother = findMethod(name) == nullptr;
    Teuchos::RCP<Manager> manager = makeSolver<Types>(*solver, name);
    manager->setParameters(forAnother             ? parametersOfAlias(name, parameters)
                           : parameters.is_null() ? Teuchos::parameterList()
                                                  : parameters);
    return manager;
  }

  int numSupportedSolvers() const override { return static_cast<int>(namedMethods().size()); }

  /// Canonical names and aliases; redirected names are still Belos'.
  std::vector<std::string> supportedSolverNames() const override { return namesAndAliases(); }

  bool isSupported(const std::string& name) const override { return findMethod(name) != nullptr; }
};

/// Stands in for SolverFactory where the scalar is not a real one: says so instead of letting Belos call the name
/// unknown.
template <class Scalar, class MultiVector, class Operator>
class RefusingFactory final : public Belos::CustomSolverFactory<Scalar, MultiVector, Operator> {
 public:
  /// Null for names that are not ours; throws std::invalid_argument for those that are.
  Teuchos::RCP<Belos::SolverManager<Scalar, MultiVector, Operator>> getSolver(
      const std::string& name, const Teuchos::RCP<Teuchos::ParameterList>&) override {
    if (!looksLikeOurs(name)) return Teuchos::null;
    if (findMethod(name) == nullptr) saidOnStderr([&] { throwUnknownSolver(name); });
    throw std::invalid_argument("Capstan: solver \"" + name + "\" is not available for the scalar type " +
                                Teuchos::TypeNameTraits<Scalar>::name() +
                                "; Capstan's solvers take the real scalars float and double");
  }

  int numSupportedSolvers() const override { return 0; }
  std::vector<std::string> supportedSolverNames() const override { return {}; }
  bool isSupported(const std::string&) const override { return false; }
};

}  // namespace capstan
