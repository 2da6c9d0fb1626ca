/// \file
/// The methods: one row each. A new method is a file in belos_ext/solvers, a row here, and its paper in
/// docs/references.md.

#include <stdexcept>

#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/parameter_groups.hpp"
#include "belos_ext/solvers/bicgstab/bicgstab.hpp"
#include "belos_ext/solvers/bicgstab/pipelined_bicgstab.hpp"
#include "belos_ext/solvers/cg/cg.hpp"
#include "belos_ext/solvers/cg/flexible_cg.hpp"
#include "belos_ext/solvers/common/with_polynomial.hpp"
#include "belos_ext/solvers/cr/cr.hpp"
#include "belos_ext/solvers/embedded_cg/embedded_cg.hpp"
#include "belos_ext/solvers/enlarged_cg/enlarged_cg.hpp"
#include "belos_ext/solvers/gmres/gmres.hpp"
#include "belos_ext/solvers/gmres/pipelined_gmres.hpp"
#include "belos_ext/solvers/gmres/sstep_gmres.hpp"
#include "belos_ext/solvers/idr/idr.hpp"
#include "belos_ext/solvers/pipelined_cg/pipelined_cg.hpp"
#include "belos_ext/supervision/supervisor.hpp"
#include "belos_ext/supervision/two_forms.hpp"
#include "tpetra_ext/compat/instantiate.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan {
namespace {

template <class Types>
struct Row {
  MethodTraits traits;
  std::unique_ptr<KrylovSolver<Types>> (*make)();
};

/// \tparam Solver what it makes, and whose options say which parameters it takes
template <class Types, class Solver, bool... arguments>
Row<Types> row(MethodTraits traits) {
  traits.parameters = namesOf(static_cast<const typename Solver::Options*>(nullptr));
  return {std::move(traits),
          [] { return std::unique_ptr<KrylovSolver<Types>>(std::make_unique<Solver>(arguments...)); }};
}

// Both forms of pipelined GMRES are one method.
using Pipeline =
    MethodOptions<RestartOptions, DepthOptions, HiddenOptions, SchemeOptions, ShiftOptions, SpectrumOptions>;
using BlockPipeline = MethodOptions<RestartOptions, DepthOptions, HiddenOptions, StepSizeOptions, ShiftOptions,
                                    SpectrumOptions, DropOptions>;

/// With the form for an M that is costly or not linear beside it.
template <class Types, class Form>
using WithFlexibleForm = Supervised<Types, TwoForms<Types, CgVectors<Types>, Form, FlexibleCg<Types>>>;

template <class Types>
std::vector<Row<Types>> rows() {
  // Made here, since libraries register the solvers while statics are still being made.
  const std::vector<Trait> eitherSign = {Trait::EitherSign}, directions = {Trait::Directions}, embeds = {Trait::Embeds};
  constexpr bool blocks = true, hidden = true;
  constexpr const char *classical = "CAPSTAN CG", *last = "CAPSTAN GMRES";  // what goes on where a method cannot
  return {
      row<Types, Supervised<Types, Gmres<Types>>>(
          {"CAPSTAN GMRES", "capstan_gmres",
           "restarted GMRES, one reduction an iteration (delayed classical Gram-Schmidt, twice)", "[low-sync]",
           Family::Gmres, false, false, RecursiveNorm::Native, FirstProducts::Native, Gmres<Types>::cost}),
      row<Types, Supervised<Types, SStepGmres<Types>>>(
          {"CAPSTAN GMRES S-STEP", "capstan_sstep_gmres",
           "s-step (communication-avoiding) GMRES, one reduction for s iterations", "[Hoemmen 2010], [low-sync]",
           Family::Gmres, false, false, RecursiveNorm::Native, FirstProducts::Native, SStepGmres<Types>::cost}),
      row<Types, Supervised<Types, PipelinedGmres<Types>, Pipeline>, !blocks>(
          {"CAPSTAN GMRES PIPELINE", "capstan_pipelined_gmres",
           "p(l)-GMRES: each reduction hidden behind the next l iterations",
           "[Ghysels, Ashby, Meerbergen and Vanroose 2013]", Family::Gmres, false, true, RecursiveNorm::Native,
           FirstProducts::Native, PipelinedGmres<Types>::cost}),
      row<Types, Supervised<Types, PipelinedGmres<Types>, BlockPipeline>, blocks>(
          {"CAPSTAN GMRES S-STEP PIPELINE", "capstan_pipelined_sstep_gmres",
           "pipelined CA-GMRES: one hidden reduction for a block of t iterations", "[pipelined-and-s-step]",
           Family::Gmres, false, true, RecursiveNorm::Native, FirstProducts::Native,
           PipelinedGmres<Types>::costOfBlocks}),
      row<Types, WithPolynomial<Types, WithFlexibleForm<Types, Cg<Types>>>>(
          {"CAPSTAN CG", "capstan_cg",
           "conjugate gradients, one reduction an iteration, Hestenes and Stiefel's behaviour in rounding",
           "[Hestenes and Stiefel 1952], [Chen and Carson 2020]", Family::ConjugateGradients, true, false,
           RecursiveNorm::Residual, FirstProducts::Direction,
           WithPolynomial<Types, WithFlexibleForm<Types, Cg<Types>>>::cost, last, eitherSign}),
      row<Types, WithPolynomial<Types, Supervised<Types, PipelinedCg<Types>>>>(
          {"CAPSTAN CG PIPELINE", "capstan_pipelined_cg", "p(l)-CG: each reduction hidden behind the next l iterations",
           "[deep-pipelined-cg]", Family::ConjugateGradients, true, true, RecursiveNorm::Residual,
           FirstProducts::Preconditioned, WithPolynomial<Types, Supervised<Types, PipelinedCg<Types>>>::cost,
           classical}),
      row<Types, Supervised<Types, EnlargedCg<Types>>>(
          {"CAPSTAN CG ENLARGED", "capstan_ecg", "enlarged CG: t search directions an iteration, fewer iterations",
           "[Grigori, Moufawad and Nataf 2016], [enlarged-cg]", Family::ConjugateGradients, true, false,
           RecursiveNorm::Residual, FirstProducts::None, Supervised<Types, EnlargedCg<Types>>::cost, classical,
           directions}),
      row<Types, WithFlexibleForm<Types, EmbeddedCg<Types>>>(
          {"CAPSTAN CG EMBEDDED", "capstan_embedded_cg",
           "conjugate gradients, the halo exchange inside the one reduction of an iteration",
           "[embedded-cg], [Chen and Carson 2020]", Family::ConjugateGradients, true, false, RecursiveNorm::Residual,
           FirstProducts::Image, WithFlexibleForm<Types, EmbeddedCg<Types>>::cost, last, embeds}),
      row<Types, Supervised<Types, ConjugateResiduals<Types, !hidden>>>(
          {"CAPSTAN CR", "capstan_cr",
           "conjugate residuals, one reduction an iteration: least residuals, by short recurrences",
           "[Stiefel 1955], [Saad 2003], [Chen and Carson 2020]", Family::ConjugateGradients, true, false,
           RecursiveNorm::Residual, FirstProducts::Image, ConjugateResiduals<Types, !hidden>::cost, classical,
           eitherSign}),
      row<Types, Supervised<Types, ConjugateResiduals<Types, hidden>>>(
          {"CAPSTAN CR PIPELINE", "capstan_pipelined_cr",
           "pipelined conjugate residuals: the reduction of an iteration hidden behind A",
           "[Stiefel 1955], [Ghysels and Vanroose 2014]", Family::ConjugateGradients, true, true,
           RecursiveNorm::Residual, FirstProducts::Image, ConjugateResiduals<Types, hidden>::cost, classical,
           eitherSign}),
      row<Types, Supervised<Types, BiCgStab<Types>>>(
          {"CAPSTAN BICGSTAB", "capstan_bicgstab", "BiCGStab, two reductions an iteration", "[van der Vorst 1992]",
           Family::BiCgStab, false, false, RecursiveNorm::Residual, FirstProducts::None, BiCgStab<Types>::cost, last}),
      row<Types, Supervised<Types, PipelinedBiCgStab<Types>>>(
          {"CAPSTAN BICGSTAB PIPELINE", "capstan_pipelined_bicgstab",
           "pipelined BiCGStab: both reductions of an iteration hidden behind A and M", "[Cools and Vanroose 2017]",
           Family::BiCgStab, false, true, RecursiveNorm::Residual, FirstProducts::None, PipelinedBiCgStab<Types>::cost,
           last}),
      row<Types, Supervised<Types, Idr<Types>>>({"CAPSTAN IDR", "capstan_idr", "IDR(s), one reduction for each product",
                                                 "[van Gijzen and Sonneveld 2011], [Collignon and van Gijzen 2011]",
                                                 Family::Idr, false, false, RecursiveNorm::Residual,
                                                 FirstProducts::None, Idr<Types>::cost, last}),
  };
}

}  // namespace

const std::vector<MethodTraits>& methods() {
  static const std::vector<MethodTraits> all = [] {
    std::vector<MethodTraits> traits;
    for (const auto& row : rows<DefaultTypes>()) traits.push_back(row.traits);
    return traits;
  }();
  return all;
}

template <class Types>
std::unique_ptr<KrylovSolver<Types>> makeKrylovSolver(const MethodTraits& method) {
  static const std::vector<Row<Types>> all = rows<Types>();
  for (const auto& row : all) {
    if (row.traits.canonical != method.canonical) continue;
    auto solver = row.make();
    if (!row.traits.next.empty()) solver->setNext(methodOf(row.traits.next));
    return solver;
  }
  throw std::logic_error("Capstan: " + method.canonical + " is not among the methods");
}

#define CAPSTAN_MAKE_SOLVER(S, LO, GO, NO)                                                                         \
  template std::unique_ptr<KrylovSolver<TpetraTypes<S, LO, GO, NO>>> makeKrylovSolver<TpetraTypes<S, LO, GO, NO>>( \
      const MethodTraits&);

CAPSTAN_INSTANTIATE(CAPSTAN_MAKE_SOLVER)

}  // namespace capstan
