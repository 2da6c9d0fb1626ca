#include "belos_ext/parameters/parameter_value.hpp"

#include <fmt/format.h>

#include <Teuchos_Array.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "belos_ext/support/nearest_match.hpp"

namespace capstan {

namespace {

using Teuchos::ParameterEntry;

template <class T>
const T& valueOf(const ParameterEntry& entry) {
  return Teuchos::getValue<T>(entry);
}

template <class... Ts>
std::optional<long double> numberOfTypes(const ParameterEntry& entry) {
  std::optional<long double> result;
  ((holds<Ts>(entry) ? (void)(result = static_cast<long double>(valueOf<Ts>(entry))) : (void)0), ...);
  return result;
}

std::optional<std::string> stringOf(const ParameterEntry& entry) {
  if (holds<std::string>(entry)) return valueOf<std::string>(entry);
  if (holds<const char*>(entry)) return std::string(valueOf<const char*>(entry));
  if (holds<char*>(entry)) return std::string(valueOf<char*>(entry));
  return std::nullopt;
}

std::optional<double> spelledReal(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str() + first, &end);
  while (*end == ' ' || *end == '\t') ++end;
  if (end == text.c_str() + first || *end != '\0') return std::nullopt;
  return value;
}

std::optional<long double> numberOf(const ParameterEntry& entry) {
  if (auto value = numberOfTypes<int, long, long long, short, unsigned, unsigned long, unsigned long long,
                                 unsigned short, double, float, long double>(entry)) {
    return value;
  }
  if (const auto text = stringOf(entry)) {
    if (const auto value = spelledReal(*text)) return static_cast<long double>(*value);
  }
  return std::nullopt;
}

/// "2", "3i", "2+3i", "2 - 3i", "(2,3)".
std::complex<double> spelledComplex(const std::string& text) {
  const auto fail = [&]() -> std::complex<double> {
    throw std::invalid_argument(fmt::format("has \"{}\", which is not a number such as 1.5 or 2+3i", text));
  };
  std::string s;
  for (const char c : text) {
    if (c != ' ' && c != '\t') s += c;
  }
  std::istringstream pair(s);
  std::complex<double> whole;
  if (pair >> whole && pair.peek() == std::istream::traits_type::eof()) return whole;
  const auto isUnit = [](const char* p) { return (*p == 'i' || *p == 'j') && p[1] == '\0'; };
  char* end = nullptr;
  const double first = std::strtod(s.c_str(), &end);
  if (end == s.c_str()) return fail();
  if (*end == '\0') return {first, 0.0};
  if (isUnit(end)) return {0.0, first};
  const char* const second = end;
  const double imaginary = std::strtod(second, &end);
  if (end == second || !isUnit(end) || (*second != '+' && *second != '-')) return fail();
  return {first, imaginary};
}

template <class Range>
std::vector<std::complex<double>> complexOf(const Range& range) {
  std::vector<std::complex<double>> result;
  for (const auto& value : range) result.emplace_back(value);
  return result;
}

std::vector<std::complex<double>> spelledComplexList(const std::string& text) {
  std::string inner = text;
  const std::size_t first = inner.find_first_not_of(" \t");
  const std::size_t last = inner.find_last_not_of(" \t");
  if (first != std::string::npos && (inner[first] == '[' || inner[first] == '{')) {
    const char closing = inner[first] == '[' ? ']' : '}';
    if (inner[last] != closing || last == first) {
      throw std::invalid_argument("is a list without its closing bracket");
    }
    inner = inner.substr(first + 1, last - first - 1);
  }
  std::vector<std::complex<double>> result;
  std::string item;
  int depth = 0;
  for (const char c : inner + ",") {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      result.push_back(spelledComplex(item));
      item.clear();
    } else {
      item += c;
    }
  }
  return result;
}

