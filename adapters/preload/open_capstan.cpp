// libcapstan_preload.so: is preloaded in place of libcapstan.so, and opens it if it goes together with the program's
// Belos. The libraries that libcapstan.so needs would else be in the process beside the program's own before any of our
// code runs: another Trilinos there gets its functions from the first, and a missing function ends the process.
//
// It needs the standard library alone, and never throws: a program that it cannot help goes on as it is.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "adapters/preload/library_file.hpp"
#include "adapters/preload/loaded_libraries.hpp"

namespace capstan {
namespace {

void say(const std::string& text) {
  if (isFirstOfItsRun()) std::fprintf(stderr, "Capstan: %s\n", text.c_str());
}

/// A program without a library of Belos may have Belos inside. One with Capstan inside needs nothing.
void lookInside(const std::string& program) {
  if (!isFirstOfItsRun() || !fileHolds(program, "N5Belos13SolverManager") ||
      fileHolds(program, "CAPSTAN GMRES S-STEP PIPELINE")) {
    return;
  }
  say("Belos is linked into this program statically, and what is preloaded cannot reach it. Its solves stay as they "
      "are. Link "
      "Capstan::capstan into it: see docs/belos.md");
}

/// libcapstan.so beside a file, by the name that programs ask for, else by that for developers; packages for users need
/// not hold the latter.
std::string capstanBeside(const std::string& path) {
  const std::string folder = path.substr(0, path.size() - fileName(path).size()), library = folder + CAPSTAN_SONAME;
  return access(library.c_str(), F_OK) == 0 ? library : folder + "libcapstan.so";
}

void openCapstan() {
  const link_map* const own = libraryThatHolds(reinterpret_cast<const void*>(&openCapstan));
  if (own == nullptr) return;
  const std::vector<std::string> loaded = loadedLibraries(*own);
  if (std::none_of(loaded.begin(), loaded.end(), isOfBelos)) return lookInside("/proc/self/exe");
  const std::string library = capstanBeside(own->l_name);
  const std::string another = aboutOtherTrilinos(fileName(library), neededBy(library), loaded);
  if (!another.empty()) return say(another);
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    say(std::string("it does not fit this program, whose solves stay as they are: ") + dlerror() +
        ". A function that is missing has another name where another compiler made Trilinos: see "
        "docs/troubleshooting.md");
  }
}

struct AtStart {
  AtStart() {
    try {
      openCapstan();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "Capstan: %s\n", error.what());
    }
  }
};

[[maybe_unused]] const AtStart atStart;

}  // namespace
}  // namespace capstan
