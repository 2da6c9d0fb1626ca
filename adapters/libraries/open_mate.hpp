// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Opens a library that belongs beside another one, when it is asked for.

#include <dlfcn.h>

#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

namespace capstan {

/// The file of the library, or program, that some code is part of; empty: not known. Local.
inline std::filesystem::path fileOf(const void* code) {
  Dl_info info;
  return dladdr(code, &info) == 0 || info.dli_fname == nullptr ? "" : info.dli_fname;
}

/// What became of openMate().
struct Mate {
  void* handle = nullptr;
  std::string tried;  ///< where it is null: a line for each file, with the loader's reason
};

/// Opens the library `name` without showing its symbols to others: beside the files that `codes` are part of (where one
/// is a link, beside what it points to, too), else where the loader looks for libraries. Local.
///
/// RTLD_LOCAL: nobody else is to be bound to Trilinos, or to the Scotch, METIS, HYPRE and MUMPS that it brings. Not
/// RTLD_DEEPBIND: it would pass by what is preloaded for MPI or for malloc.
inline Mate openMate(const std::string& name, std::initializer_list<const void*> codes) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code ignored;
  std::string there;
  for (const void* const code : codes) {
    const fs::path own = fileOf(code);
    for (const fs::path& file : {own, fs::canonical(own, ignored)}) {
      if (!file.has_parent_path()) continue;
      const std::string beside = file.parent_path() / name;
      if (there.empty() && fs::exists(beside, ignored)) there = beside;
      if (files.empty() || files.back() != beside) files.push_back(beside);
    }
  }
  files.push_back(name);
  if (!there.empty()) files = {there};
  Mate mate;
  for (const std::string& file : files) {
    mate.handle = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (mate.handle != nullptr) break;
    const char* const reason = dlerror();
    mate.tried += "\n    " + file + ": " + (reason == nullptr ? "no reason given" : reason);
  }
  return mate;
}

/// How a mate is known, and what is said where it is not there.
struct MateOffer {
  std::string name;
  const char* function = nullptr;  ///< the one that is found by its name: const Part* function(unsigned long stamp)
  unsigned long stamp = 0;         ///< of this release; for another one the function gives null
  std::string purpose, remedy;     ///< "which ...", "or ..."
};

/// What the mate of the library with the code `own` offers, never null; `other` is code beside which it may be, too, or
/// null. Local. \throws Error with what was tried where it cannot be opened, or is of another release
template <class Error, class Part>
const Part* offerOfMate(const MateOffer& offer, const void* own, const void* other = nullptr) {
  const Mate mate = openMate(offer.name, {own, other});
  if (mate.handle == nullptr) {
    throw Error("cannot open " + offer.name + ", which " + offer.purpose + ". Tried:" + mate.tried +
                "\n    Set LD_LIBRARY_PATH to the folder that holds it, or " + offer.remedy);
  }
  const auto function = reinterpret_cast<const Part* (*)(unsigned long)>(dlsym(mate.handle, offer.function));
  const Part* const found = function == nullptr ? nullptr : function(offer.stamp);
  if (found != nullptr) return found;
  const std::string file = fileOf(reinterpret_cast<const void*>(function));
  throw Error((file.empty() ? offer.name : file) + " is of another release than " + fileOf(own).string() +
              ": build the one from the source of the other");
}

}  // namespace capstan