/// "[1.5, 2]" of an array of T, each item with all its digits; nothing where the entry holds something else.
template <class T, class Show>
std::optional<std::string> shownItems(const ParameterEntry& entry, const Show& show) {
  if (!holds<Teuchos::Array<T>>(entry)) return std::nullopt;
  std::string text;
  for (const T& value : valueOf<Teuchos::Array<T>>(entry)) text += (text.empty() ? "" : ", ") + show(value);
  return "[" + text + "]";
}

}  // namespace

int toInt(const ParameterEntry& entry) {
  const auto value = numberOf(entry);
  if (!value) throw std::invalid_argument("is not an integer");
  if (!std::isfinite(*value) || std::trunc(*value) != *value) throw std::invalid_argument("is not an integer");
  if (*value < std::numeric_limits<int>::min() || *value > std::numeric_limits<int>::max()) {
    throw std::invalid_argument("is out of range");
  }
  return static_cast<int>(*value);
}

double toReal(const ParameterEntry& entry) {
  const auto value = numberOf(entry);
  if (!value || std::isnan(*value)) throw std::invalid_argument("is not a number");
  return static_cast<double>(*value);
}

bool toBool(const ParameterEntry& entry) {
  if (holds<bool>(entry)) return valueOf<bool>(entry);
  if (isWord(entry, "true") || isWord(entry, "yes")) return true;
  if (isWord(entry, "false") || isWord(entry, "no")) return false;
  throw std::invalid_argument("is neither true nor false");
}

std::string toText(const ParameterEntry& entry) {
  if (auto text = stringOf(entry)) return *text;
  throw std::invalid_argument("is not a string");
}

bool isWord(const ParameterEntry& entry, const std::string& word) {
  const auto text = stringOf(entry);
  return text && normalizedName(*text) == normalizedName(word);
}

std::vector<std::complex<double>> toComplexList(const ParameterEntry& entry) {
  using Complex = std::complex<double>;
  if (holds<Teuchos::Array<double>>(entry)) return complexOf(valueOf<Teuchos::Array<double>>(entry));
  if (holds<Teuchos::Array<int>>(entry)) return complexOf(valueOf<Teuchos::Array<int>>(entry));
  if (holds<Teuchos::Array<Complex>>(entry)) return complexOf(valueOf<Teuchos::Array<Complex>>(entry));
  if (holds<Complex>(entry)) return {valueOf<Complex>(entry)};
  std::vector<Complex> result;
  if (holds<Teuchos::Array<std::string>>(entry)) {
    for (const std::string& item : valueOf<Teuchos::Array<std::string>>(entry)) result.push_back(spelledComplex(item));
    return result;
  }
  if (const auto text = stringOf(entry)) return spelledComplexList(*text);
  if (const auto number = numberOf(entry)) return {Complex(static_cast<double>(*number), 0.0)};
  throw std::invalid_argument("is not a list of numbers");
}

std::string showReal(double value) { return fmt::format("{}", value); }

std::string showComplex(std::complex<double> value) {
  if (value.imag() == 0.0) return showReal(value.real());
  return fmt::format("{}{:+}i", value.real(), value.imag());
}

std::string showValue(const ParameterEntry& entry) {
  if (entry.isList()) return "a sublist";
  if (const auto text = stringOf(entry)) return "\"" + *text + "\"";
  if (holds<bool>(entry)) return valueOf<bool>(entry) ? "true" : "false";
  if (holds<double>(entry)) return showReal(valueOf<double>(entry));
  if (holds<float>(entry)) return fmt::format("{}", valueOf<float>(entry));
  if (const auto number = numberOf(entry)) return fmt::format("{}", static_cast<double>(*number));
  if (auto list = shownItems<std::complex<double>>(entry, showComplex)) return *list;
  if (auto list = shownItems<double>(entry, showReal)) return *list;
  if (entry.isArray()) {
    std::ostringstream text;
    entry.leftshift(text, false);
    return text.str();
  }
  return "an object of type " + entry.getAny(false).typeName();
}

}  // namespace capstan
