#include "adapters/deck/system_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>

#include "adapters/deck/dg_mesh.hpp"
#include "adapters/deck/map_reader.hpp"
#include "adapters/deck/matrix_market.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::deck {
namespace {

constexpr int anyInt = std::numeric_limits<int>::max();
constexpr double anyReal = std::numeric_limits<double>::max();

std::vector<std::string> generatorWords() {
  std::vector<std::string> words;
  for (const auto& row : generatorNames()) words.push_back(row.name);
  return words;
}

bool startsWith(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

/// Reads `generate:`, a name or a map with `problem` and what belongs to it.
std::optional<GeneratorOptions> readGenerator(const YAML::Node& node, const Place& place, Diagnostics& diagnostics) {
  YAML::Node map = node;
  if (node.IsScalar()) {
    map.reset(YAML::Node(YAML::NodeType::Map));
    map["problem"] = node;
  }
  MapReader reader(map, place, diagnostics);
  const auto problem = reader.word("problem", generatorWords());
  if (!problem) {
    if (map.IsMap() && !reader.has("problem")) reader.error("problem", "missing; allowed: " + oneOf(generatorWords()));
    return std::nullopt;
  }
  const auto& name = *findGenerator(*problem);
  const auto dimensions = static_cast<std::size_t>(name.dimensions);
  GeneratorOptions options;
  options.problem = name.name;
  if (dimensions > 0) {
    const YAML::Node cells = reader.node("cells");
    if (cells.IsDefined() && cells.IsScalar()) {
      const auto all = reader.integer("cells", 1, anyInt);
      if (all) options.cells.assign(1, *all);
    } else {
      options.cells = reader.integers("cells", dimensions, dimensions, 1).value_or(std::vector<int>{});
    }
  }
  if (name.name == "anisotropic2d") {
    options.epsilon = reader.real("epsilon", 0.0, anyReal, true).value_or(options.epsilon);
    options.angle = reader.real("angle", -360.0, 360.0).value_or(options.angle);
  } else if (startsWith(name.name, "convection_diffusion")) {
    options.velocity = reader.reals("velocity", dimensions, dimensions).value_or(std::vector<double>{});
    options.diffusion = reader.real("diffusion", 0.0, anyReal, true).value_or(options.diffusion);
    options.upwind = reader.word("scheme", {"upwind", "central"}).value_or("upwind") == "upwind";
  } else if (name.name == "stretched_poisson3d") {
    options.stretching = reader.reals("stretching", 3, 3).value_or(std::vector<double>{});
    for (const double ratio : options.stretching) {
      if (ratio <= 0.0) reader.error("stretching", fmt::format("found {}; allowed: ratios greater than 0", ratio));
    }
    options.pinned = reader.boolean("pinned").value_or(true);
  } else if (name.name == "dg_laplace2d") {
    options.mesh = reader.word("mesh", {"square", "star"}).value_or(options.mesh);
    options.numbering = reader.word("numbering", dgNumberingNames()).value_or(options.numbering);
    options.degree = reader.integer("degree", 1, 7).value_or(options.degree);
    options.penalty = reader.real("penalty", 0.0, anyReal, true).value_or(options.penalty);
  } else if (name.name == "diagonal") {
    const auto values = reader.reals("values", 1, std::numeric_limits<std::size_t>::max());
    if (values) options.values = *values;
    if (!reader.has("values")) reader.error("values", "missing; allowed: a list of numbers");
  }
  reader.finish();
  options = withDefaults(options);
  if (const auto found = generatorProblem(options); !found.empty()) reader.error("cells", "found " + found);
  return options;
}

class SystemReader {
 public:
  SystemReader(const YAML::Node& node, const Place& place, const std::string& folder,
               const std::vector<std::string>& solverNames, Diagnostics& diagnostics)
      : map_(node, place, diagnostics), folder_(folder), solverNames_(solverNames) {
    system_.place = place;
  }

  SystemOptions read(std::size_t index) {
    readMatrix();
    readVectors();
    readSequence();
    readSolvers();
    system_.name = map_.text("name").value_or(defaultName(index));
    map_.finish();
    return system_;
  }

 private:
  void readMatrix() {
    const auto file = map_.text("matrix");
    const YAML::Node generator = map_.node("generate");
    system_.matrixPlace = map_.place(generator.IsDefined() ? "generate" : "matrix");
    if (file && generator.IsDefined()) map_.error("generate", "conflicts with matrix; give one of them");
    if (!map_.has("matrix") && !generator.IsDefined()) {
      map_.diagnostics().error(map_.place(), "found neither matrix nor generate; allowed: one of them");
    }
    if (file) system_.matrixFile = resolvePath(*file, folder_);
    if (generator.IsDefined()) {
      system_.generator = readGenerator(generator, map_.place("generate"), map_.diagnostics());
    }
  }

  void readVectors() {
    const std::string rhs = map_.text("rhs").value_or("A*ones");
    system_.rhsPlace = map_.place("rhs");
    if (rhs == "ones") {
      system_.rhs = RhsKind::Ones;
    } else if (rhs == "random") {
      system_.rhs = RhsKind::Random;
    } else if (rhs != "A*ones") {
      system_.rhs = RhsKind::File;
      system_.rhsFile = vectorFile("rhs", rhs, {"ones", "random", "A*ones"});
    }
    const std::string guess = map_.text("guess").value_or("zero");
    system_.guessPlace = map_.place("guess");
    if (guess == "random") {
      system_.guess = GuessKind::Random;
    } else if (guess != "zero") {
      system_.guess = GuessKind::File;
      system_.guessFile = vectorFile("guess", guess, {"zero", "random"});
    }
    const auto seed = map_.integer("seed", 0, anyInt);
    system_.seed = seed.value_or(1);
    if (seed && system_.rhs != RhsKind::Random && system_.guess != GuessKind::Random) {
      map_.warning("seed", "has no effect; nothing here is random");
    }
  }

  /// A word that is none of the known ones is a file; one that looks like a word is told so.
  std::string vectorFile(const std::string& key, const std::string& text, const std::vector<std::string>& words) {
    if (text.empty() || (text.find('.') == std::string::npos && text.find('/') == std::string::npos)) {
      map_.error(key, fmt::format("found '{}'; allowed: {}, or a Matrix Market file{}", text, oneOf(words),
                                  didYouMean(text, words)));
      return "";
    }
    return resolvePath(text, folder_);
  }

  void readSequence() {
    const YAML::Node node = map_.node("sequence");
    if (!node.IsDefined()) return;
    MapReader reader(node, map_.place("sequence"), map_.diagnostics());
    auto& sequence = system_.sequence;
    sequence.steps = reader.integer("steps", 1, anyInt).value_or(1);
    sequence.outerIterations = reader.integer("outer_iterations", 1, anyInt).value_or(1);
    if (sequence.outerIterations > anyInt / sequence.steps) {
      reader.error("outer_iterations",
                   fmt::format("found {} in each of {} steps; allowed: at most {} solves in all, so here at most {}",
                               sequence.outerIterations, sequence.steps, anyInt, anyInt / sequence.steps));
    }
    sequence.change = reader.real("change", 0.0, 0.5).value_or(0.01);
    sequence.timeStep = reader.real("time_step", std::numeric_limits<double>::min(), 1e300).value_or(0.0);
    sequence.previousGuess = reader.word("guess", {"previous", "same"}).value_or("previous") == "previous";
    reader.finish();
  }

  void readSolvers() {
    const YAML::Node node = map_.node("solver");
    const YAML::Node list = map_.node("solvers");
    if (node.IsDefined() && list.IsDefined()) map_.error("solvers", "conflicts with solver; give one of them");
    if (!node.IsDefined() && !list.IsDefined()) {
      if (!solverNames_.empty()) system_.solvers = {0};
      return;
    }
    const std::string key = list.IsDefined() ? "solvers" : "solver";
    const YAML::Node names = list.IsDefined() ? list : node;
    if (names.IsSequence() && names.size() > 0) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        addSolver(childPlace(map_.place(key), fmt::format("[{}]", i), names[i]), names[i]);
      }
    } else {
      addSolver(map_.place(key), names);
    }
  }

