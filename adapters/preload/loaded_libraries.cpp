#include "adapters/preload/loaded_libraries.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace capstan {
namespace {

bool startsWith(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

/// Whether it is MPI itself, by the names of Open MPI, MPICH and Cray, not one language's part of it, nor Cray's
/// transport for GPUs.
bool isMpi(const std::string& file) {
  const std::string stem = stemOfLibrary(file);
  if (stem == "mpi" || stem == "mpich") return true;
  const auto starts = [&stem](const char* start) { return startsWith(stem, start); };
  const auto parts = {"mpi_cxx", "mpi_mpifh", "mpi_usempi", "mpi_java", "mpi_gtl"};
  return starts("mpi_") && std::none_of(parts.begin(), parts.end(), starts);
}

/// Whether two libraries take the same place in a program.
bool areAlike(const std::string& one, const std::string& other) {
  return stemOfLibrary(one) == stemOfLibrary(other) || (isMpi(one) && isMpi(other));
}

bool holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string stemOfLibrary(const std::string& file) {
  std::string stem = file.substr(0, file.find(".so"));
  for (const char* start : {"lib", "trilinos_"}) {
    if (startsWith(stem, start)) stem.erase(0, std::strlen(start));
  }
  return stem;
}

bool isOfBelos(const std::string& file) {
  const std::string stem = stemOfLibrary(file);
  return stem == "tpetra" || startsWith(stem, "belos");
}

std::vector<std::string> otherTrilinos(const std::vector<std::string>& own, const std::vector<std::string>& loaded) {
  std::vector<std::string> others;
  for (const std::string& file : loaded) {
    if ((!isOfBelos(file) && !isMpi(file)) || holds(own, file)) continue;
    const auto mine =
        std::find_if(own.begin(), own.end(), [&](const std::string& name) { return areAlike(name, file); });
    if (mine != own.end()) others.push_back(file + " (not " + *mine + ")");
  }
  return others;
}

std::string aboutOtherTrilinos(const std::string& library, const std::vector<std::string>& own,
                               const std::vector<std::string>& loaded) {
  std::string text;
  const char* what = "MPI";
  for (const std::string& other : otherTrilinos(own, loaded)) {
    text += (text.empty() ? "" : ", ") + other;
    if (isOfBelos(other)) what = "Trilinos";
  }
  // Whatever its MPI is called.
  const auto mpi = std::find_if(own.begin(), own.end(), isMpi);
  if (text.empty() && mpi != own.end() && !holds(loaded, *mpi)) text = *mpi + " is not among its libraries";
  if (text.empty()) return {};
  return std::string("this program uses another ") + what + " than " + library + " was built with: " + text +
         ". Its solves stay as they are. Build Capstan with the program's " + what + ": see docs/troubleshooting.md";
}

const link_map* libraryThatHolds(const void* address) {
  Dl_info place;
  link_map* library = nullptr;
  const int found = dladdr1(address, &place, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP);
  return found == 0 ? nullptr : library;
}

std::vector<std::string> textsOf(const link_map& library, ElfW(Sxword) tag) {
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_STRTAB) continue;
    // The loader has made an address of it, but where the section is read-only.
    const auto value = entry->d_un.d_ptr;
    strings = reinterpret_cast<const char*>(value < library.l_addr ? value + library.l_addr : value);
  }
  std::vector<std::string> texts;
  for (const ElfW(Dyn)* entry = library.l_ld; strings != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == tag) texts.emplace_back(strings + entry->d_un.d_val);
  }
  return texts;
}

std::vector<std::string> loadedLibraries(const link_map& one) {
  std::vector<std::string> names;
  const link_map* first = &one;
  while (first->l_prev != nullptr) first = first->l_prev;
  for (const link_map* library = first; library != nullptr; library = library->l_next) {
    for (const std::string& name : textsOf(*library, DT_SONAME)) names.push_back(name);
  }
  return names;
}

std::string fileName(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

bool isFirstOfItsRun() {
  for (const char* variable :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID", "MV2_COMM_WORLD_RANK"}) {
    if (const char* rank = std::getenv(variable)) return std::strcmp(rank, "0") == 0;
  }
  return true;
}

}  // namespace capstan
