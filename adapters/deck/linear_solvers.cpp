#include "adapters/deck/linear_solvers.hpp"

#include <fmt/format.h>

#include <BelosTypes.hpp>
#include <algorithm>
#include <cctype>
#include <limits>

#include "adapters/deck/known_parameters.hpp"
#include "adapters/deck/map_reader.hpp"
#include "adapters/driver/belos_method.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/parameter_value.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::deck {
namespace {

constexpr int anyInt = std::numeric_limits<int>::max();
constexpr double anyReal = std::numeric_limits<double>::max();

/// Reads one entry; one function a group of keys.
class EntryReader {
 public:
  /// \param named it is one of several, and needs a name
  EntryReader(const YAML::Node& node, const Place& place, bool named, Diagnostics& diagnostics)
      : map_(node, place, diagnostics), named_(named) {
    entry_.place = place;
  }

  LinearSolver read() {
    readNames();
    readTolerances();
    readPreconditioner();
    const bool known = readMethod();
    // Keys are asked for even when the method is unknown, so that they do not count as unknown as well.
    const auto kspace = map_.integer("kspace", 1, anyInt);
    const auto outputLevel = map_.integer("output_level", 0, anyInt);
    const auto maxIterations = map_.integer("max_iterations", 0, anyInt);
    const YAML::Node step = map_.node("krylov_step_size");
    const YAML::Node extra = map_.node("parameters");
    if (known) {
      const KnownParameters parameters(entry_.method);
      setLimits(parameters, maxIterations.value_or(50), kspace.value_or(50), kspace.has_value());
      setOutput(parameters, outputLevel.value_or(0));
      setStepSize(parameters, step, kspace.value_or(50));
      setExtra(parameters, extra);
    }
    readSwitches();
    map_.finish();
    return entry_;
  }

 private:
  void readNames() {
    const auto name = map_.text("name");
    if (name && !name->empty()) {
      entry_.name = *name;
    } else if (named_ || map_.has("name")) {
      map_.error("name", "missing; allowed: a name of your choice");
    }
    const auto type = map_.text("type");
    if (type && *type != "tpetra") {
      map_.error("type", fmt::format("found '{}'; allowed: tpetra", *type));
    }
  }

  void readTolerances() {
    const auto tolerance = map_.real("tolerance", 0.0, anyReal);
    const auto finalTolerance = map_.real("final_tolerance", 0.0, anyReal);
    entry_.tolerance = tolerance.value_or(1e-4);
    entry_.finalTolerance = finalTolerance.value_or(entry_.tolerance);
    entry_.parameters.set("Convergence Tolerance", entry_.tolerance);
  }

  bool readMethod() {
    const auto method = map_.text("method");
    if (!method) {
      if (!map_.has("method")) map_.error("method", "missing; allowed: " + oneOf(driver::methodNames()));
      return false;
    }
    entry_.method = *method;
    if (*method == "sstep_gmres") {  // as Nalu-wind translates it
      entry_.method = "TPETRA GMRES S-STEP";
      entry_.parameters.set("Compute Ritz Values on Fly", true);
      entry_.parameters.set("CholeskyQR2", true);
    }
    if (driver::isMethod(entry_.method)) return true;
    const auto names = driver::methodNames();
    // Without any method it is not the name that is wrong but what all of them read: CAPSTAN_OPTIONS, for example.
    map_.error("method", names.empty() ? driver::whyNoMethod(entry_.method, {})
                                       : fmt::format("found '{}'; allowed: {}{}", *method, oneOf(names),
                                                     didYouMean(*method, names)));
    return false;
  }

  void setLimits(const KnownParameters& known, int maxIterations, int kspace, bool kspaceGiven) {
    entry_.parameters.set("Maximum Iterations", maxIterations);
    if (known.has("Num Blocks")) {
      entry_.parameters.set("Num Blocks", kspace);
    } else if (kspaceGiven) {
      map_.warning("kspace", fmt::format("has no effect on {}", entry_.method));
    }
    if (known.ofCapstan()) return;  // max_iterations bounds its restarts; the rest is right by default
    if (known.has("Maximum Restarts")) entry_.parameters.set("Maximum Restarts", std::max(1, maxIterations / kspace));
    if (known.has("Orthogonalization")) entry_.parameters.set("Orthogonalization", "ICGS");
    if (known.has("Implicit Residual Scaling")) {
      entry_.parameters.set("Implicit Residual Scaling", "Norm of Preconditioned Initial Residual");
    }
  }

