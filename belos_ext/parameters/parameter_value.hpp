#pragma once

/// \file
/// Reading one value out of a Teuchos::ParameterEntry, with the leniency Belos' users expect and no more.
///
/// All functions are local, and throw std::invalid_argument with the reason alone ("is not an integer").

#include <Teuchos_ParameterEntry.hpp>
#include <complex>
#include <string>
#include <vector>

namespace capstan {

/// Whether the entry holds exactly a T.
template <class T>
bool holds(const Teuchos::ParameterEntry& entry) {
  return entry.getAny(false).type() == typeid(T);
}

/// Any integer type, an integral floating-point number, or a string that spells an integer.
int toInt(const Teuchos::ParameterEntry& entry);

/// Any number, or a string that spells one. Infinity is a number, NaN is not.
double toReal(const Teuchos::ParameterEntry& entry);

/// A bool, or a string that spells one (true, false, yes, no).
bool toBool(const Teuchos::ParameterEntry& entry);

/// A string of any of C++'s kinds.
std::string toText(const Teuchos::ParameterEntry& entry);

/// Whether the entry is a string that, but for case, '_' and '-', is `word`.
bool isWord(const Teuchos::ParameterEntry& entry, const std::string& word);

/// One number, a Teuchos::Array of numbers (real or complex) or of strings that spell them, or a string such as
/// "[1, 2+3i, 2-3i]".
std::vector<std::complex<double>> toComplexList(const Teuchos::ParameterEntry& entry);

/// The value as a message shows it; strings in quotes, objects by their type.
std::string showValue(const Teuchos::ParameterEntry& entry);

/// A number as briefly as it can be read back: 1e-08 rather than 0.00000001.
std::string showReal(double value);
std::string showComplex(std::complex<double> value);

}  // namespace capstan
