#include "adapters/plugin/label_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "belos_ext/support/nearest_match.hpp"

namespace capstan {

namespace {

constexpr const char* allowed =
    "a name, \"name\" and a name, \"system 2\", \"rows > 10000\", \"symmetric\", \"nonsymmetric\", or several of them "
    "joined by \"and\"";

[[noreturn]] void fail(const std::string& what, const std::string& nearest = "") {
  throw std::invalid_argument(what + nearest + "; allowed: " + allowed);
}

std::vector<std::string> wordsOf(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string joined(const std::vector<std::string>& words, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) text += (text.empty() ? "" : " ") + words[i];
  return text;
}

bool allDigits(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// 10000, or 1e4 with an exponent of one digit or two; nothing for another text, or a number that is too large.
std::optional<long long> wholeNumber(const std::string& text) {
  const auto e = text.find_first_of("eE");
  const std::string digits = text.substr(0, e);
  const std::string exponent = e == std::string::npos ? "0" : text.substr(e + 1);
  if (!allDigits(digits) || digits.size() > 18 || !allDigits(exponent) || exponent.size() > 2) return std::nullopt;
  long long number = std::stoll(digits);
  for (int i = std::stoi(exponent); i > 0; --i) {
    if (number > std::numeric_limits<long long>::max() / 10) return std::nullopt;
    number *= 10;
  }
  return number;
}

}  // namespace

LabelPattern::Condition LabelPattern::comparison(const std::string& text) {
  const auto at = text.find_first_of("<>=");
  const auto end = text.find_first_not_of("<>=", at);
  const std::vector<std::string> before = wordsOf(text.substr(0, at));
  const std::string left = joined(before, 0, before.size());
  const std::string sign = text.substr(at, end == std::string::npos ? end : end - at);
  const std::vector<std::string> right = wordsOf(end == std::string::npos ? "" : text.substr(end));
  if (normalizedName(left) == "system") fail("found \"" + text + "\"", "; did you mean \"system 1\"?");
  if (normalizedName(left) != "rows") {
    fail("only rows can be compared, found \"" + left + "\"", didYouMean(left, {"rows"}));
  }
  for (const char* known : {">", ">=", "<", "<=", "="}) {
    if (sign != known) continue;
    const auto number = right.size() == 1 ? wholeNumber(right[0]) : std::nullopt;
    if (number) return {Kind::Rows, sign, *number};
    fail(fmt::format("rows are compared with a whole number such as 10000 or 1e6, found \"{}\"",
                     joined(right, 0, right.size())));
  }
  fail("rows are compared by >, >=, <, <= or =, found \"" + sign + "\"");
}

/// "system 3"; nothing for what cannot be meant to be one.
std::optional<LabelPattern::Condition> LabelPattern::systemCondition(const std::string& text) {
  const std::vector<std::string> words = wordsOf(text);
  const std::string first = normalizedName(words[0]);
  if (first == "rows" && (words.size() == 1 || allDigits(words[1]))) {
    fail("\"rows\" is compared with a number, found \"" + text + "\"", "; did you mean \"rows > 10000\"?");
  }
  if (first == "system" && words.size() == 1) fail("\"system\" needs a number", "; did you mean \"system 1\"?");
  if (words.size() != 2 || words[1].find_first_of("0123456789") == std::string::npos) return std::nullopt;
  if (first == "system") {
    const auto number = wholeNumber(words[1]);
    if (number && *number >= 1 && *number <= std::numeric_limits<int>::max())
      return Condition{Kind::System, "", *number};
    fail("systems are numbered 1, 2, ..., found \"" + words[1] + "\"");
  }
  if (allDigits(words[1]) && !nearestMatch(first, {"system"}).empty()) {
    fail("found \"" + text + "\"", "; did you mean \"system " + words[1] + "\"?");
  }
  return std::nullopt;
}

/// Any word about symmetry.
std::optional<LabelPattern::Condition> LabelPattern::symmetryCondition(const std::string& text) {
  std::string word = normalizedName(text);
  word.erase(std::remove(word.begin(), word.end(), ' '), word.end());
  if (word == "symmetric") return Condition{Kind::Symmetric, "", 0};
  if (word == "nonsymmetric") return Condition{Kind::Nonsymmetric, "", 0};
  const std::string ending = "etric";
  const auto at = word.find("sym");
  const bool ends = word.size() >= ending.size() && word.substr(word.size() - ending.size()) == ending;
  if (at == std::string::npos || !ends) return std::nullopt;
  fail("found \"" + text + "\"", std::string("; did you mean \"") + (at == 0 ? "symmetric" : "nonsymmetric") + "\"?");
}

LabelPattern::Condition LabelPattern::nameCondition(const std::string& text) {
  if (normalizedName(text).empty()) fail("found \"" + text + "\", which is no name");
  return {Kind::Name, normalizedName(text), 0};
}

LabelPattern::Condition LabelPattern::conditionOf(const std::string& text) {
  if (text.empty()) fail("there is nothing on one side of \"and\"");
  if (text.find_first_of("<>=") != std::string::npos) return comparison(text);
  if (const auto system = systemCondition(text)) return *system;
  if (const auto symmetry = symmetryCondition(text)) return *symmetry;
  return nameCondition(text);
}

LabelPattern LabelPattern::parse(const std::string& key) {
  const std::vector<std::string> words = wordsOf(key);
  if (words.empty()) fail("is empty");
  LabelPattern pattern;
  for (std::size_t first = 0; first <= words.size();) {
    if (first + 1 < words.size() && normalizedName(words[first]) == "name") {
      pattern.conditions_.push_back(nameCondition(joined(words, first + 1, words.size())));
      break;
    }
    const auto isAnd = [](const std::string& word) { return normalizedName(word) == "and"; };
    const auto end = static_cast<std::size_t>(
        std::find_if(words.begin() + static_cast<std::ptrdiff_t>(first), words.end(), isAnd) - words.begin());
    pattern.conditions_.push_back(conditionOf(joined(words, first, end)));
    first = end + 1;
    if (end == words.size()) break;
  }
  std::sort(pattern.conditions_.begin(), pattern.conditions_.end(), [](const Condition& a, const Condition& b) {
    return std::tie(a.kind, a.text, a.number) < std::tie(b.kind, b.text, b.number);
  });
  for (const Condition& one : pattern.conditions_) {
    pattern.normalized_ += fmt::format("{} {} {}\n", static_cast<int>(one.kind), one.text, one.number);
  }
  return pattern;
}

bool LabelPattern::holds(const Condition& condition, const SolveFacts& facts) {
  const long long n = condition.number;
  switch (condition.kind) {
    case Kind::Name:
      return std::any_of(facts.names.begin(), facts.names.end(),
                         [&](const std::string& name) { return normalizedName(name) == condition.text; });
    case Kind::System:
      return facts.system == n;
    case Kind::Rows:
      if (condition.text == "=") return facts.rows == n;
      if (condition.text[0] == '>') return facts.rows > n || (condition.text == ">=" && facts.rows == n);
      return facts.rows < n || (condition.text == "<=" && facts.rows == n);
    case Kind::Symmetric:
    case Kind::Nonsymmetric: {
      const auto symmetric = facts.symmetric();
      return symmetric && *symmetric == (condition.kind == Kind::Symmetric);
    }
  }
  return false;
}

bool LabelPattern::matches(const SolveFacts& facts) const {
  return std::all_of(conditions_.begin(), conditions_.end(),
                     [&](const Condition& condition) { return holds(condition, facts); });
}

std::vector<std::string> LabelPattern::names() const {
  std::vector<std::string> names;
  for (const Condition& condition : conditions_) {
    if (condition.kind == Kind::Name) names.push_back(condition.text);
  }
  return names;
}

}  // namespace capstan
