#include "adapters/plugin/other_trilinos.hpp"

#include <string>

#include "adapters/preload/loaded_libraries.hpp"
#include "belos_ext/support/said_once.hpp"

namespace capstan {
namespace {

/// What there is to say of it, or nothing.
std::string aboutProgram() {
  const link_map* const own = libraryThatHolds(reinterpret_cast<const void*>(&tellOfOtherTrilinos));
  if (own == nullptr) return {};
  return aboutOtherTrilinos(fileName(own->l_name), textsOf(*own, DT_NEEDED), loadedLibraries(*own));
}

}  // namespace

bool programHasOtherTrilinos() { return !aboutProgram().empty(); }

bool tellOfOtherTrilinos() {
  const std::string text = aboutProgram();
  if (!text.empty() && isFirstOfItsRun()) sayOnce(text);
  return !text.empty();
}

}  // namespace capstan
