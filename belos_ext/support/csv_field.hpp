#pragma once
/// \file
/// One field of a CSV file.

#include <string>

namespace capstan {

/// Text as one field of a CSV file: quoted where it holds a comma, a quote or the end of a line. Local.
inline std::string csvField(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace capstan
