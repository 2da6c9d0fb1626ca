// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/settings.hpp"

#include <Teuchos_ParameterList.hpp>
#include <algorithm>

#include "adapters/values/typed_values.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::driver {
namespace {

void setConverted(const Setting& setting, const std::string& name, const Teuchos::ParameterList* valid,
                  Teuchos::ParameterList& list) {
  const bool known = valid != nullptr && valid->isParameter(name);
  if (const auto* integer = std::get_if<int>(&setting.value)) {
    if (known && valid->isType<bool>(name) && (*integer == 0 || *integer == 1)) {
      list.set(name, *integer == 1);
    } else {
      const Teuchos::ParameterEntry value(*integer);
      list.setEntry(name, known ? matchingNumber(value, valid->getEntry(name)) : value);
    }
    return;
  }
  std::visit(
      [&](const auto& value) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, Settings>) {
          list.set(name, value);
        }
      },
      setting.value);
}

}  // namespace

std::string canonicalName(const std::string& name, const Teuchos::ParameterList* valid) {
  if (valid != nullptr && valid->isParameter(name)) {
    return name;
  }
  if (valid != nullptr) {
    for (const auto& entry : *valid) {
      if (normalizedName(entry.first) == normalizedName(name)) {
        return entry.first;
      }
    }
  }
  std::string blanks = name;
  std::replace(blanks.begin(), blanks.end(), '_', ' ');
  return blanks;
}

void copySettings(const Settings& settings, const Teuchos::ParameterList* valid, Teuchos::ParameterList& list) {
  for (const auto& setting : settings) {
    const std::string name = canonicalName(setting.name, valid);
    if (const auto* nested = std::get_if<Settings>(&setting.value)) {
      const bool known = valid != nullptr && valid->isSublist(name);
      copySettings(*nested, known ? &valid->sublist(name) : nullptr, list.sublist(name));
    } else {
      setConverted(setting, name, valid, list);
    }
  }
}

Parameters parametersOf(const MethodTraits& method, const Settings& settings) {
  Parameters parameters(method);
  Teuchos::ParameterList list;
  copySettings(settings, &*parameters.valid(), list);
  parameters.merge(list);
  return parameters;
}

}  // namespace capstan::driver
