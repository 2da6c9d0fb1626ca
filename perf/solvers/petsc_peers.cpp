#include "perf/solvers/petsc_peers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#ifdef CAPSTAN_WITH_PETSC
#include "perf/solvers/petsc_contestants.hpp"
#endif

namespace capstan::perf {

#ifdef CAPSTAN_WITH_PETSC

struct PetscPeers::State {
  std::vector<PetscMethod> methods;
  std::unique_ptr<PetscLibrary> library;
};

namespace {

std::vector<PetscMethod> chosen(const std::vector<std::string>& wanted) {
  if (wanted.empty()) return petscMethods();
  std::vector<PetscMethod> methods;
  std::vector<std::string> allowed = {"off"};
  for (const auto& method : petscMethods()) allowed.push_back(method.name);
  for (const auto& name : wanted) {
    const auto found = std::find_if(petscMethods().begin(), petscMethods().end(),
                                    [&name](const PetscMethod& method) { return method.name == name; });
    if (found == petscMethods().end()) {
      throw deck::InputError(fmt::format("--petsc: found '{}'; allowed: {}", name, fmt::join(allowed, ", ")));
    }
    methods.push_back(*found);
  }
  return methods;
}

/// The options of a group's first solver that PETSc can be given too.
std::optional<PetscOptions> optionsOf(const std::string& group, const deck::Deck& deck,
                                      const deck::SystemOptions& system) {
  for (const auto index : system.solvers) {
    const auto& solver = deck.linearSolvers[index];
    const auto& preconditioner = solver.preconditioner.name;
    if (groupOf(solver.method) != group || (preconditioner != "none" && preconditioner != "jacobi")) continue;
    PetscOptions options;
    options.preconditioner = preconditioner;
    options.tolerance = solver.finalTolerance;
    if (solver.parameters.isType<int>("Maximum Iterations")) {
      options.maxIterations = solver.parameters.get<int>("Maximum Iterations");
    }
    if (solver.parameters.isType<int>("Num Blocks")) options.restart = solver.parameters.get<int>("Num Blocks");
    return options;
  }
  return std::nullopt;
}

}  // namespace

PetscPeers::PetscPeers(const std::vector<std::string>& wanted) : state_(std::make_unique<State>()) {
  if (wanted.size() == 1 && wanted[0] == "off") return;
  state_->methods = chosen(wanted);
  state_->library = std::make_unique<PetscLibrary>();
}

bool PetscPeers::any() const { return !state_->methods.empty(); }

std::string PetscPeers::version() const { return any() ? PetscLibrary::version() : ""; }

std::vector<std::string> PetscPeers::join(const deck::Deck& deck, const deck::SystemOptions& system,
                                          const LocalSystem& local, MPI_Comm comm, Contestants& contestants) const {
  std::vector<std::string> leftOut;
  for (const char* group : {"GMRES", "CG"}) {
    const bool asked = std::any_of(system.solvers.begin(), system.solvers.end(), [&](std::size_t index) {
      return groupOf(deck.linearSolvers[index].method) == group;
    });
    if (!asked) continue;
    const auto options = optionsOf(group, deck, system);
    if (!options) {
      leftOut.push_back(fmt::format("{}: no PETSc peers for {}: every solver has a preconditioner that PETSc lacks",
                                    system.name, group));
      continue;
    }
    for (const auto& method : state_->methods) {
      if (method.group == group) contestants.push_back(makePetscContestant(method, local, *options, comm));
    }
  }
  return leftOut;
}

#else

struct PetscPeers::State {};

PetscPeers::PetscPeers(const std::vector<std::string>& wanted) : state_(std::make_unique<State>()) {
  if (wanted.empty() || (wanted.size() == 1 && wanted[0] == "off")) return;
  throw deck::InputError(fmt::format("--petsc: found '{}', but this program was built without PETSc; allowed: off",
                                     fmt::join(wanted, ",")));
}

bool PetscPeers::any() const { return false; }

std::string PetscPeers::version() const { return ""; }

std::vector<std::string> PetscPeers::join(const deck::Deck&, const deck::SystemOptions&, const LocalSystem&, MPI_Comm,
                                          Contestants&) const {
  return {};
}

#endif

PetscPeers::~PetscPeers() = default;

}  // namespace capstan::perf
