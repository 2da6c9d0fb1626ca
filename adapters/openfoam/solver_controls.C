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
                                        "coarsestLevelCorr",
                                        "nVcycles",
                                        "processorAgglomerator",
                                        "nAgglomeratingCells",
                                        "nGlobalCellsInCoarsestLevel"};
const std::vector<std::string> gamgKeys = together(baseKeys, newMultigridControls());
// Those of its other solvers, which no preconditioner reads.
const std::vector<std::string> otherKeys{"nSweeps", "log", "omega", "nDirections"};

// OpenFOAM gives a preconditioner that is named by a word no controls at all: multigrid then lacks its smoother.
dictionary gamgControls(const dictionary& entry) {
  dictionary own;
  own.add("preconditioner", Foam::word("GAMG"));
  for (const auto& key : gamgKeys) {
    if (entry.found(key)) own.add(entry.lookupEntry(key, Foam::keyType::LITERAL));
  }
  // Measured in pitzDaily: two cycles, OpenFOAM's default, take half the iterations and 1.4 times the time.
  if (!own.found("smoother")) own.add("smoother", Foam::word("GaussSeidel"));
  if (!own.found("nVcycles")) own.add("nVcycles", Foam::label(1));
  return own;
}

PreconditionerControls ownPreconditioner(const std::string& name, const dictionary* own, const dictionary& entry) {
  PreconditionerControls controls;
  controls.name = name;
  controls.native = true;
  if (own != nullptr) {
    controls.controls.add("preconditioner", *own);
  } else if (name == "GAMG") {
    controls.controls.add("preconditioner", gamgControls(entry));
  } else {
    controls.controls.add("preconditioner", Foam::word(name));
  }
  return controls;
}

// The case, and this rank's part of it: the working folder is another one with -case, and where a batch system starts.
std::vector<std::string> caseFolders() {
  const std::string folder = Foam::getEnv("FOAM_CASE");
  if (folder.empty()) return {};
  if (!Foam::UPstream::parRun()) return {folder};
  return {folder, folder + "/processor" + std::to_string(Foam::UPstream::myProcNo())};
}

PreconditionerControls readPreconditioner(const dictionary& dict, bool symmetric) {
  if (!dict.found("preconditioner")) return plainPreconditioner(symmetric);
  const bool isDict = dict.isDict("preconditioner");
  const dictionary& own = isDict ? dict.subDict("preconditioner") : dict;
  const std::string name = textOf(own, "preconditioner");
  if (isNative(name, symmetric)) return ownPreconditioner(name, isDict ? &own : nullptr, dict);
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
  PreconditionerControls controls;
  controls.name = controls.assembled.name = name;
  if (!isDict) return controls;
  controls.assembled.settings = toSettings(own, {"preconditioner", "file"});
  if (own.found("file")) {
    if (name != "muelu") {
      fail(own, "file: only the preconditioner muelu reads one, found preconditioner '" + name + "'");
    }
    controls.assembled.file = Foam::fileName(textOf(own, "file")).expand();
    controls.assembled.folders = caseFolders();
  }
  return controls;
}

