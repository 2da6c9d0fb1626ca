#pragma once

/// \file
/// Which solves a key under `labels:` means.
///
///     label     = condition { "and" condition }
///     condition = "system" N                                  the N-th system of the run, from 1
///               | "rows" ( ">" | ">=" | "<" | "<=" | "=" ) N  rows of all ranks; N is a whole number such as 10000 or 1e6
///               | "symmetric" | "nonsymmetric"                as far as it can be told; neither where it cannot
///               | ["name"] NAME                               the solver's or the matrix' name
///
/// Case does not matter, nor do '_', '-' and blanks in names. "name" lets the whole rest of the key be a name.

#include <optional>
#include <string>
#include <vector>

#include "belos_ext/parameters/parameter_overlay.hpp"

namespace capstan {

class LabelPattern {
 public:
  /// Reads a key. Local. Throws std::invalid_argument saying what is wrong with it, what was found, what is allowed and
  /// the nearest match, for a key that begins as a pattern and is none.
  static LabelPattern parse(const std::string& key);

  /// Whether a solve is meant. Collective where all other conditions hold and the symmetry is asked for.
  bool matches(const SolveFacts& facts) const;

  /// The same for keys that mean the same solves in other spellings.
  const std::string& normalized() const { return normalized_; }

  /// The names that it asks for.
  std::vector<std::string> names() const;

 private:
  enum class Kind { Name, System, Rows, Symmetric, Nonsymmetric };
  struct Condition {
    Kind kind = Kind::Name;
    std::string text;      ///< a name, normalised, or how rows are compared
    long long number = 0;  ///< of a system or of rows
  };

  static Condition nameCondition(const std::string& text);
  static Condition conditionOf(const std::string& text);
  static Condition comparison(const std::string& text);
  static std::optional<Condition> systemCondition(const std::string& text);
  static std::optional<Condition> symmetryCondition(const std::string& text);
  static bool holds(const Condition& condition, const SolveFacts& facts);

  std::vector<Condition> conditions_;  ///< those on the symmetry last
  std::string normalized_;
};

}  // namespace capstan
