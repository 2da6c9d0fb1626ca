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

std::string nearestMatch(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string wanted = normalizedName(word);
  const std::string* best = nullptr;
  std::size_t bestDistance = 0;
  for (const std::string& candidate : candidates) {
    const std::string known = normalizedName(candidate);
    const std::size_t distance = editDistance(wanted, known);
    const std::size_t near = std::max<std::size_t>(1, std::max(wanted.size(), known.size()) / 3);
    if (distance <= near && (best == nullptr || distance < bestDistance)) {
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
