#include "perf/solvers/hpddm_peers.hpp"

#include <fmt/format.h>

#include <set>

#include "belos_ext/parameters/method_traits.hpp"

#ifdef CAPSTAN_WITH_HPDDM
#include "perf/solvers/hpddm_contestants.hpp"
#endif

namespace capstan::perf {

#ifdef CAPSTAN_WITH_HPDDM

std::string hpddmVersion() { return hpddmLibraryVersion(); }

std::vector<std::string> joinHpddm(const deck::Deck& deck, const deck::SystemOptions& system, Field& field,
                                   MPI_Comm comm) {
  std::vector<std::string> leftOut;
  std::set<int> known;
  for (const auto index : system.solvers) {
    const auto& solver = deck.linearSolvers[index];
    const MethodTraits* ours = findMethod(solver.method);
    if (ours == nullptr || !ours->takes("Enlarging Factor")) continue;
    if (!solver.parameters.isType<int>("Enlarging Factor")) continue;
    HpddmOptions options;
    options.factor = solver.parameters.get<int>("Enlarging Factor");
    if (options.factor < 2 || known.count(options.factor) > 0) continue;
    if (solver.preconditioner.name != "none") {
      leftOut.push_back(fmt::format("{}: no HPDDM peer of {}: it has a preconditioner", system.name, solver.name));
      continue;
    }
    known.insert(options.factor);
    options.tolerance = solver.finalTolerance;
    if (solver.parameters.isType<int>("Maximum Iterations")) {
      options.maxIterations = solver.parameters.get<int>("Maximum Iterations");
    }
    field.contestants.push_back(makeHpddmContestant(field.A, field.b, options, comm));
  }
  return leftOut;
}

#else

std::string hpddmVersion() { return ""; }

std::vector<std::string> joinHpddm(const deck::Deck&, const deck::SystemOptions&, Field&, MPI_Comm) { return {}; }

#endif

}  // namespace capstan::perf
