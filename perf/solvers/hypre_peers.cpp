#include "perf/solvers/hypre_peers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "perf/solvers/peer_options.hpp"

#ifdef CAPSTAN_WITH_HYPRE
#include "perf/solvers/hypre_contestants.hpp"
#endif

namespace capstan::perf {
namespace {

bool off(const std::vector<std::string>& wanted) { return wanted.size() == 1 && wanted[0] == "off"; }

}  // namespace

#ifdef CAPSTAN_WITH_HYPRE

std::string hypreVersion() { return hypreLibraryVersion(); }

void checkHypreMethods(const std::vector<std::string>& wanted) {
  if (off(wanted)) return;
  std::vector<std::string> allowed = {"off"};
  for (const auto& method : hypreMethods()) allowed.push_back(method.name);
  for (const auto& name : wanted) {
    if (name != "off" && std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    throw deck::InputError(fmt::format("--hypre: found '{}'; allowed: {}", name, fmt::join(allowed, ", ")));
  }
}

std::vector<std::string> joinHypre(const std::vector<std::string>& wanted, const deck::Deck& deck,
                                   const deck::SystemOptions& system, Field& field) {
  std::vector<std::string> leftOut;
  if (off(wanted)) return leftOut;
  std::shared_ptr<HypreSystem> shared;
  for (const char* group : {"GMRES", "CG", "BiCGStab"}) {
    if (!groupTakesPart(group, deck, system)) continue;
    const auto options = peerOptions(group, deck, system, {"none", "jacobi", "boomeramg"});
    if (!options) {
      leftOut.push_back(fmt::format("{}: no hypre peers for {}: every solver has a preconditioner that hypre lacks",
                                    system.name, group));
      continue;
    }
    for (const auto& method : hypreMethods()) {
      const bool asked = wanted.empty() || std::find(wanted.begin(), wanted.end(), method.name) != wanted.end();
      if (!asked || method.group != group) continue;
      if (!shared) shared = makeHypreSystem(field.A, field.b);
      field.contestants.push_back(makeHypreContestant(method, shared, *options));
    }
  }
  return leftOut;
}

#else

std::string hypreVersion() { return ""; }

void checkHypreMethods(const std::vector<std::string>& wanted) {
  if (wanted.empty() || off(wanted)) return;
  throw deck::InputError(fmt::format("--hypre: found '{}', but this program was built without hypre; allowed: off",
                                     fmt::join(wanted, ",")));
}

std::vector<std::string> joinHypre(const std::vector<std::string>&, const deck::Deck&, const deck::SystemOptions&,
                                   Field&) {
  return {};
}

#endif

}  // namespace capstan::perf
