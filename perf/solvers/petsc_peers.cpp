#include <fmt/format.h>

#include <map>
#include <stdexcept>
#include <utility>

#include "adapters/preconditioners/boomeramg.hpp"
#include "belos_ext/spectrum/chebyshev_polynomial.hpp"
#include "perf/solvers/peers.hpp"
#include "perf/solvers/petsc_contestants.hpp"

namespace capstan::perf {
namespace {

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

class PetscPeers final : public PeerLibrary {
 public:
  std::string name() const override { return "PETSc"; }
  std::string version() const override { return PetscLibrary::version(); }

  std::vector<Method> methods() const override {
    std::vector<Method> all;
    for (const auto& method : petscMethods()) all.push_back({method.word(), method.group, method.chebyshevSteps == 0});
    return all;
  }

  std::vector<std::string> preconditioners() const override {
    std::vector<std::string> known = {"none", "jacobi"};
    if (PetscLibrary::hasHypre()) known.emplace_back("boomeramg");
    return known;
  }

  void join(std::size_t index, const PeerOptions& peer, Field& field) override {
    const auto& method = petscMethods()[index];
    // It would test the norm of M^-1 r, and end elsewhere.
    const bool otherNorm = method.name == "pipecr" && peer.preconditioner != "none";
    if (otherNorm || (method.chebyshevSteps > 0 && peer.preconditioner == "boomeramg")) return;
    PetscOptions options;
    options.preconditioner = peer.preconditioner;
    options.tolerance = peer.tolerance;
    options.maxIterations = peer.maxIterations;
    options.restart = peer.restart;
    if (peer.preconditioner == "boomeramg") {
      options.boomerAmg = boomerAmgOptions(preconditioning::boomerAmgSettings(peer.preconditionerParameters, *field.A));
    }
    if (method.chebyshevSteps > 0) {  // as "Polynomial Degree" has it
      const auto interval = ChebyshevPolynomial(method.chebyshevSteps, {0, tuning::polynomial::margin}).interval();
      options.chebyshevLower = interval.min;
      options.chebyshevUpper = interval.max;
    }
    field.contestants.push_back(makePetscContestant(method, field.local, options, MPI_COMM_WORLD));
  }

 private:
  PetscLibrary library_;
};

}  // namespace

std::unique_ptr<PeerLibrary> petscLibrary() { return std::make_unique<PetscPeers>(); }

}  // namespace capstan::perf
