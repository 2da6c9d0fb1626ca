// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <cmath>

#include "OSspecific.H"
#include "adapters/openfoam/dictionary_checks.H"
#include "adapters/openfoam/foam_compat.H"
#include "adapters/openfoam/solver_controls.H"
#include "adapters/openfoam/system_dump.H"
#include "adapters/openfoam/trilinos_library.hpp"
#include "labelList.H"

namespace capstan::foam {
namespace {

using Foam::label;

// A matrix of so many entries takes 0.8 GB as text, which the master holds.
constexpr label mostEntries = 20000000;

// OpenFOAM's own are in no deck.
PreconditionerChoice nearestInDeck(const PreconditionerControls& controls, bool symmetric, std::string& remark) {
  if (!controls.native) return controls.assembled;
  const auto& name = controls.name;
  if (name == "none") return {};
  PreconditionerChoice choice;
  if (name == "diagonal") {
    choice.name = "jacobi";
  } else if (name == "GAMG") {
    choice.name = "muelu";
    choice.file = symmetric ? "pressure_poisson" : "momentum";
  } else {
    choice.name = "riluk";
  }
  remark = "In place of OpenFOAM's " + name + ": " + choice.name + ", the nearest in a deck.";
  return choice;
}

ReplayChoice replayOf(const DumpedChoice& dumped, const std::string& field, bool symmetric) {
  ReplayChoice choice;
  choice.name = field;
  choice.solver = dumped.solver;
  choice.tolerance = std::clamp(dumped.target, 1e-30, 1.0);  // a deck takes no 0
  choice.maxIterations = asInt(dumped.maxIterations);
  std::string remark;
  choice.preconditioner = nearestInDeck(dumped.preconditioner, symmetric, remark);
  choice.remarks = {"A system of OpenFOAM, written by dumpSystems. Solve it with: capstan-solve <this file>"};
  if (!remark.empty()) choice.remarks.push_back(remark);
  return choice;
}

Foam::fileName caseFolder() {
  const std::string folder = Foam::getEnv("FOAM_CASE");
  return folder.empty() ? Foam::cwd() : Foam::fileName(folder);
}

// Sums over the ranks: entries, what is not finite, couplings that rows cannot hold.
std::array<double, 3> survey(const LduSystem& system, const Foam::scalarField& source, const Foam::scalarField& guess) {
  std::array<double, 3> sums{};
  const auto notFinite = [&](const Foam::scalarField& values) {
    const auto bad = std::count_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
    sums[1] += static_cast<double>(bad);
  };
  for (const auto* values : {&system.matrix.diag(), &system.matrix.lower(), &system.matrix.upper()}) {
    sums[0] += static_cast<double>(values->size());
    notFinite(*values);
  }
  forAll(system.interfaces, patch) {
    if (!system.interfaces.set(patch)) continue;
    sums[0] += static_cast<double>(system.interfaceBouCoeffs[patch].size());
    notFinite(system.interfaceBouCoeffs[patch]);
  }
  notFinite(source);
  notFinite(guess);
  sums[2] = LduCsr::unsupportedPatch(system) < 0 ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 3, MPI_DOUBLE, MPI_SUM, meshCommunicator(system.matrix));
  return sums;
}

std::string refusal(const std::array<double, 3>& sums, label most) {
  if (sums[2] > 0) return "a patch couples cells in a way that no matrix file can hold";
  if (sums[1] > 0) return "it holds NaN or Inf";
  if (sums[0] > static_cast<double>(most)) {
    return "its matrix has " + std::to_string(static_cast<long long>(sums[0])) + " entries, more than maxEntries, " +
           std::to_string(most);
  }
  return "";
}

}  // namespace

DumpControls readDumpControls(const Foam::dictionary& entry) {
  DumpControls controls;
  if (!entry.found("dumpSystems")) return controls;
  const Foam::dictionary& dict = entry.subDict("dumpSystems");
  warnUnknown(dict, {"solves", "unconverged", "folder", "maxEntries"}, "dumpSystems");
  for (const label solve : dict.getOrDefault<Foam::labelList>("solves", Foam::labelList())) {
    if (solve < 1) fail(dict, "solves: found " + std::to_string(solve) + "; allowed: numbers of solves, from 1");
    controls.solves.insert(solve);
  }
  controls.unconverged = dict.getOrDefault<label>("unconverged", 0);
  if (controls.unconverged < 0) {
    fail(dict, "unconverged: found " + std::to_string(controls.unconverged) + "; allowed: 0 or more");
  }
  controls.maxEntries = dict.getOrDefault<label>("maxEntries", mostEntries);
  if (controls.maxEntries < 1) {
    fail(dict, "maxEntries: found " + std::to_string(controls.maxEntries) + "; allowed: 1 or more");
  }
  controls.folder = dict.getOrDefault<Foam::string>("folder", "systems").expand();
  if (controls.folder.empty()) fail(dict, "folder: found nothing; allowed: a folder in the case, or an absolute path");
  if (!controls.any()) {
    fail(dict, "dumpSystems: found neither solves nor unconverged; allowed: solves (1 10); unconverged 2;");
  }
  return controls;
}

SystemDump::SystemDump(const DumpControls& controls, DumpState& state, const Foam::scalarField& psi)
    : controls_(controls), state_(state), number_(++state.solves) {
  if (controls_.solves.count(number_) > 0 || state_.unconverged < controls_.unconverged) guess_ = psi;
}

bool SystemDump::isWanted(const SolveCost& cost) {
  if (controls_.solves.count(number_) > 0) return true;
  if (!cost.isUnconverged() || state_.unconverged >= controls_.unconverged) return false;
  ++state_.unconverged;
  return true;
}

void SystemDump::finish(const LduSystem& system, Foam::direction component, double sign,
                        const Foam::scalarField& source, const SolveCost& cost, const DumpedChoice& dumped) {
  if (!controls_.any() || !isWanted(cost)) return;
  std::string name = cost.field + "_" + std::to_string(number_);
  std::replace(name.begin(), name.end(), '/', '_');
  Foam::fileName prefix = Foam::fileName(controls_.folder) / name;
  if (!prefix.isAbsolute()) prefix = caseFolder() / prefix;
  auto failure = refusal(survey(system, source, guess_), controls_.maxEntries);
  if (failure.empty()) {
    const LduCsr csr(system);
    std::vector<double> values;
    csr.values(system, component, sign, values);
    Foam::scalarField b(source);
    if (sign < 0) b.negate();
    const auto choice = replayOf(dumped, cost.field, system.matrix.symmetric());
    failure = trilinos().writeSystem({csr.pattern(), values, b.cdata(), guess_.cdata()}, choice, prefix);
  }
  if (failure.empty()) {
    Foam::Info << "Capstan: " << cost.field.c_str() << ": solve " << number_ << " is written to " << prefix.c_str()
               << ".yaml" << Foam::endl;
  } else {
    WarningInFunction << "solver capstan, field " << cost.field.c_str() << ": dumpSystems does not write solve "
                      << number_ << ": " << failure.c_str() << Foam::endl;
  }
}

}  // namespace capstan::foam
