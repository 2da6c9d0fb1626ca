#pragma once
/// \file
/// Whether this library and its program have the same Trilinos and MPI: solvers of another one are out of its reach.

namespace capstan {

/// Whether the program has another Trilinos or MPI loaded by now than this library was linked with. Local.
bool programHasOtherTrilinos();

/// The same. If so, says it once, on rank 0 as far as the launcher's variables tell. For the start of the process,
/// before MPI. Local.
bool tellOfOtherTrilinos();

}  // namespace capstan
