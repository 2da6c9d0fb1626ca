#include "perf/latency/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace capstan::latency {
namespace {

const char* const fixedName = "CAPSTAN_LATENCY_US";
const char* const modelName = "CAPSTAN_LATENCY_MODEL";
const char* const operationsName = "CAPSTAN_LATENCY_OPERATIONS";
const char* const waitName = "CAPSTAN_LATENCY_WAIT";

using Units = std::vector<std::pair<std::string, double>>;
const Units timeUnits = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
const Units rateUnits = {{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};
constexpr double longestSeconds = 10;

/// One "key=value" of a variable, or a whole variable (empty key), with what an error has to say about it.
struct Item {
  std::string variable, key, value;

  [[noreturn]] void fail(const std::string& allowed) const {
    const std::string place = key.empty() ? variable : variable + ", key '" + key + "'";
    throw std::invalid_argument(place + ": value '" + value + "' is not allowed; allowed: " + allowed);
  }
};

std::string unitNames(const Units& units) {
  std::string names;
  for (const auto& unit : units) names += (names.empty() ? "" : ", ") + unit.first;
  return names;
}

/// Reads a plain decimal number and leaves what follows it in `rest`.
double leadingNumber(const Item& item, const std::string& allowed, std::string& rest) {
  std::istringstream text(item.value);
  text.imbue(std::locale::classic());
  double number = 0;
  // The first character is looked at because a stream would skip blanks, and take "-0" and "+1".
  const bool starts = !item.value.empty() && (std::isdigit(static_cast<unsigned char>(item.value[0])) != 0);
  std::size_t digits = item.value.find_first_not_of("0123456789.");
  if (digits != std::string::npos && item.value[digits] == 'e') {
    const std::size_t exponent = item.value.find_first_not_of("0123456789+-", digits + 1);
    digits = exponent;
  }
  text.str(item.value.substr(0, digits));
  if (!starts || !(text >> number) || !text.eof() || !std::isfinite(number)) item.fail(allowed);
  rest = digits == std::string::npos ? "" : item.value.substr(digits);
  return number;
}

double withUnit(const Item& item, const Units& units, const std::string& allowed) {
  std::string rest;
  const double number = leadingNumber(item, allowed, rest);
  for (const auto& [name, factor] : units) {
    if (rest == name) return number * factor;
  }
  item.fail(allowed);
}

double seconds(const Item& item) {
  const std::string allowed = "a number from 0 to 10 s with one of the units " + unitNames(timeUnits);
  const double value = withUnit(item, timeUnits, allowed);
  if (value > longestSeconds) item.fail(allowed);
  return value;
}

double secondsPerByte(const Item& item) {
  const std::string allowed = "a number above 0 with one of the units " + unitNames(rateUnits);
  const double value = withUnit(item, rateUnits, allowed);
  if (!(value > 0)) item.fail(allowed);
  return 1 / value;
}

template <class Integer>
Integer whole(const Item& item, Integer least, Integer most) {
  const std::string allowed = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  std::istringstream text(item.value);
  text.imbue(std::locale::classic());
  Integer number = 0;
  const bool digits = !item.value.empty() && item.value.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || !(text >> number) || number < least || number > most) item.fail(allowed);
  return number;
}

Noise noise(const Item& item) {
  const std::string allowed = "none, exponential:<mean> or uniform:<largest>, for example exponential:5us";
  if (item.value == "none") return {};
  const std::size_t colon = item.value.find(':');
  const std::string kind = item.value.substr(0, colon);
  if (colon == std::string::npos || (kind != "exponential" && kind != "uniform")) item.fail(allowed);
  const Item scale = {item.variable, item.key + "=" + kind, item.value.substr(colon + 1)};
  return {kind == "uniform" ? Noise::Kind::Uniform : Noise::Kind::Exponential, seconds(scale)};
}

using Readers = std::map<std::string, std::function<void(const Item&)>>;

/// Hands every "key=value" of a comma-separated list to its reader. Returns the keys seen.
std::vector<std::string> readList(const std::string& variable, const std::string& list, const Readers& readers) {
  std::string allowed;
  for (const auto& reader : readers) allowed += (allowed.empty() ? "" : ", ") + reader.first;
  std::vector<std::string> seen;
  std::istringstream text(list);
  std::string pair;
  while (std::getline(text, pair, ',')) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos) Item{variable, "", pair}.fail("key=value pairs, keys " + allowed);
    const Item item = {variable, pair.substr(0, equals), pair.substr(equals + 1)};
    const auto reader = readers.find(item.key);
    if (reader == readers.end()) Item{variable, "", pair}.fail("keys " + allowed);
    if (std::count(seen.begin(), seen.end(), item.key) != 0) item.fail("each key once");
    reader->second(item);
    seen.push_back(item.key);
  }
  return seen;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void need(const std::string& variable, const std::string& value, const std::vector<std::string>& seen,
          const std::string& key) {
  if (!contains(seen, key)) Item{variable, "", value}.fail("a list with the key " + key);
}

