#include "belos_ext/parameters/parameter_overlay.hpp"

#include <mutex>
#include <utility>

namespace capstan {

namespace {

struct Installed {
  std::mutex mutex;
  ParameterOverlay overlay;
};

/// Made on first use: library constructors install the overlay before this file's statics would exist.
Installed& installed() {
  static Installed* const instance = new Installed;
  return *instance;
}

}  // namespace

void setParameterOverlay(ParameterOverlay overlay) {
  const std::lock_guard<std::mutex> lock(installed().mutex);
  installed().overlay = std::move(overlay);
}

Teuchos::RCP<const Teuchos::ParameterList> parameterOverlay(const SolveFacts& facts) {
  ParameterOverlay overlay;
  {
    const std::lock_guard<std::mutex> lock(installed().mutex);
    overlay = installed().overlay;
  }
  return overlay ? overlay(facts) : Teuchos::null;
}

}  // namespace capstan
