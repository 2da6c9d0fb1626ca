// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdlib>
#include <set>

#include "IOmanip.H"
#include "ITstream.H"
#include "OSspecific.H"
#include "Switch.H"
#include "UPstream.H"
#include "adapters/openfoam/dictionary_checks.H"
#include "adapters/openfoam/foam_compat.H"
#include "adapters/openfoam/solver_controls.H"
#include "adapters/openfoam/trilinos_library.hpp"
#include "adapters/values/truth_words.hpp"
#include "belos_ext/support/nearest_match.hpp"
#include "dictionaryEntry.H"
#include "lduMatrix.H"

namespace capstan::foam {
namespace {

using driver::PreconditionerChoice;
using driver::Setting;
using driver::Settings;
using driver::UpdatePolicy;

using Foam::dictionary;
using Foam::token;

std::string tokenText(const token& item) {
  if (item.isWord()) {
    return item.wordToken();
  }
  if (item.isString()) {
    return item.stringToken();
  }
  Foam::OStringStream out;
  out << item;
  return out.str();
}

// `newton`, `"single-reduce cgs2"` or `single-reduce cgs2`: words are joined by blanks, a list reads [1, 2].
std::string streamText(const Foam::ITstream& stream) {
  std::string text;
  bool joined = true;
  for (const auto& item : stream) {
    const bool open = item.isPunctuation() && item.pToken() == token::BEGIN_LIST;
    const bool close = item.isPunctuation() && item.pToken() == token::END_LIST;
    if (open || close) {
      text += open ? (joined ? "[" : " [") : "]";
    } else {
      text += (joined ? "" : text.find('[') == std::string::npos ? " " : ", ") + tokenText(item);
    }
    joined = open;
  }
  return text;
}

std::string textOf(const dictionary& dict, const char* key) { return streamText(dict.lookup(key)); }

const TruthWords truthWords{{"true", "yes"}, {"false", "no"}};

Setting toSetting(const Foam::entry& item) {
  Setting setting;
  setting.name = item.keyword();
  const auto& stream = item.stream();
  const token* only = stream.size() == 1 ? &stream[0] : nullptr;
  if (only != nullptr && only->isLabel() && asInt(only->labelToken()) == only->labelToken()) {
    setting.value = asInt(only->labelToken());
  } else if (only != nullptr && only->isNumber()) {
    setting.value = static_cast<double>(only->number());
  } else if (const auto truth =
                 only != nullptr && only->isWord() ? truthWords.valueOf(only->wordToken()) : std::nullopt) {
    setting.value = *truth;
  } else {
    setting.value = streamText(stream);
  }
  return setting;
}

Settings toSettings(const dictionary& dict, const std::vector<std::string>& except = {}) {
  Settings settings;
  for (const auto& item : dict) {
    if (std::find(except.begin(), except.end(), item.keyword()) != except.end()) {
      continue;
    }
    if (item.isDict()) {
      settings.push_back({item.keyword(), toSettings(item.dict())});
    } else {
      settings.push_back(toSetting(item));
    }
  }
  return settings;
}

using Native = Foam::lduMatrix::preconditioner;

bool isNative(const std::string& name, bool symmetric) {
  return symmetric ? Native::symMatrixConstructorTablePtr_->found(name)
                   : Native::asymMatrixConstructorTablePtr_->found(name);
}

std::vector<std::string> nativeNames(bool symmetric) {
  std::vector<std::string> names;
  const Foam::wordList found = symmetric ? Native::symMatrixConstructorTablePtr_->sortedToc()
                                         : Native::asymMatrixConstructorTablePtr_->sortedToc();
  for (const auto& name : found) names.push_back(name);
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> together(std::vector<std::string> names, const std::vector<std::string>& more) {
  for (const auto& name : more) {
    if (!contains(names, name)) names.push_back(name);
  }
  return names;
}

// What OpenFOAM's multigrid reads; entries of its solver GAMG that a user has left in place serve its preconditioner.
const std::vector<std::string> baseKeys{"smoother",
                                        "agglomerator",
                                        "cacheAgglomeration",
                                        "nCellsInCoarsestLevel",
                                        "mergeLevels",
                                        "nPreSweeps",
                                        "nPostSweeps",
                                        "preSweepsLevelMultiplier",
                                        "maxPreSweeps",
                                        "postSweepsLevelMultiplier",
                                        "maxPostSweeps",
                                        "nFinestSweeps",
                                        "interpolateCorrection",
                                        "scaleCorrection",
                                        "directSolveCoarsest",
                                        "nVcycles",
                                        "processorAgglomerator",
                                        "processorAgglomeration",
                                        "nLevels",
                                        "nAgglomeratingCells",
                                        "nGlobalCellsInCoarsestLevel"};
const std::vector<std::string> gamgKeys = together(baseKeys, newMultigridControls());
// Those of its other solvers, which no preconditioner reads.
const std::vector<std::string> otherKeys{"nSweeps", "log", "omega", "nDirections"};
// What OpenFOAM's applications read in the entry of a field's solver, and no solver: MULES, sub-cycles and correctors
// of phase fractions, isoAdvector, phase and population balance models.
const std::vector<std::string> baseApplicationKeys{"nAlphaCorr",
                                                   "nAlphaSubCycles",
                                                   "alphaOuterCorrectors",
                                                   "cAlpha",
                                                   "cAlphas",
                                                   "icAlpha",
                                                   "scAlpha",
                                                   "MULESCorr",
                                                   "alphaApplyPrevCorr",
                                                   "nLimiterIter",
                                                   "smoothLimiter",
                                                   "extremaCoeff",
                                                   "boundaryExtremaCoeff",
                                                   "nAlphaBounds",
                                                   "isoFaceTol",
                                                   "surfCellTol",
                                                   "snapTol",
                                                   "clip",
                                                   "gradAlphaNormal",
                                                   "writeIsoFaces",
                                                   "writeSurfCells",
                                                   "writeBoundedCells",
                                                   "prescribedU",
                                                   "residualAlpha",
                                                   "implicitPhasePressure",
                                                   "cYi",
                                                   "nYiSubCycles",
                                                   "nCorr",
                                                   "renormalize",
                                                   "renormalizeOnRestart",
                                                   "solveOnFinalIterOnly"};
const std::vector<std::string> applicationKeys = together(baseApplicationKeys, newApplicationControls());

// OpenFOAM gives a preconditioner that is named by a word no controls at all: multigrid then lacks its smoother.
dictionary gamgControls(const dictionary& entry) {
  dictionary own;
  own.add("preconditioner", Foam::word("GAMG"));
  for (const auto& key : gamgKeys) {
    if (entry.found(key)) own.add(entryOf(entry, key));
  }
  // Measured in pitzDaily: two cycles, OpenFOAM's default, take half the iterations and 1.4 times the time.
  if (!own.found("smoother")) own.add("smoother", Foam::word("GaussSeidel"));
  if (!own.found("nVcycles")) own.add("nVcycles", Foam::label(1));
  return own;
}

PreconditionerChoice ownPreconditioner(const std::string& name, const dictionary* own, const dictionary& entry,
                                       SolverControls::Own number, SolverControls& controls) {
  PreconditionerChoice choice;
  choice.name = name;
  if (name == "none") return choice;
  choice.own = number;
  choice.cycle = name == "GAMG";
  dictionary& read = controls.ofOwn[number - 1];
  if (own != nullptr) {
    read.add("preconditioner", *own);
  } else if (choice.cycle) {
    read.add("preconditioner", gamgControls(entry));
  } else {
    read.add("preconditioner", Foam::word(name));
  }
  return choice;
}

// The solver that the entry was written for, as far as what is left of it tells.
PreconditionerChoice ownSolver(const dictionary& entry, bool symmetric, SolverControls& controls) {
  PreconditionerChoice choice;
  const bool smooths = entry.found("smoother"), named = entry.found("preconditioner");
  if (smooths == named) return choice;
  // Multigrid as a preconditioner is nothing to save time on, and needs a dictionary.
  if (named && (entry.isDict("preconditioner") || textOf(entry, "preconditioner") == "GAMG" ||
                !isNative(textOf(entry, "preconditioner"), symmetric)))
    return choice;
  static const std::vector<std::string> ofMultigrid{"agglomerator", "nCellsInCoarsestLevel", "mergeLevels", "nVcycles"};
  const bool told =
      std::any_of(ofMultigrid.begin(), ofMultigrid.end(), [&](const auto& key) { return entry.found(key); });
  choice.name = told || (symmetric && !entry.found("nSweeps")) ? "GAMG" : "smoothSolver";
  if (named) choice.name = symmetric ? "PCG" : "PBiCGStab";
  controls.ownRecurs = named;
  choice.own = SolverControls::Solver;
  choice.solves = true;
  choice.cycle = choice.name == "GAMG";
  dictionary& read = controls.ofOwn[SolverControls::Solver - 1];
  read = entry;
  read.set("solver", Foam::word(choice.name));
  return choice;
}

// The case, and this rank's part of it: the working folder is another one with -case, and where a batch system starts.
std::vector<std::string> caseFolders() {
  const std::string folder = Foam::getEnv("FOAM_CASE");
  if (folder.empty()) return {};
  if (!Foam::UPstream::parRun()) return {folder};
  return {folder, folder + "/processor" + std::to_string(Foam::UPstream::myProcNo())};
}

PreconditionerChoice readPreconditioner(const dictionary& dict, bool symmetric, SolverControls& controls) {
  const bool isDict = dict.isDict("preconditioner");
  const dictionary& own = isDict ? dict.subDict("preconditioner") : dict;
  const std::string name = textOf(own, "preconditioner");
  if (isNative(name, symmetric)) {
    return ownPreconditioner(name, isDict ? &own : nullptr, dict, SolverControls::Named, controls);
  }
  auto names = trilinos().preconditionerNames();
  if (!contains(names, name)) {
    const auto natives = nativeNames(symmetric);
    names.insert(names.begin(), natives.begin(), natives.end());
    const bool other = isNative(name, !symmetric);
    fail(own, "preconditioner: found '" + name + "'" +
                  (other ? std::string(", which OpenFOAM has for ") + (symmetric ? "asymmetric" : "symmetric") +
                               " matrices only"
                         : "") +
                  "; allowed: " + join(names) + didYouMean(name, names));
  }
  PreconditionerChoice choice;
  choice.name = name;
  if (!isDict) return choice;
  choice.settings = toSettings(own, {"preconditioner", "file"});
  if (own.found("file")) {
    if (name != "muelu") {
      fail(own, "file: only the preconditioner muelu reads one, found preconditioner '" + name + "'");
    }
    choice.file = Foam::fileName(textOf(own, "file")).expand();
    choice.folders = caseFolders();
  }
  return choice;
}

// A word was changed, and the rest of the old entry stands.
void remarkLeftovers(const dictionary& dict, const PreconditionerChoice& preconditioner) {
  static std::set<std::string> told;
  std::vector<std::string> left;
  for (const auto& item : dict) {
    const std::string key = item.keyword();
    const bool others = (!preconditioner.cycle && contains(gamgKeys, key)) || contains(otherKeys, key);
    if (others && !contains(newControls(), key)) left.push_back(key);
  }
  if (left.empty() || !told.insert(dict.name()).second) return;
  Foam::Info << "solver capstan, " << dict.name().c_str() << ": " << join(left).c_str()
             << (left.size() == 1 ? " belongs to other solvers of OpenFOAM and has"
                                  : " belong to other solvers of OpenFOAM and have")
             << " no effect here" << Foam::endl;
}

UpdatePolicy readPolicy(const dictionary& caching, const char* what, bool allowAdaptive) {
  UpdatePolicy policy;
  if (!caching.found(what)) {
    return policy;
  }
  const dictionary& dict = caching.subDict(what);
  const std::string allowed = allowAdaptive ? "always, periodic, adaptive, never" : "always, periodic, never";
  warnUnknown(dict, {"update", "periodicCoeffs", "adaptiveCoeffs"});
  const std::string update = dict.found("update") ? textOf(dict, "update") : "always";
  if (update == "always") {
    policy.kind = UpdatePolicy::Kind::Always;
  } else if (update == "periodic") {
    policy.kind = UpdatePolicy::Kind::Periodic;
    const dictionary& coeffs = dict.subDict("periodicCoeffs");
    warnUnknown(coeffs, {"frequency"});
    policy.frequency = asInt(valueOf<Foam::label>(coeffs, "frequency"));
    if (policy.frequency < 1) {
      fail(coeffs, "frequency: found " + std::to_string(policy.frequency) + "; allowed: 1 or more");
    }
  } else if (update == "adaptive" && allowAdaptive) {
    policy.kind = UpdatePolicy::Kind::Adaptive;
    const dictionary& coeffs = dict.subOrEmptyDict("adaptiveCoeffs");
    warnUnknown(coeffs, {"growth"});
    policy.growth = valueOr<Foam::scalar>(coeffs, "growth", policy.growth);
    if (!(policy.growth >= 1)) {
      fail(coeffs, "growth: found " + std::to_string(policy.growth) + "; allowed: 1 or more");
    }
  } else if (update == "never") {
    policy.kind = UpdatePolicy::Kind::Never;
  } else {
    fail(dict, "update: found '" + update + "'; allowed: " + allowed);
  }
  return policy;
}

const std::vector<std::string>& knownKeys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> known{"solver",  "method",  "preconditioner", "tolerance", "relTol",  "minIter",
                                   "maxIter", "capstan", "caching",        "verify",    "summary", "dumpSystems"};
    known.insert(known.end(), gamgKeys.begin(), gamgKeys.end());
    known.insert(known.end(), otherKeys.begin(), otherKeys.end());
    return together(known, newControls());
  }();
  return keys;
}

bool same(const dictionary& a, const dictionary& b);

bool same(const Foam::entry& a, const Foam::entry& b) {
  if (a.keyword() != b.keyword() || a.isDict() != b.isDict()) return false;
  if (a.isDict()) return same(a.dict(), b.dict());
  const Foam::tokenList &left = a.stream(), &right = b.stream();
  return left == right;
}

// Names of files and entries, and what stands there, in its order.
bool same(const dictionary& a, const dictionary& b) {
  if (a.size() != b.size() || a.name() != b.name()) return false;
  auto other = b.cbegin();
  for (const auto& item : a) {
    if (!same(item, *other)) return false;
    ++other;
  }
  return true;
}

// In the case, where no full path is given.
std::string inCase(const Foam::string& folder) {
  const std::string ofCase = Foam::getEnv("FOAM_CASE");
  const Foam::fileName path(folder);
  return path.isAbsolute() ? path : (ofCase.empty() ? Foam::cwd() : Foam::fileName(ofCase)) / path;
}

driver::DumpControls readDumpControls(const dictionary& entry) {
  // A matrix of so many entries takes 0.8 GB as text, which the master holds.
  constexpr Foam::label mostEntries = 20000000;
  driver::DumpControls controls;
  if (!entry.found("dumpSystems")) return controls;
  const dictionary& dict = entry.subDict("dumpSystems");
  warnUnknown(dict, {"solves", "unconverged", "folder", "maxEntries"}, "dumpSystems");
  const auto atLeast = [&](const char* key, Foam::label value, Foam::label least, const std::string& allowed) {
    if (value < least) fail(dict, std::string(key) + ": found " + std::to_string(value) + "; allowed: " + allowed);
    return static_cast<long>(value);
  };
  for (const auto solve : valueOr<Foam::labelList>(dict, "solves", Foam::labelList())) {
    controls.solves.insert(atLeast("solves", solve, 1, "numbers of solves, from 1"));
  }
  controls.unconverged = atLeast("unconverged", valueOr<Foam::label>(dict, "unconverged", 0), 0, "0 or more");
  controls.maxEntries = atLeast("maxEntries", valueOr<Foam::label>(dict, "maxEntries", mostEntries), 1, "1 or more");
  const Foam::string folder = valueOr<Foam::string>(dict, "folder", "systems").expand();
  if (folder.empty()) fail(dict, "folder: found nothing; allowed: a folder in the case, or an absolute path");
  controls.folder = inCase(folder);
  if (!controls.any()) {
    fail(dict, "dumpSystems: found neither solves nor unconverged; allowed: solves (1 10); unconverged 2;");
  }
  return controls;
}

}  // namespace

