#pragma once
/// \file
/// From text to typed values of parameter lists, for all adapters. Each adapter keeps its own grammar: its words for
/// true and false, and what it says about values that it does not take.

#include <Teuchos_ParameterEntry.hpp>
#include <optional>
#include <string>

#include "adapters/values/truth_words.hpp"

namespace YAML {
class Node;
}

namespace capstan {

/// The whole number that a text spells in YAML 1.2: "010" is ten, "0o10" eight, "0x10" sixteen. Nothing where it spells
/// none that an int holds. Local.
std::optional<int> wholeNumber(const std::string& text);

/// A scalar of YAML as the application's list would hold it: an int, a double, a truth value or a string. A quoted
/// scalar is a string. Local.
Teuchos::ParameterEntry typedScalar(const YAML::Node& scalar, const TruthWords& words);

/// A sequence of YAML: Teuchos::Array of double where all items are numbers without quotes, else of std::string. An
/// item that is no scalar becomes the words "a nested value". Local.
Teuchos::ParameterEntry typedSequence(const YAML::Node& sequence);

/// The value; an int becomes a double where `wanted` is a double. Local.
Teuchos::ParameterEntry matchingNumber(const Teuchos::ParameterEntry& value, const Teuchos::ParameterEntry& wanted);

}  // namespace capstan
