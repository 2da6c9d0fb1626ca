#pragma once
/// \file
/// Changes to a deck from the command line, `--set key=value`.

#include <yaml-cpp/yaml.h>

#include <string>
#include <vector>

#include "adapters/deck/diagnostics.hpp"

namespace capstan::deck {

/// Applies one "key=value" to the deck's root node; see loadDeck for what a key is. `solver` restricts keys meant for
/// linear solvers to the one of this name (empty or "all": every one). Local.
void applyOverride(YAML::Node root, const std::string& assignment, const std::string& solver, Diagnostics& diagnostics);

}  // namespace capstan::deck
