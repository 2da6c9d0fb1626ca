#pragma once

/// \file
/// Makers of ordinary rows of the parameter table: a key bound to a member of SolverOptions.

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/parameter_value.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::rows {

/// Whether every method takes a parameter, or those whose rows in methods() name it.
enum class Takers { EveryMethod, SomeMethods };

/// A row without parse and print.
ParameterRow described(const std::string& name, const std::string& type, const std::string& allowed, Takers takers,
                       const std::string& doc);

/// What the doc of a key begins with that Belos has and whose value changes nothing here.
constexpr const char* noEffect = "Accepted for compatibility; no effect. ";

/// An int from `low` to `high`.
ParameterRow integer(const std::string& name, int SolverOptions::*member, int low, int high, const std::string& allowed,
                     Takers takers, const std::string& doc);

/// A finite real number that is at least `low`.
ParameterRow real(const std::string& name, double SolverOptions::*member, double low, const std::string& allowed,
                  Takers takers, const std::string& doc);

ParameterRow boolean(const std::string& name, bool SolverOptions::*member, Takers takers, const std::string& doc);

ParameterRow text(const std::string& name, std::string SolverOptions::*member, const std::string& allowed,
                  Takers takers, const std::string& doc);

/// The path of a file that will be written. Whether it can be is for the rank that writes it to find out.
ParameterRow outputFile(const std::string& name, std::string SolverOptions::*member, const std::string& doc);

/// One of Belos' keys whose value changes nothing here, because Capstan always does `always`. Another value gets the
/// remark `instead`.
ParameterRow fixed(const std::string& name, bool always, const std::string& instead, const std::string& doc);

/// One of a few words, in any case.
template <class Enum>
ParameterRow choice(const std::string& name, Enum SolverOptions::*member, std::vector<Enum> values, Takers takers,
                    const std::string& doc) {
  ParameterRow row = described(name, "string", "", takers, doc);
  for (const Enum value : values) {
    row.words.push_back(toString(value));
    row.allowed += (row.allowed.empty() ? "" : ", ") + toString(value);
  }
  row.parse = [member, values](const Teuchos::ParameterEntry& entry, ParameterState& state) {
    const std::string word = normalizedName(toText(entry));
    const auto found =
        std::find_if(values.begin(), values.end(), [&](Enum value) { return normalizedName(toString(value)) == word; });
    if (found == values.end()) throw std::invalid_argument("is not one of the allowed words");
    state.options.*member = *found;
  };
  row.print = [name, member](const ParameterState& state, Teuchos::ParameterList& list) {
    list.set(name, toString(state.options.*member));
  };
  return row;
}

}  // namespace capstan::rows
