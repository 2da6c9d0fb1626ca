#include "adapters/plugin/other_trilinos.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "belos_ext/support/said_once.hpp"

namespace capstan {
namespace {

bool startsWith(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

/// The texts that the dynamic section of a loaded object has under a tag: DT_NEEDED, DT_SONAME.
std::vector<std::string> textsOf(const link_map& object, ElfW(Sxword) tag) {
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_STRTAB) continue;
    // The loader has made an address of it, but where the section is read-only.
    const auto value = entry->d_un.d_ptr;
    strings = reinterpret_cast<const char*>(value < object.l_addr ? value + object.l_addr : value);
  }
  std::vector<std::string> texts;
  for (const ElfW(Dyn)* entry = object.l_ld; strings != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == tag) texts.emplace_back(strings + entry->d_un.d_val);
  }
  return texts;
}

std::string fileName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

/// The library that this code is part of, or null.
const link_map* ownLibrary() {
  Dl_info place;
  link_map* object = nullptr;
  const auto* here = reinterpret_cast<const void*>(&tellOfOtherTrilinos);
  return dladdr1(here, &place, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0 ? nullptr : object;
}

/// What of the process is of another Trilinos than this library.
std::vector<std::string> othersLoaded() {
  const link_map* const own = ownLibrary();
  if (own == nullptr) return {};
  std::vector<std::string> loaded;
  const link_map* first = own;
  while (first->l_prev != nullptr) first = first->l_prev;
  for (const link_map* one = first; one != nullptr; one = one->l_next) {
    for (const std::string& name : textsOf(*one, DT_SONAME)) loaded.push_back(name);
  }
  return otherTrilinos(textsOf(*own, DT_NEEDED), loaded);
}

/// Of the first of a launcher's ranks, or of a program without a launcher.
bool isFirstOfItsRun() {
  for (const char* variable :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "MV2_COMM_WORLD_RANK"}) {
    if (const char* rank = std::getenv(variable)) return std::strcmp(rank, "0") == 0;
  }
  return true;
}

}  // namespace

std::string stemOfLibrary(const std::string& file) {
  std::string stem = file.substr(0, file.find(".so"));
  for (const char* start : {"lib", "trilinos_"}) {
    if (startsWith(stem, start)) stem.erase(0, std::strlen(start));
  }
  return stem;
}

std::vector<std::string> otherTrilinos(const std::vector<std::string>& own, const std::vector<std::string>& loaded) {
  std::vector<std::string> others;
  for (const std::string& file : loaded) {
    const std::string stem = stemOfLibrary(file);
    if (stem != "tpetra" && stem != "mpi" && !startsWith(stem, "belos")) continue;
    if (std::find(own.begin(), own.end(), file) != own.end()) continue;
    const auto mine =
        std::find_if(own.begin(), own.end(), [&](const std::string& name) { return stemOfLibrary(name) == stem; });
    if (mine != own.end()) others.push_back(file + " (not " + *mine + ")");
  }
  return others;
}

bool programHasOtherTrilinos() { return !othersLoaded().empty(); }

bool tellOfOtherTrilinos() {
  const std::vector<std::string> others = othersLoaded();
  if (others.empty()) return false;
  if (!isFirstOfItsRun()) return true;
  std::string text;
  bool trilinos = false;
  for (const std::string& other : others) {
    text += (text.empty() ? "" : ", ") + other;
    trilinos = trilinos || stemOfLibrary(other) != "mpi";
  }
  const std::string what = trilinos ? "Trilinos" : "MPI";
  sayOnce("this program uses another " + what + " than " + fileName(ownLibrary()->l_name) + " was built with: " + text +
          ". Its solves stay as they are. Build Capstan with the program's " + what + ": see docs/troubleshooting.md");
  return true;
}

}  // namespace capstan
