#include "perf/latency/settings.hpp"

#include <unistd.h>

#include <cctype>
#include <cmath>
#include <locale>
#include <sstream>
#include <stdexcept>

namespace capstan::latency {
namespace {

[[noreturn]] void fail(const std::string& variable, const std::string& value, const std::string& allowed) {
  throw std::invalid_argument(variable + ": value '" + value + "' is not allowed; allowed: " + allowed);
}

Clock::duration readLatency(const std::string& variable, const std::string& value) {
  std::istringstream text(value);
  text.imbue(std::locale::classic());
  double microseconds = 0;
  // Characters are looked at because a stream would skip blanks, and take "-0", "+1" and hexadecimal numbers.
  const bool plain = std::isdigit(static_cast<unsigned char>(value[0])) != 0 &&
                     value.find_first_not_of("0123456789.e+-") == std::string::npos;
  if (!plain || !(text >> microseconds) || !text.eof() || !(microseconds <= 1e7)) {
    fail(variable, value, "a number of microseconds from 0 to 1e7, without a unit");
  }
  // Rounded up: an operation must never be early.
  return std::chrono::nanoseconds(static_cast<long long>(std::ceil(microseconds * 1e3)));
}

/// Whether the value is the first of two words.
bool readChoice(const std::string& variable, const std::string& value, const std::string& yes, const std::string& no) {
  if (value != yes && value != no) fail(variable, value, no + " or " + yes);
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
  for (const auto& [name, value] : variables) {
    if (value.empty()) fail(name, value, "something, or leave the variable unset");
    if (name == "CAPSTAN_LATENCY_US") {
      settings.on = true;
      settings.latency = readLatency(name, value);
    } else if (name == "CAPSTAN_LATENCY_WAIT") {
      settings.yield = readChoice(name, value, "yield", "spin");
    } else if (name == "CAPSTAN_LATENCY_COUNT") {
      settings.count = readChoice(name, value, "yes", "no");
    } else {
      throw std::invalid_argument(name + " (value '" + value +
                                  "'): unknown variable; known: CAPSTAN_LATENCY_US, CAPSTAN_LATENCY_WAIT, "
                                  "CAPSTAN_LATENCY_COUNT");
    }
  }
  return settings;
}

}  // namespace capstan::latency
