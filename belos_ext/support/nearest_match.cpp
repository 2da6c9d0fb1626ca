#include "belos_ext/support/nearest_match.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace capstan {

namespace {

std::size_t editDistance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> twoBack(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], twoBack[j - 2] + 1);
      }
    }
    std::swap(twoBack, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string normalizedName(const std::string& name) {
  std::string result;
  for (const char c : name) {
    const bool blank = c == '_' || c == '-' || std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  if (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

namespace {

std::size_t wordsIn(const std::string& normalized) {
  return normalized.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(normalized.begin(), normalized.end(), ' '));
}

/// The first words of a name.
std::string beginning(const std::string& normalized, std::size_t words) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < words && end != std::string::npos; ++i) {
    end = normalized.find(' ', end + (i == 0 ? 0 : 1));
  }
  return normalized.substr(0, end);
}

constexpr std::size_t notNear = static_cast<std::size_t>(-1);

std::size_t distanceIfNear(const std::string& wanted, const std::string& known) {
  const std::size_t distance = editDistance(wanted, known);
  const std::size_t near = std::max<std::size_t>(1, std::max(wanted.size(), known.size()) / 3);
  return distance <= near ? distance : notNear;
}

}  // namespace

std::string nearestMatch(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string wanted = normalizedName(word);
  const std::size_t words = wordsIn(wanted);
  const std::string* best = nullptr;
  std::size_t bestDistance = notNear;
  for (const std::string& candidate : candidates) {
    const std::string known = normalizedName(candidate);
    std::size_t distance = distanceIfNear(wanted, known);
    if (words > 0 && words < wordsIn(known)) {
      const std::size_t begun = distanceIfNear(wanted, beginning(known, words));
      if (begun != notNear) distance = std::min(distance, begun + 1);
    }
    if (distance < bestDistance) {
      best = &candidate;
      bestDistance = distance;
    }
  }
  return best == nullptr ? std::string() : *best;
}

std::string didYouMean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearestMatch(word, candidates);
  return nearest.empty() ? std::string() : "; did you mean \"" + nearest + "\"?";
}

}  // namespace capstan