// A word was changed, and the rest of the old entry stands.
void remarkLeftovers(const dictionary& dict, const PreconditionerControls& preconditioner) {
  static std::set<std::string> told;
  std::vector<std::string> left;
  for (const auto& item : dict) {
    const std::string key = item.keyword();
    const bool others = (!preconditioner.isMultigrid() && contains(gamgKeys, key)) || contains(otherKeys, key);
    if (others && !contains(newControls(), key)) left.push_back(key);
  }
  if (left.empty() || !told.insert(dict.name()).second) return;
  Foam::Info << "solver capstan, " << dict.name().c_str() << ": " << join(left).c_str()
             << (left.size() == 1 ? " belongs" : " belong") << " to other solvers of OpenFOAM and have no effect here"
             << Foam::endl;
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
    policy.frequency = asInt(coeffs.get<Foam::label>("frequency"));
    if (policy.frequency < 1) {
      fail(coeffs, "frequency: found " + std::to_string(policy.frequency) + "; allowed: 1 or more");
    }
  } else if (update == "adaptive" && allowAdaptive) {
    policy.kind = UpdatePolicy::Kind::Adaptive;
    const dictionary& coeffs = dict.subOrEmptyDict("adaptiveCoeffs");
    warnUnknown(coeffs, {"growth"});
    policy.growth = coeffs.getOrDefault<Foam::scalar>("growth", policy.growth);
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

// As OpenFOAM does with its own PCG.
void requireFit(const dictionary& dict, const std::string& method, bool symmetric) {
  if (forConjugateGradients(method) && !symmetric) {
    fail(dict, "method: found '" + method + "', but the matrix is asymmetric; take a method for any matrix, such as " +
                   "capstan_sstep_gmres");
  }
}

// Later ones count.
Settings together(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// OpenFOAM tests residuals, and GMRES makes them least: with multigrid it takes fewer cycles than conjugate gradients
// (perf/results, openfoam). The dictionary's own settings come later and count.
SolverChoice flexibleMethod(const Settings& own) {
  return {"capstan_gmres", together({{"Flexible_Gmres", true}, {"Num_Blocks", cyclesKept}}, own)};
}

// A correction of the pressure resembles that of the step before. Measured on five tutorials: two vectors save as much
// with multigrid, more than three save more with DIC only.
Settings ofEarlierSolves() { return {{"Initial_Guess", std::string("projection 3")}}; }

// With a guess the same residual hides four times the error under GMRES (damBreak's p), but where M is close to A.
bool learnsFromSolves(const std::string& method, const PreconditionerControls& preconditioner) {
  return forConjugateGradients(method) || (preconditioner.isMultigrid() && trilinos().isOurs(method));
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

bool forConjugateGradients(const std::string& method) { return trilinos().needsSymmetric(method); }

PreconditionerControls plainPreconditioner(bool symmetric) {
  return ownPreconditioner(symmetric ? "DIC" : "DILU", nullptr, dictionary());
}

SolverControls readControls(const dictionary& dict, const MatrixKind& matrix) {
  const bool symmetric = matrix.symmetric;
  warnUnknown(dict, knownKeys());
  SolverControls controls;
  // BiCGStab rather than GMRES: at the loose relTol of transport equations GMRES, which makes the residual least,
  // leaves larger errors where values are small (squareBend: nut off by 1.3, 0.07 with BiCGStab, by fewer iterations).
  controls.solver.method = dict.found("method") ? textOf(dict, "method")
                           : symmetric          ? "capstan_cg"
                                                : "capstan_bicgstab";
  requireFit(dict, controls.solver.method, symmetric);
  controls.methodNamed = dict.found("method");
  controls.preconditioner = readPreconditioner(dict, symmetric);
  const Settings own = dict.found("capstan") ? toSettings(dict.subDict("capstan")) : Settings{};
  const auto withGuesses = [&](bool wanted) {
    return wanted && symmetric && matrix.ofCase ? together(ofEarlierSolves(), own) : own;
  };
  controls.solver.settings = withGuesses(learnsFromSolves(controls.solver.method, controls.preconditioner));
  if (!controls.methodNamed) controls.ofCycles = flexibleMethod(withGuesses(true));
  controls.named = dict.found("preconditioner");
  if (!controls.named) {
    controls.multigrid = ownPreconditioner("GAMG", nullptr, dict);
    // nSweeps is one of OpenFOAM's smoothSolver, a low limit one for multigrid.
    constexpr Foam::label low = 100;
    controls.multigridFirst =
        (dict.found("smoother") && !dict.found("nSweeps")) || dict.getOrDefault<Foam::label>("maxIter", low) < low;
  }
  remarkLeftovers(dict, controls.multigridFirst ? controls.multigrid : controls.preconditioner);
  if (dict.found("caching")) {
    const dictionary& caching = dict.subDict("caching");
    warnUnknown(caching, {"matrix", "preconditioner"});
    controls.matrixUpdate = readPolicy(caching, "matrix", false);
    controls.preconditionerUpdate = readPolicy(caching, "preconditioner", true);
  }
  controls.dump = readDumpControls(dict);
  controls.verify = dict.getOrDefault<Foam::Switch>("verify", false);
  const char* environment = std::getenv("CAPSTAN_FOAM_SUMMARY");
  const bool byEnvironment = environment != nullptr && *environment != '\0' && std::string(environment) != "0";
  controls.summary = dict.getOrDefault<Foam::Switch>("summary", byEnvironment);
  return controls;
}

}  // namespace capstan::foam
