#include "belos_ext/support/memory_share.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace capstan {
namespace {

/// Bytes of memory of the machine, or of the control group this process is in, as containers set it.
double machineMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  double bytes = pages > 0 && size > 0 ? static_cast<double>(pages) * static_cast<double>(size)
                                       : std::numeric_limits<double>::infinity();
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    double limit = 0;  // the first one holds "max" where there is none
    if (std::ifstream(path) >> limit && limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

constexpr double share = 0.1;

}  // namespace

double basisMemoryShare(int ranks) {
  static const double memory = machineMemory();
  static const long cores = std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
  return share * memory / static_cast<double>(std::min(cores, static_cast<long>(std::max(1, ranks))));
}

}  // namespace capstan
