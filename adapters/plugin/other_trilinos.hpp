#pragma once
/// \file
/// Whether a preloaded library and its program have the same Trilinos and MPI: solvers of another one are out of its
/// reach.

#include <string>
#include <vector>

namespace capstan {

/// What a library is called without "lib", "trilinos_" and its version: "tpetra" for "libtrilinos_tpetra.so.13" and
/// "libtpetra.so.16.1". Local.
std::string stemOfLibrary(const std::string& file);

/// For each of `loaded` that is another library of the same stem as one of `own`: "libtpetra.so.16 (not
/// libtrilinos_tpetra.so.13)". Only Tpetra, Belos, in which the solvers' classes live, and MPI count. Local.
/// \param own sonames that Capstan's library needs
/// \param loaded those of the process
std::vector<std::string> otherTrilinos(const std::vector<std::string>& own, const std::vector<std::string>& loaded);

/// Whether the program has another Trilinos loaded by now than this library was linked with. Local.
bool programHasOtherTrilinos();

/// Whether the program has another Trilinos or MPI loaded than this library was linked with. If so, says it once, on
/// rank 0 as far as the launcher's variables tell. For the start of the process, before MPI. Local.
bool tellOfOtherTrilinos();

}  // namespace capstan
