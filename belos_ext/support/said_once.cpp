#include "belos_ext/support/said_once.hpp"

#include <Teuchos_GlobalMPISession.hpp>
#include <iostream>
#include <mutex>
#include <set>

namespace capstan {

namespace {

struct Said {
  std::mutex mutex;
  std::set<std::string> texts;
};

/// Never destroyed: a solver may outlive the statics of this library.
Said& said() {
  static Said* const instance = new Said;
  return *instance;
}

}  // namespace

bool firstTime(const std::string& what) {
  const std::lock_guard<std::mutex> lock(said().mutex);
  return said().texts.insert(what).second;
}

bool speaksForAll() { return Teuchos::GlobalMPISession::getRank() == 0; }

void sayOnce(const std::string& message) { sayOnceFor(message, message); }

void sayOnceFor(const std::string& topic, const std::string& message) {
  if (!firstTime("said: " + topic)) return;
  const bool named = message.rfind("Capstan", 0) == 0;  // as messages of exceptions are
  std::cerr << (named ? "" : "Capstan: ") + message + "\n" << std::flush;
}

void forgetWhatWasSaid() {
  const std::lock_guard<std::mutex> lock(said().mutex);
  said().texts.clear();
}

}  // namespace capstan
