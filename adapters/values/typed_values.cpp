#include "adapters/values/typed_values.hpp"

#include <yaml-cpp/yaml.h>

#include <Teuchos_Array.hpp>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>

#include "belos_ext/parameters/parameter_value.hpp"

namespace capstan {
namespace {

/// yaml-cpp gives plain scalars the tag "?".
bool isQuoted(const YAML::Node& scalar) { return scalar.Tag() == "!"; }

bool decode(const YAML::Node& scalar, double& value) {
  return !isQuoted(scalar) && YAML::convert<double>::decode(scalar, value);
}

}  // namespace

// yaml-cpp itself takes a leading zero for an octal number, as YAML 1.1 did.
std::optional<int> wholeNumber(const std::string& text) {
  const bool sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  std::string_view digits = std::string_view(text).substr(sign ? 1 : 0);
  const std::string_view prefix = digits.substr(0, 2);
  const int base = prefix == "0o" ? 8 : prefix == "0x" ? 16 : 10;
  if (base != 10) digits.remove_prefix(2);
  long long value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.front() == '-') return std::nullopt;
  if (sign && text[0] == '-') value = -value;
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(value);
}

Teuchos::ParameterEntry typedScalar(const YAML::Node& scalar, const TruthWords& words) {
  double real = 0.0;
  if (isQuoted(scalar)) return Teuchos::ParameterEntry(scalar.Scalar());
  if (const auto whole = wholeNumber(scalar.Scalar())) return Teuchos::ParameterEntry(*whole);
  if (decode(scalar, real)) return Teuchos::ParameterEntry(real);
  if (const auto truth = words.valueOf(scalar.Scalar())) return Teuchos::ParameterEntry(*truth);
  return Teuchos::ParameterEntry(scalar.Scalar());
}

Teuchos::ParameterEntry typedSequence(const YAML::Node& sequence) {
  Teuchos::Array<double> numbers;
  Teuchos::Array<std::string> words;
  for (const YAML::Node& item : sequence) {
    double number = 0.0;
    words.push_back(item.IsScalar() ? item.Scalar() : std::string("a nested value"));
    if (item.IsScalar() && decode(item, number)) numbers.push_back(number);
  }
  return numbers.size() == words.size() ? Teuchos::ParameterEntry(numbers) : Teuchos::ParameterEntry(words);
}

Teuchos::ParameterEntry matchingNumber(const Teuchos::ParameterEntry& value, const Teuchos::ParameterEntry& wanted) {
  if (!holds<double>(wanted) || !holds<int>(value)) return value;
  return Teuchos::ParameterEntry(static_cast<double>(Teuchos::getValue<int>(value)));
}

}  // namespace capstan
