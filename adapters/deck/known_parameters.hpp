#pragma once
/// \file
/// What parameters a method takes, and whether a value is one of them.

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_RCP.hpp>
#include <string>
#include <vector>

#include "adapters/deck/diagnostics.hpp"
#include "belos_ext/parameters/method_traits.hpp"

namespace capstan::deck {

/// What a method takes: Capstan's from its own table, Belos' from the solver's list of valid parameters. Local.
class KnownParameters {
 public:
  /// \throws std::invalid_argument for a method that cannot be created.
  explicit KnownParameters(const std::string& method);

  bool ofCapstan() const { return own_ != nullptr; }
  /// Whether the parameter has an effect on the method.
  bool has(const std::string& key) const;
  std::vector<std::string> names() const;

  /// Records an error when `list[key]` is unknown, has no effect or has a wrong value. May convert an int to double.
  void check(const std::string& key, const Place& place, Teuchos::ParameterList& list, Diagnostics& diagnostics) const;

 private:
  void checkBelos(const std::string& key, const Place& place, Teuchos::ParameterList& list,
                  Diagnostics& diagnostics) const;

  const MethodTraits* own_;
  Teuchos::RCP<const Teuchos::ParameterList> belos_;
  bool isServed_ = false;  ///< by Capstan under Belos' name: what is asked for there is redirected
};

}  // namespace capstan::deck