  void setOutput(const KnownParameters& known, int level) {
    if (level == 0) return;
    entry_.parameters.set("Verbosity", static_cast<int>(Belos::Errors) + static_cast<int>(Belos::Warnings) +
                                           static_cast<int>(Belos::StatusTestDetails));
    if (known.has("Output Style")) entry_.parameters.set("Output Style", static_cast<int>(Belos::Brief));
    if (known.has("Output Frequency")) entry_.parameters.set("Output Frequency", level);
  }

  void setStepSize(const KnownParameters& known, const YAML::Node& node, int kspace) {
    if (!node.IsDefined()) return;
    if (!known.has("Step Size")) {
      map_.error("krylov_step_size", fmt::format("has no effect on {}; allowed with an s-step method", entry_.method));
      return;
    }
    if (node.IsScalar() && node.Scalar() == "auto" && known.ofCapstan()) {
      entry_.parameters.set("Step Size", "auto");
      return;
    }
    const auto step = map_.integer("krylov_step_size", 1, kspace, known.ofCapstan() ? ", or auto" : "");
    if (!step) return;
    entry_.parameters.set("Step Size", *step);
    if (!known.ofCapstan()) return;
    try {
      checkParameter(*findParameter("Step Size"), entry_.parameters.getEntry("Step Size"));
    } catch (const std::invalid_argument& error) {
      map_.error("krylov_step_size", error.what());
    }
  }

  void setExtra(const KnownParameters& known, const YAML::Node& node) {
    if (!node.IsDefined()) return;
    const Place here = map_.place("parameters");
    Teuchos::ParameterList extra = readParameters(node, here, map_.diagnostics());
    if (!node.IsMap()) return;
    const std::vector<std::pair<std::string, std::string>> twins = {{"Convergence Tolerance", "tolerance"},
                                                                    {"Convergence Tolerance", "final_tolerance"},
                                                                    {"Maximum Iterations", "max_iterations"},
                                                                    {"Num Blocks", "kspace"},
                                                                    {"Step Size", "krylov_step_size"}};
    for (const auto& item : node) {
      const std::string key = item.first.Scalar();
      if (!extra.isParameter(key)) continue;
      const Place place = childPlace(here, key, item.second);
      for (const auto& [belos, deck] : twins) {
        if (normalizedName(key) == normalizedName(belos) && map_.has(deck)) {
          map_.diagnostics().error(place, fmt::format("conflicts with {}; give one of them", map_.place(deck).path));
        }
      }
      known.check(key, place, extra, map_.diagnostics());
      mergeParameter(key, extra);
    }
    takeTolerance();
    if (known.ofCapstan() && !entry_.parameters.isParameter("Strict Parameters")) {
      entry_.parameters.set("Strict Parameters", true);
    }
  }

  /// Of the parameters, where it stands among them. 0 is an int there, and what is quoted a string.
  void takeTolerance() {
    try {
      const double given = toReal(entry_.parameters.getEntry("Convergence Tolerance"));
      if (given != entry_.tolerance) entry_.tolerance = entry_.finalTolerance = given;
    } catch (const std::invalid_argument&) {
      // The check of the parameter has said so.
    }
  }

  /// Moves a parameter over, replacing one that the deck's own keys set under another spelling.
  void mergeParameter(const std::string& key, const Teuchos::ParameterList& extra) {
    for (auto it = entry_.parameters.begin(); it != entry_.parameters.end(); ++it) {
      if (normalizedName(it->first) == normalizedName(key)) {
        const std::string old = it->first;
        entry_.parameters.remove(old);
        entry_.parameters.setEntry(old, extra.getEntry(key));
        return;
      }
    }
    entry_.parameters.setEntry(key, extra.getEntry(key));
  }

