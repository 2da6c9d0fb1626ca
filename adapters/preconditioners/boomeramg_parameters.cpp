#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "adapters/preconditioners/boomeramg.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::preconditioning {
namespace {

using Settings = BoomerAmgSettings;

/// A parameter that is a number from `least` to `most`.
template <class Number>
struct NumberRow {
  const char* name;
  Number Settings::*value;
  Number least, most;
};

/// A parameter that is one of some words; each sets what it means.
struct WordRow {
  const char* name;
  std::vector<std::pair<std::string, void (*)(Settings&)>> words;
};

const std::vector<NumberRow<int>> wholeRows = {{"Interpolation Entries", &Settings::interpolationEntries, 0, 1000},
                                               {"Sweeps", &Settings::sweeps, 1, 100},
                                               {"Coarse Sweeps", &Settings::coarseSweeps, 1, 1000},
                                               {"Maximum Coarse Rows", &Settings::coarseRows, 1, 1000},
                                               {"Maximum Levels", &Settings::levels, 2, 100},
                                               {"Aggressive Levels", &Settings::aggressiveLevels, 0, 100}};

const std::vector<NumberRow<double>> realRows = {{"Strong Threshold", &Settings::strongThreshold, 0.0, 1.0},
                                                 {"Truncation", &Settings::truncation, 0.0, 1.0}};

void relax(Settings& settings, int down, int up, int coarse) {
  settings.relaxDown = down;
  settings.relaxUp = up;
  settings.relaxCoarse = coarse;
}

// The numbers are those of hypre's reference manual.
const std::vector<WordRow> wordRows = {
    {"Coarsening",
     {{"hmis", [](Settings& s) { s.coarsening = 10; }},
      {"pmis", [](Settings& s) { s.coarsening = 8; }},
      {"falgout", [](Settings& s) { s.coarsening = 6; }}}},
    {"Interpolation",
     {{"extended+i", [](Settings& s) { s.interpolation = 6; }},
      {"extended", [](Settings& s) { s.interpolation = 14; }},
      {"classical", [](Settings& s) { s.interpolation = 0; }},
      {"direct", [](Settings& s) { s.interpolation = 3; }}}},
    {"Relaxation",
     {{"l1 gauss-seidel", [](Settings& s) { relax(s, 13, 14, 8); }},
      {"l1 symmetric gauss-seidel", [](Settings& s) { relax(s, 8, 8, 8); }},
      {"symmetric gauss-seidel", [](Settings& s) { relax(s, 6, 6, 6); }},
      {"l1 jacobi", [](Settings& s) { relax(s, 18, 18, 18); }},
      {"chebyshev", [](Settings& s) { relax(s, 16, 16, 16); }}}},
    {"Coarse Solver",
     {{"auto", [](Settings& s) { s.coarse = Settings::Coarse::Automatic; }},
      {"direct", [](Settings& s) { s.coarse = Settings::Coarse::Direct; }},
      {"relaxation", [](Settings& s) { s.coarse = Settings::Coarse::Relaxation; }}}}};

std::vector<std::string> allNames() {
  std::vector<std::string> names;
  for (const auto& row : realRows) names.emplace_back(row.name);
  for (const auto& row : wordRows) names.emplace_back(row.name);
  for (const auto& row : wholeRows) names.emplace_back(row.name);
  return names;
}

template <class Row>
const Row* find(const std::vector<Row>& rows, const std::string& name) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const Row& row) { return normalizedName(row.name) == normalizedName(name); });
  return found == rows.end() ? nullptr : &*found;
}

std::string textOf(const Teuchos::ParameterEntry& entry) {
  if (entry.isType<bool>()) return Teuchos::getValue<bool>(entry) ? "'true'" : "'false'";
  return entry.isList() ? "a list" : fmt::format("'{}'", Teuchos::toString(entry.getAny(false)));
}