  void addSolver(const Place& place, const YAML::Node& node) {
    const std::string name = node.IsScalar() ? node.Scalar() : "";
    if (name == "all") {
      system_.solvers.resize(solverNames_.size());
      std::iota(system_.solvers.begin(), system_.solvers.end(), std::size_t{0});
      return;
    }
    const auto found = std::find(solverNames_.begin(), solverNames_.end(), name);
    if (found != solverNames_.end() && !name.empty()) {
      system_.solvers.push_back(static_cast<std::size_t>(found - solverNames_.begin()));
      return;
    }
    auto allowed = solverNames_;
    allowed.emplace_back("all");
    map_.diagnostics().error(
        place, fmt::format("found {}; allowed: {}{}", foundText(node), oneOf(allowed), didYouMean(name, allowed)));
  }

  std::string defaultName(std::size_t index) const {
    if (system_.generator) return system_.generator->problem;
    std::string stem = std::filesystem::path(system_.matrixFile).filename().string();
    stem = stem.substr(0, stem.find('.'));
    return stem.empty() ? fmt::format("system{}", index) : stem;
  }

  MapReader map_;
  SystemOptions system_;
  std::string folder_;
  const std::vector<std::string>& solverNames_;
};

}  // namespace

std::vector<SystemOptions> readSystems(const YAML::Node& block, const Place& place, const std::string& folder,
                                       const std::vector<std::string>& solverNames, Diagnostics& diagnostics) {
  return readNamedList(block, place, "system", diagnostics,
                       [&](const YAML::Node& node, const Place& here, std::size_t index) {
                         return SystemReader(node, here, folder, solverNames, diagnostics).read(index);
                       });
}

}  // namespace capstan::deck
