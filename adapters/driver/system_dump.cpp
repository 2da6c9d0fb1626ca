// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/system_dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "adapters/driver/row_sums.hpp"
#include "adapters/driver/system_files.hpp"

namespace capstan::driver {

SystemDump::SystemDump(const DumpControls& controls, FieldMemory& memory, HostSystem& host, const double* x)
    : controls_(controls), memory_(memory), host_(host), number_(++memory.solves) {
  if (controls_.solves.count(number_) > 0 || memory_.unconvergedWritten < controls_.unconverged) {
    guess_.assign(x, x + host.rows());
  }
}

bool SystemDump::isWanted(const SolveCost& cost) {
  if (controls_.solves.count(number_) > 0) return true;
  if (!cost.isUnconverged() || memory_.unconvergedWritten >= controls_.unconverged) return false;
  ++memory_.unconvergedWritten;
  return true;
}

// Returns what went wrong, on every rank.
std::string SystemDump::write(double sign, const std::string& prefix, const DumpedChoice& choice) {
  const MPI_Comm comm = host_.startedCommunicator();
  std::array<double, 2> sums{static_cast<double>(host_.entries()), host_.whyNoRows().empty() ? 0.0 : 1.0};
  sumOverRanks(sums, comm);
  if (sums[1] > 0) return "a patch couples cells in a way that no matrix file can hold";
  if (sums[0] > static_cast<double>(controls_.maxEntries)) {
    return fmt::format("its matrix has {} entries, more than maxEntries, {}", static_cast<long long>(sums[0]),
                       controls_.maxEntries);
  }
  const auto rows = host_.makeRows();
  std::vector<double> values;
  host_.values(*rows, sign, values);
  const double* const source = host_.rightHandSide();
  std::vector<double> b(source, source + host_.rows());
  for (double& value : b) value *= sign;
  std::array<double, 1> wrong{};
  for (const auto* numbers : {&values, &b, &guess_}) {
    wrong[0] += static_cast<double>(
        std::count_if(numbers->begin(), numbers->end(), [](double value) { return !std::isfinite(value); }));
  }
  sumOverRanks(wrong, comm);
  if (wrong[0] > 0) return "it holds NaN or Inf";

  ReplayChoice replay;
  replay.name = host_.facts.label;
  replay.solver = choice.solver;
  replay.tolerance = std::clamp(choice.target, 1e-30, 1.0);  // a deck takes no 0
  replay.maxIterations = host_.facts.maxIterations;
  replay.preconditioner = choice.preconditioner;
  replay.remarks = {"A system of " + host_.facts.application +
                    ", written by dumpSystems. Solve it with: capstan-solve <this file>"};
  if (choice.preconditioner.own != 0) {
    replay.preconditioner = host_.nearestInDeck(choice.preconditioner);
    replay.remarks.push_back(fmt::format("In place of {}'s {}: {}, the nearest in a deck.", host_.facts.application,
                                         choice.preconditioner.name, replay.preconditioner.name));
  }
  return writeSystem({rows->pattern(), values, b.data(), guess_.data()}, replay, prefix);
}

void SystemDump::finish(double sign, const SolveCost& cost, const DumpedChoice& choice) {
  if (!controls_.any() || !isWanted(cost)) return;
  std::string name = fmt::format("{}_{}", host_.facts.label, number_);
  std::replace(name.begin(), name.end(), '/', '_');
  const std::string prefix = controls_.folder + "/" + name;
  const std::string failure = write(sign, prefix, choice);
  if (failure.empty()) {
    host_.note(fmt::format("solve {} is written to {}.yaml", number_, prefix));
  } else {
    host_.warn(fmt::format("dumpSystems does not write solve {}: {}", number_, failure));
  }
}

}  // namespace capstan::driver
