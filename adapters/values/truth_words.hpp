#pragma once
/// \file
/// The words that a grammar of an adapter has for true and false.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace capstan {

/// Words in the spellings that the grammar takes; the comparison minds case.
struct TruthWords {
  std::vector<std::string> yes;
  std::vector<std::string> no;

  /// The truth value that a word stands for; nothing where it is another word. Local.
  std::optional<bool> valueOf(const std::string& word) const {
    if (std::find(yes.begin(), yes.end(), word) != yes.end()) return true;
    if (std::find(no.begin(), no.end(), word) != no.end()) return false;
    return std::nullopt;
  }
};

}  // namespace capstan
