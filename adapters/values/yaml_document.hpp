#pragma once
/// \file
/// From text to one document of YAML, for all adapters: what yaml-cpp reads and nobody can mean is refused here.

#include <yaml-cpp/yaml.h>

#include <string>

namespace capstan {

/// The one document of a text; a null node where the text holds none. Local.
///
/// Besides malformed text it refuses a second document, an alias inside what it names (a node without end), and aliases
/// that make a short text unfold into more than a million values.
/// \throws YAML::ParserException with the place in the text and the reason
YAML::Node yamlDocument(const std::string& text);

}  // namespace capstan