std::shared_ptr<const SolverControls> KnownControls::of(const dictionary& dict, const MatrixKind& matrix) {
  for (const auto& known : known_) {
    if (known.matrix == matrix && same(known.dict, dict)) return known.controls;
  }
  auto controls = std::make_shared<const SolverControls>(readControls(dict, matrix));
  if (known_.size() == most) known_.pop_front();
  known_.push_back({dict, matrix, controls});
  return controls;
}

SolverControls readControls(const dictionary& dict, const MatrixKind& matrix) {
  const bool symmetric = matrix.symmetric;
  warnUnknown(dict, knownKeys(), "solver capstan", applicationKeys);
  SolverControls controls;
  driver::Wishes wishes;
  wishes.symmetric = symmetric;
  // Not in a steady run: solves to a loose tolerance end where a guess has made the residual small, with errors that
  // are smooth. T3A of simpleFoam converges in 408 iterations with guesses and 272 without them, in 269 with OpenFOAM's
  // GAMG.
  wishes.recurs = matrix.ofCase && !matrix.steady;
  if (dict.found("method")) wishes.method = textOf(dict, "method");
  if (dict.found("capstan")) wishes.settings = toSettings(dict.subDict("capstan"));
  if (dict.found("preconditioner")) wishes.preconditioner = readPreconditioner(dict, symmetric, controls);
  wishes.plain = ownPreconditioner(symmetric ? "DIC" : "DILU", nullptr, dict, SolverControls::Plain, controls);
  wishes.multigrid = ownPreconditioner("GAMG", nullptr, dict, SolverControls::Multigrid, controls);
  if (matrix.ofCase) wishes.solver = ownSolver(dict, symmetric, controls);
  // A low limit is one for multigrid, or for the sweeps of a smoother.
  constexpr Foam::label low = 100;
  wishes.multigridFirst = wishes.solver.solves ? wishes.solver.cycle : valueOr<Foam::label>(dict, "maxIter", low) < low;
  if (dict.found("caching")) {
    const dictionary& caching = dict.subDict("caching");
    warnUnknown(caching, {"matrix", "preconditioner"});
    wishes.matrixUpdate = readPolicy(caching, "matrix", false);
    wishes.preconditionerUpdate = readPolicy(caching, "preconditioner", true);
  }
  controls.dump = readDumpControls(dict);
  wishes.verify = valueOr<Foam::Switch>(dict, "verify", false);
  const char* environment = std::getenv("CAPSTAN_FOAM_SUMMARY");
  const bool byEnvironment = environment != nullptr && *environment != '\0' && std::string(environment) != "0";
  controls.summary = valueOr<Foam::Switch>(dict, "summary", byEnvironment);
  try {
    controls.plan = trilinos().plan(wishes);
  } catch (const std::invalid_argument& error) {
    fail(dict, error.what());
  }
  const auto& choices = controls.plan.preconditioners;
  const bool usesAll = std::any_of(choices.begin(), choices.end(), [](const auto& choice) { return choice.solves; });
  if (!usesAll) {
    remarkLeftovers(dict, wishes.preconditioner   ? *wishes.preconditioner
                          : wishes.multigridFirst ? wishes.multigrid
                                                  : wishes.plain);
  }
  return controls;
}

}  // namespace capstan::foam
