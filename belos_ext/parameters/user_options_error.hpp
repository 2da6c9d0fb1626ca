#pragma once
/// \file
/// The error of what the user says outside the application. Adapters tell it from errors of the application's input,
/// whose file and line would lead the user to the wrong place.

#include <stdexcept>
#include <string>

namespace capstan {

/// CAPSTAN_OPTIONS, or the file that CAPSTAN_OPTIONS_FILE names, is wrong, or does not go with what the application
/// sets. The message begins with userOptionsPrefix and names the source.
class UserOptionsError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// Ranks send one another the message alone: it tells the kind of error.
constexpr const char* userOptionsPrefix = "Capstan options: ";

/// Throws \p message as a UserOptionsError where it is one, else as std::invalid_argument.
[[noreturn]] inline void throwMisuse(const std::string& message) {
  if (message.rfind(userOptionsPrefix, 0) == 0) throw UserOptionsError(message);
  throw std::invalid_argument(message);
}

}  // namespace capstan
