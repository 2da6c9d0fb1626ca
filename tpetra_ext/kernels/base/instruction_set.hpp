#pragma once
/// \file
/// Which instruction set the host kernels use.

#include <string>
#include <vector>

namespace capstan::kernels {

/// The instruction sets this build has kernels for and this processor runs, the simplest first: "baseline" (what the
/// whole build is for), "avx2" (with FMA), "avx512". Local.
std::vector<std::string> instructionSets();

/// The one in use: the environment's CAPSTAN_KERNELS when it is set, else ("auto") the last of instructionSets();
/// "generic" or "delayed" where the kernels take the generic path. Chosen when first asked for, by this or by a kernel.
/// Local. \throws std::invalid_argument when CAPSTAN_KERNELS names none or one that this processor does not run; every
/// call then throws.
std::string instructionSet();

/// Whether the environment says CAPSTAN_KERNELS=generic, or delayed: CPUs then run the portable code meant for devices,
/// which is so tested without one. It is slower. Local. \throws std::invalid_argument as instructionSet() does.
bool genericPathForced();

/// Whether the environment says CAPSTAN_KERNELS=delayed: kernels of CPUs then also run as late as those of a device may
/// (delayed_launches.hpp). For tests. Local. \throws std::invalid_argument as instructionSet() does.
bool launchesDelayed();

}  // namespace capstan::kernels