  void readPreconditioner() {
    const auto name = map_.text("preconditioner");
    entry_.preconditioner.name = name.value_or("default");
    entry_.preconditionerPlace = map_.place("preconditioner");
    const auto* row = findPreconditioner(entry_.preconditioner.name);
    std::vector<std::string> names;
    for (const auto& known : preconditionerNames()) names.push_back(known.name);
    if (row == nullptr) {
      map_.error("preconditioner",
                 fmt::format("found '{}'; allowed: {}{}", *name, oneOf(names), didYouMean(*name, names)));
    }
    if (map_.word("preconditioner_side", {"right", "left"}).value_or("right") == "left") {
      entry_.preconditioner.side = Side::Left;
    }
    const YAML::Node own = map_.node("preconditioner_parameters");
    if (own.IsDefined()) {
      const Place here = map_.place("preconditioner_parameters");
      entry_.preconditionerParameters = readParameters(own, here, map_.diagnostics());
      for (const auto& item : entry_.preconditionerParameters) {
        entry_.preconditionerParameterPlaces[item.first] = childPlace(here, item.first, own[item.first]);
      }
    }
    const auto inner = map_.integer("inner_iterations", 1, anyInt);
    if (row != nullptr && row->name == "sgs2") {
      if (!entry_.preconditionerParameters.isParameter("relaxation: inner sweeps")) {
        entry_.preconditionerParameters.set("relaxation: inner sweeps", inner.value_or(1));
      }
    } else if (inner) {
      map_.error("inner_iterations", "has no effect; allowed with preconditioner: sgs2");
    }
    readMueLu(row);
    readUpkeep();
  }

  void readMueLu(const PreconditionerName* row) {
    const auto file = map_.text("muelu_xml_file_name");
    entry_.mueluFile = file.value_or("");
    entry_.mueluPlace = map_.place("muelu_xml_file_name");
    if (row == nullptr) return;
    if (row->name != "muelu" && file) {
      map_.error("muelu_xml_file_name",
                 fmt::format("conflicts with preconditioner: {}; allowed with preconditioner: muelu", row->name));
    }
    // Nalu-wind falls back on a file of this name in the working folder.
    if (row->name == "muelu" && !file) entry_.mueluFile = "milestone.xml";
    if (row->name == "none" && map_.has("preconditioner_parameters")) {
      map_.error("preconditioner_parameters", "conflicts with preconditioner: none");
    }
  }

  void readUpkeep() {
    const auto recompute = map_.boolean("recompute_preconditioner");
    const auto reuse = map_.boolean("reuse_preconditioner");
    entry_.preconditioner.recompute = recompute.value_or(true);
    entry_.preconditioner.reuse = reuse.value_or(false);
    if (!entry_.preconditioner.reuse || !entry_.preconditioner.recompute) return;
    if (recompute) {
      map_.error("reuse_preconditioner", "conflicts with recompute_preconditioner: yes; give one of them");
    } else {
      map_.warning("reuse_preconditioner",
                   "has no effect while recompute_preconditioner is yes (the default); set that to no");
    }
  }

  void readSwitches() {
    entry_.writeMatrixFiles = map_.boolean("write_matrix_files").value_or(false);
    entry_.summarizeMueluTimer = map_.boolean("summarize_muelu_timer").value_or(false);
    for (const char* key : {"segregated_solver", "reuse_linear_system"}) {
      if (map_.boolean(key)) map_.warning(key, "has no effect here; it steers Nalu-wind's assembly");
    }
  }

  MapReader map_;
  bool named_;
  LinearSolver entry_;
};

}  // namespace

std::vector<LinearSolver> readLinearSolvers(const YAML::Node& block, const Place& place, Diagnostics& diagnostics) {
  return readNamedList(block, place, "solver", diagnostics,
                       [&](const YAML::Node& node, const Place& here, std::size_t) {
                         return EntryReader(node, here, true, diagnostics).read();
                       });
}

LinearSolver readLinearSolver(const YAML::Node& entry, const Place& place, Diagnostics& diagnostics) {
  return EntryReader(entry, place, false, diagnostics).read();
}

}  // namespace capstan::deck