/// Sets one number; what is wrong with it, or an empty string.
template <class Number>
std::string setNumber(const NumberRow<Number>& row, const Teuchos::ParameterEntry& entry, Settings& settings) {
  const bool whole = entry.isType<int>();
  const bool real = std::is_same_v<Number, double> && entry.isType<double>();
  const double value = whole ? Teuchos::getValue<int>(entry) : real ? Teuchos::getValue<double>(entry) : 0.0;
  if ((whole || real) && value >= row.least && value <= row.most) {
    settings.*row.value = static_cast<Number>(value);
    return "";
  }
  return fmt::format("found {}; allowed: {} {} to {}", textOf(entry),
                     std::is_same_v<Number, int> ? "a whole number," : "a number,", row.least, row.most);
}

std::string setWord(const WordRow& row, const Teuchos::ParameterEntry& entry, Settings& settings) {
  std::vector<std::string> words;
  for (const auto& [word, set] : row.words) {
    words.push_back(word);
    if (!entry.isType<std::string>()) continue;
    if (normalizedName(Teuchos::getValue<std::string>(entry)) != normalizedName(word)) continue;
    set(settings);
    return "";
  }
  const std::string near =
      entry.isType<std::string>() ? didYouMean(Teuchos::getValue<std::string>(entry), words) : std::string();
  return fmt::format("found {}; allowed: {}{}", textOf(entry), fmt::join(words, ", "), near);
}

std::optional<ParameterProblem> read(const Teuchos::ParameterList& own, Settings& settings) {
  for (const auto& item : own) {
    const std::string& name = item.first;
    std::string wrong;
    if (const auto* word = find(wordRows, name)) {
      wrong = setWord(*word, item.second, settings);
    } else if (const auto* whole = find(wholeRows, name)) {
      wrong = setNumber(*whole, item.second, settings);
    } else if (const auto* real = find(realRows, name)) {
      wrong = setNumber(*real, item.second, settings);
    } else {
      const auto names = allNames();
      wrong =
          fmt::format("unknown parameter '{}'; allowed: {}{}", name, fmt::join(names, ", "), didYouMean(name, names));
    }
    if (!wrong.empty()) return ParameterProblem{name, wrong};
  }
  return std::nullopt;
}

/// Of this rank.
bool ownRowsSumToZero(const Matrix& A) {
  constexpr double rounding = 1e-10;
  const auto matrix = compat::hostMatrix(A);
  for (std::size_t i = 0; i < compat::localNumRows(A); ++i) {
    double sum = 0, size = 0;
    for (auto k = matrix->graph.row_map(i); k < matrix->graph.row_map(i + 1); ++k) {
      sum += matrix->values(k);
      size += std::abs(matrix->values(k));
    }
    if (std::abs(sum) > rounding * size) return false;
  }
  return true;
}

/// Collective.
bool rowsSumToZero(const Matrix& A) {
  const int here = ownRowsSumToZero(A) ? 1 : 0;
  int all = 0;
  Teuchos::reduceAll<int, int>(*A.getComm(), Teuchos::REDUCE_MIN, 1, &here, &all);
  return all == 1;
}

}  // namespace

std::string howToGetBoomerAmg() {
  return "boomeramg needs hypre, which this build has not. Debian: apt-get install libhypre-dev, then ./capstan "
         "build; with CMake alone: -DCAPSTAN_HYPRE=ON";
}

std::optional<ParameterProblem> boomerAmgProblem(const Teuchos::ParameterList& own) {
  BoomerAmgSettings settings;
  return read(own, settings);
}

BoomerAmgSettings boomerAmgSettings(const Teuchos::ParameterList& own, const Matrix& A) {
  BoomerAmgSettings settings;
  if (const auto wrong = read(own, settings)) throw std::invalid_argument(wrong->parameter + ": " + wrong->message);
  if (settings.coarse == Settings::Coarse::Automatic) {
    settings.coarse = rowsSumToZero(A) ? Settings::Coarse::Relaxation : Settings::Coarse::Direct;
  }
  return settings;
}

}  // namespace capstan::preconditioning
