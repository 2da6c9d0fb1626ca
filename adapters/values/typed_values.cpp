#include "adapters/values/typed_values.hpp"

#include <yaml-cpp/yaml.h>

#include <Teuchos_Array.hpp>
#include <string>

#include "belos_ext/parameters/parameter_value.hpp"

namespace capstan {
namespace {

/// yaml-cpp gives plain scalars the tag "?".
bool isQuoted(const YAML::Node& scalar) { return scalar.Tag() == "!"; }

template <class T>
bool decode(const YAML::Node& scalar, T& value) {
  return !isQuoted(scalar) && YAML::convert<T>::decode(scalar, value);
}

}  // namespace

Teuchos::ParameterEntry typedScalar(const YAML::Node& scalar, const TruthWords& words) {
  int whole = 0;
  double real = 0.0;
  if (isQuoted(scalar)) return Teuchos::ParameterEntry(scalar.Scalar());
  if (decode(scalar, whole)) return Teuchos::ParameterEntry(whole);
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
