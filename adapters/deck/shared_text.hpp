#pragma once
/// \file
/// One rank's text on every rank.

#include <mpi.h>

#include <string>

namespace capstan::deck {

/// The text of rank `root` on every rank; what the others give is not looked at. Collective over `comm`.
std::string sharedText(std::string text, int root, MPI_Comm comm);

}  // namespace capstan::deck
