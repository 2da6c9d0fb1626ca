#include "adapters/plugin/register.hpp"

#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Teuchos_ScalarTraits.hpp>
#include <type_traits>

#include "adapters/plugin/dense_matrix_manager.hpp"
#include "adapters/plugin/solver_factory.hpp"
#include "belos_ext/parameters/parameter_overlay.hpp"
#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/kernels/base/instruction_set.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan {

namespace {

/// Reaches addFactory(), which is an instance method although it adds the factory for all instances, without the
/// constructor of Belos::TpetraSolverFactory: that one makes all of Belos' solvers, too much for a library's
/// constructor.
template <class S, class MV, class OP>
class Registry : public Belos::Impl::SolverFactoryParent<S, MV, OP> {};

template <class S, class LO, class GO, class NO>
void registerFor() {
  using MV = Tpetra::MultiVector<S, LO, GO, NO>;
  using OP = Tpetra::Operator<S, LO, GO, NO>;
  Registry<S, MV, OP> registry;
  if constexpr (std::is_same_v<S, float> || std::is_same_v<S, double>) {
    // Asked each time rather than remembered, because a program that initialises the list of factories after this
    // library has run loses what was in it.
    if (registry.isSupported(methods().front().canonical)) return;
    registry.addFactory(Teuchos::rcp(new SolverFactory<TpetraTypes<S, LO, GO, NO>>));
    registerForDenseMatrix<S, MV, OP, typename DeviceDenseMatrix<MV>::Type, SolverFactory<TpetraTypes<S, LO, GO, NO>>,
                           Belos::Impl::SolverFactoryParent, Belos::SolverManager, Belos::CustomSolverFactory,
                           Belos::StatusTest, Belos::StatusTestCombo, Belos::Iteration>(0);
  } else {
    static bool added = false;
    if (!added) registry.addFactory(Teuchos::rcp(new RefusingFactory<S, MV, OP>));
    added = true;
  }
}

}  // namespace

UserOptions optionsBeforeSolver() {
  return saidOnStderr([] {
    kernels::instructionSet();
    return environmentOptions();
  });
}

void registerSolvers() {
#define CAPSTAN_REGISTER(S, LO, GO, NO) registerFor<S, LO, GO, NO>();
  TPETRA_INSTANTIATE_SLGN_NO_ORDINAL_SCALAR(CAPSTAN_REGISTER)
#undef CAPSTAN_REGISTER
  setParameterOverlay([](const SolveFacts& facts) { return environmentOptions().forSolve(facts); });
}

}  // namespace capstan