CollectiveSettings readModel(const std::string& value) {
  CollectiveSettings model;
  model.on = true;
  model.fixed = false;
  const auto seen =
      readList(modelName, value,
               {{"alpha", [&](const Item& item) { model.alpha = seconds(item); }},
                {"beta", [&](const Item& item) { model.secondsPerByte = secondsPerByte(item); }},
                {"P", [&](const Item& item) { model.processes = whole<std::int64_t>(item, 1, 1LL << 40); }},
                {"noise", [&](const Item& item) { model.noise = noise(item); }},
                {"seed", [&](const Item& item) { model.seed = whole<std::uint64_t>(item, 0, ~0ULL); }}});
  need(modelName, value, seen, "alpha");
  if (contains(seen, "seed") && model.noise.kind == Noise::Kind::None) {
    Item{modelName, "", value}.fail("seed only together with noise");
  }
  return model;
}

CollectiveSettings readFixed(const std::string& value) {
  const Item item = {fixedName, "", value};
  const std::string allowed = "a number of microseconds from 0 to 1e7, without a unit";
  std::string rest;
  CollectiveSettings fixed;
  fixed.on = true;
  fixed.alpha = leadingNumber(item, allowed, rest) * 1e-6;
  if (!rest.empty() || fixed.alpha > longestSeconds) item.fail(allowed);
  return fixed;
}

/// True for `yes`, false for `no`, an error for anything else.
bool choose(const std::string& variable, const std::string& value, const std::string& no, const std::string& yes) {
  if (value != no && value != yes) Item{variable, "", value}.fail(no + " or " + yes);
  return value == yes;
}

}  // namespace

std::map<std::string, std::string> latencyVariables() {
  const std::string prefix = "CAPSTAN_LATENCY";
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos && text.compare(0, prefix.size(), prefix) == 0) {
      found[text.substr(0, equals)] = text.substr(equals + 1);
    }
  }
  return found;
}

Settings parseSettings(const std::map<std::string, std::string>& variables) {
  Settings settings;
  const std::map<std::string, std::function<void(const std::string&)>> readers = {
      {fixedName, [&](const std::string& value) { settings.collectives = readFixed(value); }},
      {modelName, [&](const std::string& value) { settings.collectives = readModel(value); }},
      {operationsName,
       [&](const std::string& value) {
         settings.barriers = choose(operationsName, value, "allreduce", "allreduce,barrier");
       }},
      {waitName, [&](const std::string& value) { settings.yield = choose(waitName, value, "spin", "yield"); }}};
  std::string names;
  for (const auto& reader : readers) names += (names.empty() ? "" : ", ") + reader.first;
  for (const auto& [name, value] : variables) {
    const auto reader = readers.find(name);
    if (reader == readers.end()) {
      throw std::invalid_argument(name + " (value '" + value + "'): unknown variable; known: " + names);
    }
    if (value.empty()) Item{name, "", value}.fail("something, or leave the variable unset");
    reader->second(value);
  }
  if (variables.count(fixedName) + variables.count(modelName) == 2) {
    Item{fixedName, "", variables.at(fixedName)}.fail(std::string("only without ") + modelName);
  }
  if (settings.barriers && !settings.collectives.on) {
    Item{operationsName, "", variables.at(operationsName)}.fail(std::string("barrier only with ") + fixedName + " or " +
                                                                modelName);
  }
  return settings;
}

}  // namespace capstan::latency
