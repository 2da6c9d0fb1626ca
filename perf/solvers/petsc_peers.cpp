#include "perf/solvers/petsc_peers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

#include "adapters/preconditioners/boomeramg.hpp"
#include "belos_ext/spectrum/chebyshev_polynomial.hpp"
#include "perf/solvers/peer_options.hpp"

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
  std::vector<PetscMethod> methods;
  if (wanted.empty()) {
    std::copy_if(petscMethods().begin(), petscMethods().end(), std::back_inserter(methods),
                 [](const PetscMethod& method) { return method.chebyshevSteps == 0; });
    return methods;
  }
  std::vector<std::string> allowed = {"off"};
  for (const auto& method : petscMethods()) {  // pipelcg has several depths
    if (std::find(allowed.begin(), allowed.end(), method.word()) == allowed.end()) allowed.push_back(method.word());
  }
  for (const auto& name : wanted) {
    const std::size_t before = methods.size();
    std::copy_if(petscMethods().begin(), petscMethods().end(), std::back_inserter(methods),
                 [&name](const PetscMethod& method) { return method.word() == name; });
    if (methods.size() == before) {
      throw deck::InputError(fmt::format("--petsc: found '{}'; allowed: {}", name, fmt::join(allowed, ", ")));
    }
  }
  return methods;
}

using preconditioning::BoomerAmgSettings;

std::string text(double value) { return fmt::format("{:.17g}", value); }

/// hypre's numbers as PETSc's words.
std::string relaxation(int type) {
  switch (type) {
    case 6:
      return "symmetric-SOR/Jacobi";
    case 8:
      return "l1scaled-SOR/Jacobi";
    case 9:
      return "Gaussian-elimination";
    case 13:
      return "l1-Gauss-Seidel";
    case 14:
      return "backward-l1-Gauss-Seidel";
    case 16:
      return "Chebyshev";
    case 18:
      return "l1scaled-Jacobi";
    default:
      throw std::logic_error(fmt::format("PETSc has no word for hypre's relaxation {}", type));
  }
}

/// The parameters of a deck's boomeramg as options of PETSc's.
std::vector<std::pair<std::string, std::string>> boomerAmgOptions(const BoomerAmgSettings& own) {
  const bool direct = own.coarse == BoomerAmgSettings::Coarse::Direct;
  const std::map<int, std::string> coarsenings = {{6, "Falgout"}, {8, "PMIS"}, {10, "HMIS"}};
  const std::map<int, std::string> interpolations = {{0, "classical"}, {3, "direct"}, {6, "ext+i"}, {14, "ext"}};
  return {{"strong_threshold", text(own.strongThreshold)},
          {"coarsen_type", coarsenings.at(own.coarsening)},
          {"interp_type", interpolations.at(own.interpolation)},
          {"P_max", std::to_string(own.interpolationEntries)},
          {"truncfactor", text(own.truncation)},
          {"agg_nl", std::to_string(own.aggressiveLevels)},
          {"max_levels", std::to_string(own.levels)},
          {"max_coarse_size", std::to_string(own.coarseRows)},
          {"relax_type_all", relaxation(own.relaxCoarse)},
          {"relax_type_down", relaxation(own.relaxDown)},
          {"relax_type_up", relaxation(own.relaxUp)},
          {"relax_type_coarse", relaxation(direct ? 9 : own.relaxCoarse)},
          {"grid_sweeps_down", std::to_string(own.sweeps)},
          {"grid_sweeps_up", std::to_string(own.sweeps)},
          {"grid_sweeps_coarse", std::to_string(direct ? 1 : own.coarseSweeps)},
          {"no_CF", "true"}};
}

PetscOptions optionsFor(const PeerOptions& peer, const deck::Matrix& A) {
  PetscOptions options;
  options.preconditioner = peer.preconditioner;
  options.tolerance = peer.tolerance;
  options.maxIterations = peer.maxIterations;
  options.restart = peer.restart;
  if (peer.preconditioner == "boomeramg") {
    options.boomerAmg = boomerAmgOptions(preconditioning::boomerAmgSettings(peer.preconditionerParameters, A));
  }
  return options;
}

}  // namespace

PetscPeers::PetscPeers(const std::vector<std::string>& wanted) : state_(std::make_unique<State>()) {
  if (wanted.size() == 1 && wanted[0] == "off") return;
  state_->methods = chosen(wanted);
  state_->library = std::make_unique<PetscLibrary>();
}

bool PetscPeers::any() const { return !state_->methods.empty(); }

std::string PetscPeers::version() const { return any() ? PetscLibrary::version() : ""; }

std::vector<std::string> PetscPeers::join(const deck::Deck& deck, const deck::SystemOptions& system, Field& field,
                                          MPI_Comm comm) const {
  std::vector<std::string> leftOut, known = {"none", "jacobi"};
  if (any() && PetscLibrary::hasHypre()) known.emplace_back("boomeramg");
  for (const char* group : {"GMRES", "CG", "BiCGStab"}) {
    if (!groupTakesPart(group, deck, system)) continue;
    const auto peer = peerOptions(group, deck, system, known);
    if (!peer) {
      leftOut.push_back(fmt::format("{}: no PETSc peers for {}: every solver has a preconditioner that PETSc lacks",
                                    system.name, group));
      continue;
    }
    PetscOptions options = optionsFor(*peer, *field.A);
    for (const auto& method : state_->methods) {
      // It would test the norm of M^-1 r, and end elsewhere.
      const bool otherNorm = method.name == "pipecr" && options.preconditioner != "none";
      const bool instead = method.chebyshevSteps > 0 && options.preconditioner == "boomeramg";
      if (method.group != group || otherNorm || instead) continue;
      if (method.chebyshevSteps > 0) {  // as "Polynomial Degree" has it
        const auto interval = ChebyshevPolynomial(method.chebyshevSteps, {0, tuning::polynomial::margin}).interval();
        options.chebyshevLower = interval.min;
        options.chebyshevUpper = interval.max;
      }
      field.contestants.push_back(makePetscContestant(method, field.local, options, comm));
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

std::vector<std::string> PetscPeers::join(const deck::Deck&, const deck::SystemOptions&, Field&, MPI_Comm) const {
  return {};
}

#endif

PetscPeers::~PetscPeers() = default;

}  // namespace capstan::perf
