#include "tpetra_ext/kernels/base/instruction_set.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "tpetra_ext/kernels/host/chunk_kernels.hpp"

namespace capstan::kernels {

namespace detail {
namespace baseline {
extern const ChunkKernels<float> floatTable;
extern const ChunkKernels<double> doubleTable;
}  // namespace baseline
#ifdef CAPSTAN_KERNELS_X86
namespace avx2 {
extern const ChunkKernels<float> floatTable;
extern const ChunkKernels<double> doubleTable;
}  // namespace avx2
namespace avx512 {
extern const ChunkKernels<float> floatTable;
extern const ChunkKernels<double> doubleTable;
}  // namespace avx512
#endif

namespace {

constexpr const char *genericName = "generic", *delayedName = "delayed";

struct Tables {
  const ChunkKernels<float>* single;
  const ChunkKernels<double>* real;
  bool runs;             ///< on this processor
  bool generic = false;  ///< asked for the generic path: the tables are for whoever names the host path
  bool delayed = false;  ///< asked for it, and for launches that are delayed
};

/// All that are built, the simplest first.
std::vector<Tables> builtTables() {
  std::vector<Tables> tables = {{&baseline::floatTable, &baseline::doubleTable, true}};
#ifdef CAPSTAN_KERNELS_X86
  __builtin_cpu_init();
  const bool hasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool hasAvx512 = hasAvx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                         __builtin_cpu_supports("avx512dq");
  tables.push_back({&avx2::floatTable, &avx2::doubleTable, hasAvx2});
  tables.push_back({&avx512::floatTable, &avx512::doubleTable, hasAvx512});
#endif
  return tables;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += ", " + word;
  return text;
}

Tables chooseTables() {
  const std::vector<Tables> tables = builtTables();
  const auto runs = [](const Tables& table) { return table.runs; };
  const char* const asked = std::getenv("CAPSTAN_KERNELS");
  const std::string name = asked == nullptr || *asked == 0 ? "auto" : asked;
  if (name == "auto" || name == genericName || name == delayedName) {
    Tables best = *std::find_if(tables.rbegin(), tables.rend(), runs);
    best.delayed = name == delayedName;
    best.generic = name != "auto";
    return best;
  }
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&name](const Tables& table) { return name == table.real->name; });
  if (found != tables.end() && found->runs) return *found;
  throw std::invalid_argument("CAPSTAN_KERNELS (environment): found '" + name + "'" +
                              (found != tables.end() ? ", which this processor does not have" : "") +
                              "; allowed here: auto" + joined(instructionSets()) + ", " + genericName + ", " +
                              delayedName);
}

const Tables& chosenTables() {
  static const Tables tables = chooseTables();
  return tables;
}

}  // namespace

template <>
const ChunkKernels<float>& chunkKernels<float>() {
  return *chosenTables().single;
}
template <>
const ChunkKernels<double>& chunkKernels<double>() {
  return *chosenTables().real;
}

}  // namespace detail

std::vector<std::string> instructionSets() {
  std::vector<std::string> names;
  for (const auto& tables : detail::builtTables()) {
    if (tables.runs) names.emplace_back(tables.real->name);
  }
  return names;
}

std::string instructionSet() {
  if (launchesDelayed()) return detail::delayedName;
  return genericPathForced() ? detail::genericName : detail::chunkKernels<double>().name;
}

bool genericPathForced() { return detail::chosenTables().generic; }

bool launchesDelayed() { return detail::chosenTables().delayed; }

}  // namespace capstan::kernels
