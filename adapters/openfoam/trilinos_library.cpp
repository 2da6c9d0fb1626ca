// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/trilinos_library.hpp"

#include <dlfcn.h>

#include <filesystem>

namespace capstan::foam {
namespace {

namespace fs = std::filesystem;

constexpr const char* libraryName = "libcapstanFoamTrilinos.so";

std::string lastError() {
  const char* const text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

/// The file of the library that this code is part of.
fs::path ownFile() {
  Dl_info info;
  return dladdr(reinterpret_cast<const void*>(&ownFile), &info) == 0 || info.dli_fname == nullptr ? "" : info.dli_fname;
}

/// Files to try, the last one by the loader's own search. A library that a link points to may have its mate beside it,
/// or beside the link.
std::vector<std::string> candidates() {
  std::vector<std::string> files;
  std::error_code ignored;
  const fs::path own = ownFile();
  for (const fs::path& file : {own, fs::canonical(own, ignored)}) {
    const fs::path beside = file.parent_path() / libraryName;
    if (file.has_parent_path() && fs::exists(beside, ignored)) return {beside.string()};
    if (file.has_parent_path() && (files.empty() || files.back() != beside)) files.push_back(beside.string());
  }
  files.emplace_back(libraryName);
  return files;
}

// RTLD_LOCAL: nobody else is to be bound to Trilinos, or to the Scotch, METIS, HYPRE and MUMPS that it brings.
// Not RTLD_DEEPBIND: it would pass by what is preloaded for MPI or for malloc.
void* open() {
  std::string tried;
  for (const std::string& file : candidates()) {
    if (void* const handle = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL)) return handle;
    tried += "\n    " + file + ": " + lastError();
  }
  throw LibraryError(std::string("cannot open ") + libraryName +
                     ", which holds the solvers and belongs beside libcapstanFoam.so. Tried:" + tried +
                     "\n    Set LD_LIBRARY_PATH to the folder that holds it, or install both libraries again");
}

const TrilinosSide& side() {
  void* const handle = open();
  const auto function = reinterpret_cast<TrilinosSideFunction>(dlsym(handle, trilinosSideFunction));
  const TrilinosSide* const found = function == nullptr ? nullptr : function(sideStamp);
  if (found != nullptr) return *found;
  Dl_info info;
  const bool known = function != nullptr && dladdr(reinterpret_cast<const void*>(function), &info) != 0;
  throw LibraryError(std::string(known ? info.dli_fname : libraryName) + " is of another release than " +
                     ownFile().string() + ": build the one from the source of the other");
}

}  // namespace

const TrilinosSide& trilinos() {
  static const TrilinosSide& opened = side();
  return opened;
}

}  // namespace capstan::foam
