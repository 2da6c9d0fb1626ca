#pragma once

/// \file
/// Makers of ordinary rows of the parameter table: a key bound to a member of SolverOptions.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/parameter_value.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::rows {

/// A row without parse and print.
ParameterRow described(const std::string& name, const std::string& type, const std::string& allowed,
                       const std::string& doc);

/// The row, for people to find it there.
inline ParameterRow in(ParameterGroup group, ParameterRow row) {
  row.group = group;
  return row;
}

/// The row of one member. \param read makes its value of an entry, or throws std::invalid_argument
/// \param show makes what a list holds of it, or the entry
template <class T, class Concern, class Read, class Show>
ParameterRow bound(ParameterRow row, T Concern::*member, Read read, Show show) {
  row.parse = [member, read](const Teuchos::ParameterEntry& entry, ParameterState& state) {
    state.options.*member = read(entry);
  };
  row.show = [member, show](const ParameterState& state) {
    return Teuchos::ParameterEntry(show(state.options.*member));
  };
  return row;
}
/// The same of a member that lists hold as it is.
template <class T, class Concern, class Read>
ParameterRow bound(ParameterRow row, T Concern::*member, Read read) {
  return bound(std::move(row), member, read, [](const T& value) { return value; });
}

/// Which of these words a string is, in any case. Throws std::invalid_argument where it is none.
std::size_t wordAt(const std::vector<std::string>& words, const Teuchos::ParameterEntry& entry);

/// "auto", or a value, which one bit and another member hold. auto leaves the value at its default.
template <class T, class Concern, class Read, class Show>
ParameterRow orAuto(ParameterRow row, bool Concern::*isAuto, T Concern::*member, Read read, Show show) {
  row.words = {"auto"};
  row.parse = [=](const Teuchos::ParameterEntry& entry, ParameterState& state) {
    const bool automatic = isWord(entry, "auto");
    T value = automatic ? Concern().*member : read(entry);
    state.options.*isAuto = automatic;
    state.options.*member = std::move(value);
  };
  row.show = [=](const ParameterState& state) {
    return state.options.*isAuto ? Teuchos::ParameterEntry(std::string("auto"))
                                 : Teuchos::ParameterEntry(show(state.options.*member));
  };
  return row;
}

/// An int of an entry. Throws std::invalid_argument where it is none, or out of range.
int toInt(const Teuchos::ParameterEntry& entry, int low, int high);

/// An int from `low` on, and up to `high` where that is less than the largest one.
ParameterRow integer(const std::string& name, int SolverOptions::*member, int low, int high, const std::string& doc);
inline ParameterRow integer(const std::string& name, int SolverOptions::*member, int low, const std::string& doc) {
  return integer(name, member, low, std::numeric_limits<int>::max(), doc);
}

/// A finite real number that is at least `low`.
ParameterRow real(const std::string& name, double SolverOptions::*member, double low, const std::string& doc);

ParameterRow boolean(const std::string& name, bool SolverOptions::*member, const std::string& doc);

ParameterRow text(const std::string& name, std::string SolverOptions::*member, const std::string& allowed,
                  const std::string& doc);

/// One of a few words, in any case.
template <class Enum, class Concern>
ParameterRow choice(const std::string& name, Enum Concern::*member, const std::vector<Enum>& values,
                    const std::string& doc) {
  ParameterRow row = described(name, "string", "", doc);
  for (const Enum value : values) row.words.push_back(toString(value));
  row.allowed = fmt::format("{}", fmt::join(row.words, ", "));
  const auto read = [values, words = row.words](const Teuchos::ParameterEntry& entry) {
    return values[wordAt(words, entry)];
  };
  return bound(std::move(row), member, read, [](Enum value) { return toString(value); });
}

/// One of all words of an enumeration.
template <class Enum, class Concern>
ParameterRow choice(const std::string& name, Enum Concern::*member, const std::string& doc) {
  std::vector<Enum> all(wordsOf(Enum()).size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Enum>(i);
  return choice(name, member, all, doc);
}

}  // namespace capstan::rows
