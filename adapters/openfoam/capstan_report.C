// SPDX-License-Identifier: GPL-3.0-or-later
#include "OSspecific.H"
#include "Pstream.H"
#include "Switch.H"
#include "Time.H"
#include "adapters/openfoam/capstan_report.H"
#include "adapters/openfoam/dictionary_checks.H"
#include "addToRunTimeSelectionTable.H"

namespace Foam {
namespace functionObjects {

defineTypeNameAndDebug(capstanReport, 0);
functionObject::adddictionaryConstructorToTable<capstanReport> addCapstanReportConstructorToTable_;

namespace {

// What OpenFOAM reads of every function object.
const std::vector<std::string> commonKeys{"type",
                                          "libs",
                                          "functionObjectLibs",
                                          "enabled",
                                          "active",
                                          "errors",
                                          "region",
                                          "log",
                                          "timeStart",
                                          "timeEnd",
                                          "triggerStart",
                                          "triggerEnd",
                                          "controlMode",
                                          "deltaTCoeff",
                                          "executeControl",
                                          "writeControl",
                                          "executeInterval",
                                          "writeInterval",
                                          "nStepsToStartTimeChange",
                                          "outputControl",
                                          "outputInterval"};

}  // namespace

capstanReport::capstanReport(const word& name, const Time& runTime, const dictionary& dict)
    : capstan::foam::TimeFunctionObject(name, runTime) {
  capstanReport::read(dict);
  if (!Pstream::master()) return;
  recorder_ = std::make_unique<capstan::foam::SolveRecorder>([this] { return static_cast<long>(step()); });
}

bool capstanReport::read(const dictionary& dict) {
  capstan::foam::TimeFunctionObject::read(dict);
  auto known = commonKeys;
  known.push_back("fields");
  for (const auto& key : capstan::foam::newFunctionControls()) known.push_back(key);
  capstan::foam::warnUnknown(dict, known, "function object capstanReport");
  fields_.clear();
  if (dict.found("fields")) {
    capstan::foam::readPatterns(dict, "fields", fields_);
    if (fields_.empty()) {
      capstan::foam::fail(dict,
                          "fields: found an empty list; allowed: names of fields or regular expressions, such as "
                          "(p \"U.*\"); without the entry all fields are reported");
    }
  }
  return true;
}

// A step has solves at the times of its subcycles, too.
label capstanReport::step() const { return time_.subCycling() ? time_.prevTimeState().timeIndex() : time_.timeIndex(); }

void capstanReport::open() {
  const word start = Time::timeName(time_.startTime().value());
  fileName folder = time_.globalPath() / outputPrefix / name() / start;
  folder.clean();
  mkDir(folder);
  path_ = folder / "capstanReport.csv";
  if (isFile(path_)) path_ = folder / ("capstanReport_" + start + ".csv");
  file_.open(path_, std::ios::trunc);
  file_ << capstan::foam::csvHeader();
  if (log) Info << type() << " " << name() << ": writing " << path_ << endl;
}

bool capstanReport::execute() {
  if (!recorder_) return true;
  if (!file_.is_open()) open();
  const auto matches = [this](const word& name) { return capstan::foam::matchesAny(fields_, name); };
  for (const auto& row : recorder_->take()) {
    const word field(row.origin.field);
    if (fields_.empty() || matches(field) || matches(word(row.totals.sum.field))) {
      file_ << capstan::foam::csvLine(time_.value(), row);
    }
  }
  file_.flush();
  if (!file_) {
    FatalErrorInFunction << type() << " " << name() << ": cannot write " << path_ << exit(FatalError);
  }
  return true;
}

}  // namespace functionObjects
}  // namespace Foam
