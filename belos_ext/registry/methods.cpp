/// \file
/// The methods: one row each. A new method is a file in belos_ext/solvers, a row here, and its paper in
/// docs/references.md.

#include <stdexcept>

#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
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

template <class... Own>
std::vector<std::string> keysOf(const MethodOptions<Own...>*) {
  std::vector<std::string> keys;
  for (const std::vector<ParameterRow>& rows : {Own::rows()...}) {
    for (const ParameterRow& row : rows) keys.push_back(row.name);
  }
  return keys;
}

/// What is said here of a method; the rest follows from its options. \tparam Solver what it makes
/// \param next the method that goes on where this one cannot; empty: none
template <class Types, class Solver, bool... arguments>
Row<Types> row(const char* name, const char* alias, const char* summary, const char* source, Family family,
               FirstProducts first, const char* next = "", std::vector<Trait> traits = {},
               Cost (*cost)(const SolverOptions&, bool) = Solver::cost) {
  using Options = typename Solver::Options;
  if (std::is_base_of_v<EnlargedOptions, Options>) traits.push_back(Trait::Directions);
  if (std::is_base_of_v<EmbeddingOptions, Options>) traits.push_back(Trait::Embeds);
  return {{name, alias, summary, source, family, std::is_base_of_v<SymmetricOptions, Options>,
           std::is_base_of_v<HiddenOptions, Options>, first, cost, next, std::move(traits),
           keysOf(static_cast<const Options*>(nullptr))},
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
  const std::vector<Trait> eitherSign = {Trait::EitherSign};
  const std::vector<Trait> leastResidual = {Trait::EitherSign, Trait::LeastResidual};
  constexpr bool blocks = true, hidden = true;
  [[maybe_unused]] constexpr const char *cg = "CAPSTAN CG", *gmres = "CAPSTAN GMRES";  // nvcc sees no use
  return {
      row<Types, Supervised<Types, Gmres<Types>>>(
          gmres, "capstan_gmres", "restarted GMRES, one reduction an iteration (delayed classical Gram-Schmidt, twice)",
          "[low-sync]", Family::Gmres, FirstProducts::Native),
      row<Types, Supervised<Types, SStepGmres<Types>>>(
          "CAPSTAN GMRES S-STEP", "capstan_sstep_gmres",
          "s-step (communication-avoiding) GMRES, one reduction for s iterations", "[Hoemmen 2010], [low-sync]",
          Family::Gmres, FirstProducts::Native),
      row<Types, Supervised<Types, PipelinedGmres<Types>, Pipeline>, !blocks>(
          "CAPSTAN GMRES PIPELINE", "capstan_pipelined_gmres",
          "p(l)-GMRES: each reduction hidden behind the next l iterations",
          "[Ghysels, Ashby, Meerbergen and Vanroose 2013]", Family::Gmres, FirstProducts::Native),
      row<Types, Supervised<Types, PipelinedGmres<Types>, BlockPipeline>, blocks>(
          "CAPSTAN GMRES S-STEP PIPELINE", "capstan_pipelined_sstep_gmres",
          "pipelined CA-GMRES: one hidden reduction for a block of t iterations", "[pipelined-and-s-step]",
          Family::Gmres, FirstProducts::Native, "", {}, PipelinedGmres<Types>::costOfBlocks),
      row<Types, WithPolynomial<Types, WithFlexibleForm<Types, Cg<Types>>>>(
          cg, "capstan_cg",
          "conjugate gradients, one reduction an iteration, Hestenes and Stiefel's behaviour in rounding",
          "[Hestenes and Stiefel 1952], [Chen and Carson 2020]", Family::ConjugateGradients, FirstProducts::Direction,
          gmres, eitherSign),
      row<Types, WithPolynomial<Types, Supervised<Types, PipelinedCg<Types>>>>(
          "CAPSTAN CG PIPELINE", "capstan_pipelined_cg", "p(l)-CG: each reduction hidden behind the next l iterations",
          "[deep-pipelined-cg]", Family::ConjugateGradients, FirstProducts::Preconditioned, cg),
      row<Types, Supervised<Types, EnlargedCg<Types>>>(
          "CAPSTAN CG ENLARGED", "capstan_ecg", "enlarged CG: t search directions an iteration, fewer iterations",
          "[Grigori, Moufawad and Nataf 2016], [enlarged-cg]", Family::ConjugateGradients, FirstProducts::None, cg),
      row<Types, WithFlexibleForm<Types, EmbeddedCg<Types>>>(
          "CAPSTAN CG EMBEDDED", "capstan_embedded_cg",
          "conjugate gradients, the halo exchange inside the one reduction of an iteration",
          "[embedded-cg], [Chen and Carson 2020]", Family::ConjugateGradients, FirstProducts::Image, gmres),
      row<Types, Supervised<Types, ConjugateResiduals<Types, !hidden>>>(
          "CAPSTAN CR", "capstan_cr",
          "conjugate residuals, one reduction an iteration: least residuals, by short recurrences",
          "[Stiefel 1955], [Saad 2003], [Chen and Carson 2020]", Family::ConjugateGradients, FirstProducts::Image, cg,
          leastResidual),
      row<Types, Supervised<Types, ConjugateResiduals<Types, hidden>>>(
          "CAPSTAN CR PIPELINE", "capstan_pipelined_cr",
          "pipelined conjugate residuals: the reduction of an iteration hidden behind A",
          "[Stiefel 1955], [Ghysels and Vanroose 2014]", Family::ConjugateGradients, FirstProducts::Image, cg,
          leastResidual),
      row<Types, Supervised<Types, BiCgStab<Types>>>("CAPSTAN BICGSTAB", "capstan_bicgstab",
                                                     "BiCGStab, one reduction an iteration", "[van der Vorst 1992]",
                                                     Family::BiCgStab, FirstProducts::None, gmres),
      row<Types, Supervised<Types, PipelinedBiCgStab<Types>>>(
          "CAPSTAN BICGSTAB PIPELINE", "capstan_pipelined_bicgstab",
          "pipelined BiCGStab: the one reduction of an iteration hidden behind A and M", "[Cools and Vanroose 2017]",
          Family::BiCgStab, FirstProducts::None, gmres),
      row<Types, Supervised<Types, Idr<Types>>>("CAPSTAN IDR", "capstan_idr", "IDR(s), one reduction for each product",
                                                "[van Gijzen and Sonneveld 2011], [Collignon and van Gijzen 2011]",
                                                Family::Idr, FirstProducts::None, gmres),
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
