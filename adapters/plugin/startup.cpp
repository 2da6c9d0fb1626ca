// Registers the solvers when the library is loaded or the program starts.
//
// Belos keeps the list of factories in a static member of a template. Whoever is initialised first constructs it, under
// a guard that all libraries and the program share; before that, the list is zero bytes, to which a factory can be
// added but which the construction then overwrites. register.cpp has that construction among its own initialisers, and
// this file is a separate one, linked after it, so that the construction has taken place when it runs.

#include <cstdio>
#include <exception>

#include "adapters/plugin/other_trilinos.hpp"
#include "adapters/plugin/register.hpp"

extern "C" void capstan_register_solvers() {
  try {
    // Whatever Belos' list of factories is in such a process, it is not the program's.
    if (!capstan::tellOfOtherTrilinos()) capstan::registerSolvers();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "Capstan: could not register its solvers with Belos: %s\n", error.what());
  }
}

namespace {

struct Registration {
  Registration() { capstan_register_solvers(); }
};

[[maybe_unused]] const Registration registration;

}  // namespace
