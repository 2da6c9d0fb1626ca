#pragma once
/// \file
/// Which libraries a process has loaded, and whether Trilinos and MPI among them are those of another library. The
/// standard library alone: libcapstan_preload.so is made of it.

#include <link.h>

#include <string>
#include <vector>

namespace capstan {

/// What a library is called without "lib", "trilinos_" and its version: "tpetra" for "libtrilinos_tpetra.so.13" and
/// "libtpetra.so.16.1". Local.
std::string stemOfLibrary(const std::string& file);

/// Whether it is Tpetra, or of Belos. Local.
bool isOfBelos(const std::string& file);

/// For each of `loaded` that is another library of the same stem as one of `own`: "libtpetra.so.16 (not
/// libtrilinos_tpetra.so.13)". Only Tpetra, Belos, in which the solvers' classes live, and MPI count. Local.
/// \param own sonames that Capstan's library needs
/// \param loaded those of the process
std::vector<std::string> otherTrilinos(const std::vector<std::string>& own, const std::vector<std::string>& loaded);

/// The same as a sentence for the user, or nothing where there is no other and `loaded` holds the MPI of `own`. Local.
/// \param library the name of Capstan's
std::string aboutOtherTrilinos(const std::string& library, const std::vector<std::string>& own,
                               const std::vector<std::string>& loaded);

/// The library that holds an address, or null. Local.
const link_map* libraryThatHolds(const void* address);

/// The texts that a loaded library has under DT_NEEDED or DT_SONAME. Local.
std::vector<std::string> textsOf(const link_map& library, ElfW(Sxword) tag);

/// The sonames of all that the process has loaded by now. Local.
/// \param one of its libraries
std::vector<std::string> loadedLibraries(const link_map& one);

/// A path without its folders. Local.
std::string fileName(const std::string& path);

/// Whether this process is the first of a launcher's ranks, as far as the environment tells, or without a launcher. For
/// the start of the process, before MPI. Local.
bool isFirstOfItsRun();

}  // namespace capstan
