// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Which systems of a field are written as files.

#include <set>
#include <string>

namespace capstan::driver {

struct DumpControls {
  std::set<long> solves;  ///< by their number among the field's solves in this run, from 1
  long unconverged = 0;   ///< so many more of those that do not converge
  std::string folder;     ///< full path
  long maxEntries = 0;    ///< of a matrix, on all ranks

  bool any() const { return !solves.empty() || unconverged > 0; }
};

}  // namespace capstan::driver
