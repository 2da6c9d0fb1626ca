#pragma once
/// \file
/// How much memory a rank may use for a Krylov basis that nobody has asked the size of.

namespace capstan {

/// A tenth of this machine's memory (or of what its control group allows), divided by its cores, but by no more than
/// `ranks`: as many ranks may share it. In bytes, per rank; infinity where the system does not tell. Local.
double basisMemoryShare(int ranks);

}  // namespace capstan
