#include <stdexcept>

#include "belos_ext/solvers/cg/cg.hpp"
#include "belos_ext/solvers/gmres/gmres.hpp"
#include "belos_ext/solvers/gmres/pipelined_gmres.hpp"
#include "belos_ext/solvers/gmres/sstep_gmres.hpp"
#include "belos_ext/solvers/pipelined_cg/pipelined_cg.hpp"
#include "tpetra_ext/compat/instantiate.hpp"

namespace capstan {

template <class Types>
std::unique_ptr<KrylovSolver<Types>> makeKrylovSolver(Method method) {
  switch (method) {
    case Method::Gmres:
      return std::make_unique<Gmres<Types>>();
    case Method::SStepGmres:
      return std::make_unique<SStepGmres<Types>>();
    case Method::PipelinedGmres:
      return std::make_unique<PipelinedGmres<Types>>(false);
    case Method::PipelinedSStepGmres:
      return std::make_unique<PipelinedGmres<Types>>(true);
    case Method::PipelinedCg:
      return std::make_unique<PipelinedCg<Types>>();
    case Method::Cg:
      return std::make_unique<Cg<Types>>();
    default:
      throw std::logic_error("capstan: a solver name without a method behind it");
  }
}

#define CAPSTAN_MAKE_SOLVER(S, LO, GO, NO)                                                                         \
  template std::unique_ptr<KrylovSolver<TpetraTypes<S, LO, GO, NO>>> makeKrylovSolver<TpetraTypes<S, LO, GO, NO>>( \
      Method);

CAPSTAN_INSTANTIATE(CAPSTAN_MAKE_SOLVER)

}  // namespace capstan
