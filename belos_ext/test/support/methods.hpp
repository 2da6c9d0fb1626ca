#pragma once
/// \file
/// The methods' canonical names, short.

#include <string>

#include "belos_ext/parameters/method_traits.hpp"

namespace capstan::id {

inline const std::string Gmres = "CAPSTAN GMRES", SStepGmres = "CAPSTAN GMRES S-STEP",
                         PipelinedGmres = "CAPSTAN GMRES PIPELINE",
                         PipelinedSStepGmres = "CAPSTAN GMRES S-STEP PIPELINE", Cg = "CAPSTAN CG",
                         PipelinedCg = "CAPSTAN CG PIPELINE", EnlargedCg = "CAPSTAN CG ENLARGED",
                         EmbeddedCg = "CAPSTAN CG EMBEDDED", Cr = "CAPSTAN CR", PipelinedCr = "CAPSTAN CR PIPELINE",
                         BiCgStab = "CAPSTAN BICGSTAB", PipelinedBiCgStab = "CAPSTAN BICGSTAB PIPELINE",
                         Idr = "CAPSTAN IDR";

}  // namespace capstan::id
