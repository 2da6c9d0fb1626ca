#include "belos_ext/report/event_text.hpp"

#include <fmt/format.h>

#include <iterator>

namespace capstan {

namespace {

/// For fmt: values by number, {why}, {by}, {bounds} (values 0 and 1), {earlier}.
struct Words {
  EventKind what;
  const char *kind, *detail;
};
struct Reason {
  Cause what;
  const char* text;
};

constexpr const char* ofBounds = "eigenvalue bounds";

constexpr Words words[] = {
    {EventKind::Restart, "restart", "{why}; restarted from the computed residual"},
    {EventKind::NewShadowResidual, "restart", "{why}; a new shadow residual"},
    {EventKind::NewShadowSpace, "restart", "{why}; a new shadow space"},
    {EventKind::HandedOver, "classical", "{why}; going on with {by}"},
    {EventKind::Fallback, "fallback",
     "{why}; going on with {by}, restart {0:.0f}, {1:.0f} vectors more ({2:.3g} MB on all ranks)"},
    {EventKind::ClassicalFromStart, "classical", "{earlier}"},
    {EventKind::RecurrencesLost, "classical",
     "rounding takes the digits of the pipeline's recurrences; going on with products in their place"},
    {EventKind::Indefinite, "indefinite", "{why}"},
    {EventKind::Refused, "refused", "what a cycle found would make the residual larger"},
    {EventKind::SecondStage, "second stage", "lost rank at {0:.0f}"},
    {EventKind::Reorthogonalized, "reorthogonalise", "classical Gram-Schmidt with explicit norms"},
    {EventKind::FlexibleFromNow, "flexible", "M may not be linear: classical cycles with directions of their own"},
    {EventKind::FlexibleNoLonger, "flexible", "no longer"},
    {EventKind::DirectionsMeasured, "directions", "M is not linear and symmetric: all their products are measured"},
    {EventKind::DirectionsDropped, "directions dropped", "{0:.0f} of {1:.0f} are left: the others depend on them"},
    {EventKind::EmbeddingStopped, "embedding", "M is not linear: A sends its own messages"},
    {EventKind::DiagonalRows, "diagonal rows", "solved first"},
    {EventKind::ClaimEarly, "claim", "came too early; the cycle goes on"},
    {EventKind::ClaimRefuted, "residual replacement", "the computed residual does not meet the tolerance yet"},
    {EventKind::ResidualReplaced, "residual replacement", "before rounding separates the two"},
    {EventKind::ResidualRestarted, "residual replacement", "restarted from the computed residual"},
    {EventKind::ResidualSplit, "residual replacement", "the computed residual is split anew"},
    {EventKind::RecurrencesReplaced, "residual replacement", "before rounding separates the recurrences from b - A x"},
    {EventKind::SmoothedResidual, "smoothed residual",
     "that of enlarged CG itself has not been smaller for {0:.0f} iterations"},
    {EventKind::RoundingReached, "attainable accuracy",
     "|| b - A x || = {0:.2e} is rounding: || |A| |x| || is about {1:.2e}"},
    {EventKind::UserTest, "user test", "{by} passed"},
    {EventKind::BackToCycle, "went back", "to the iterate of the last restart, whose residual is smaller"},
    {EventKind::BackToIterate, "went back", "to an earlier iterate with a smaller residual"},
    {EventKind::BackToGuess, "went back", "to the guess, whose residual is smaller"},
    {EventKind::BackToStart, "went back", "to the guess: the next method begins as it would alone"},
    {EventKind::BackFromOverflow, "went back", "to the guess: the iterates overflow"},
    {EventKind::BackTowardsGuess, "went back",
     "to the point of least residual between x and the guess, {0:.2g} of the way"},
    {EventKind::PipelineWarm, "restart", "{why}; going on with depth {0:.0f} from the last residual and direction"},
    {EventKind::PipelineCold, "restart", "{why}; going on with depth {0:.0f} from the computed residual"},
    {EventKind::PipelineShorter, "restart", "{why}; going on with depth {0:.0f}, blocks of {1:.0f}"},
    {EventKind::PipelineAfterCycle, "restart",
     "{why}; going on with depth {0:.0f}, blocks of {1:.0f}, first with a classical cycle"},
    {EventKind::PipelineGivenUp, "restart",
     "{why}; going on with depth {0:.0f}, blocks of {1:.0f}, classically from now on"},
    {EventKind::DepthFromNow, "pipeline depth", "{0:.0f} from now on: the shifts are known"},
    {EventKind::DepthFromEarlier, "pipeline depth", "{0:.0f}, {earlier}"},
    {EventKind::BlocksFromEarlier, "pipeline depth", "{0:.0f} with blocks of {1:.0f}, {earlier}"},
    {EventKind::DepthReduced, "pipeline depth", "{0:.0f} reduced to {1:.0f}"},
    {EventKind::DepthLearning, "pipeline depth", "1 with blocks of 1 until a cycle has shown the spectrum"},
    {EventKind::DepthFitted, "pipeline depth",
     "reduced to {0:.0f} with blocks of {1:.0f} to fit the restart length, or the number of equations, {2:.0f}"},
    {EventKind::RestartLength, "restart length", "{0:.0f}: longer bases would take too much memory"},
    {EventKind::RestartLonger, "restart length", "{0:.0f} from now on: a cycle has not halved the residual"},
    {EventKind::BlockLength, "step size", "t = {0:.0f}"},
    {EventKind::PanelsWary, "step size", "1 from now on: the recursive residual has lost touch with the true one"},
    {EventKind::PanelsTakenBack, "step size",
     "products are rounded by more than panels bear: shorter ones; {0:.0f} of {1:.0f} columns are kept"},
    {EventKind::PanelsLimited, "step size", "panels of fewer than {0:.0f} steps, to keep A Q = Q H exact enough"},
    {EventKind::PanelExact, "step size", "{0:.0f} of {1:.0f} steps keep A Q = Q H exact enough"},
    {EventKind::PanelDependent, "step size", "{0:.0f} of {1:.0f} vectors of a panel are independent; s = {2:.0f}"},
    {EventKind::PanelsShorter, "step size", "products are rounded by more than eps: shorter panels"},
    {EventKind::BasisSingle, "basis precision", "single: the last cycle would have borne it"},
    {EventKind::BasisDouble, "basis precision",
     "double from now on: the residual of a cycle in single precision is not the recursive one"},
    {EventKind::EnlargingFactor, "enlarging factor", "{0:.0f}"},
    {EventKind::EnlargingReduced, "enlarging factor", "{0:.0f} reduced to {1:.0f}"},
    {EventKind::ShiftsRejected, "shifts", "those of an earlier solve do not fit"},
    {EventKind::Shifts, "shifts", "{0:.0f} Ritz values"},
    {EventKind::MoreShifts, "more shifts", "{0:.0f} Ritz values"},
    {EventKind::BoundsEstimated, ofBounds, "{bounds}"},
    {EventKind::BoundsBroken, ofBounds, "the estimate broke down"},
    {EventKind::BoundsOfProduct, ofBounds, "{bounds}, as the first product shows them"},
    {EventKind::BoundsOfRitz, ofBounds, "{bounds}, by {2:.0f} Ritz values"},
    {EventKind::BoundsOutdated, ofBounds, "those of an earlier solve, {bounds}, do not fit its Ritz values"},
    {EventKind::BoundsWidened, ofBounds, "{bounds}: a Ritz value is beyond those before"},
    {EventKind::BoundsTooTight, ofBounds, "{bounds}, as given, leave out a Ritz value"},
    {EventKind::BoundsTightButUsed, ofBounds, "{bounds}, as given, leave out a Ritz value: not by far, they are used"},
    {EventKind::BoundsReplaced, ofBounds,
     "{bounds}, as given, leave out the Ritz value {2:f}; replaced by {3:.6g} to {4:.6g}"},
    {EventKind::GivenForRitz, ofBounds, "{bounds}, as given, leave out the Ritz value {2:f}; replaced by Ritz values"},
    {EventKind::EarlierForRitz, ofBounds,
     "{bounds}, of an earlier solve, leave out the Ritz value {2:f}; replaced by Ritz values"},
    {EventKind::PolynomialGivenUp, "polynomial degree", "1: {why}"},
    {EventKind::ConstantsProjected, "null space", "constants are projected out: the preconditioner makes little else"},
    {EventKind::ConstantsProjectedAll, "null space", "constants are projected out of what the preconditioner makes"},
    {EventKind::ConstantsKept, "null space",
     "constants are not projected out: A does not annihilate them, or is not symmetric, for (1, A p) is not zero"},
    {EventKind::ConstantTakenOut, "null space",
     "b has a constant of norm {0:.2e}, which no A x has: it is taken out of b - A x"},
    {EventKind::ConstantOutOfIterate, "constant in x",
     "a constant of norm {0:.2e} is taken out of x, the rest of which has norm {1:.2e}: b - A x is the same"},
    {EventKind::Inconsistent, "null space",
     "b has a constant of norm {0:.2e}, which no A x has; the rest of b - A x, {1:.2e}, meets the tolerance"},
    {EventKind::GuessesForgotten, "initial guess", "earlier solves are forgotten: what is kept is not finite"},
    {EventKind::GuessesRenewed, "initial guess",
     "A is another one: products with earlier solutions are computed anew from now on; the residual of the guess is "
     "{0:.2e}, predicted {1:.2e}"},
    {EventKind::GuessesNotKept, "initial guess", "nothing is kept: the vectors would take too much memory"},
    {EventKind::GuessOfApplication, "initial guess",
     "that of the application: a residual scaled by the preconditioned one of its x would need the left preconditioner "
     "once more; scale by \"Norm of Initial Residual\" or \"Norm of RHS\""},
    {EventKind::Asymmetric, "symmetry",
     "the matrix is not symmetric: {0:.0f} of the {1:.0f} rows compared with their columns differ; CG is made for "
     "symmetric matrices, a GMRES method for others"},
    {EventKind::Progress, "progress", "{by}"},
    {EventKind::Execution, "execution", "{by}"},
    {EventKind::Choice, "choice", "{by}"},
    {EventKind::ReductionStrategy, "reduction strategy", "{by}"},
    {EventKind::CommunicationStrategy, "communication strategy", "{by}"},
};

constexpr Reason reasons[] = {
    {Cause::None, ""},
    {Cause::Breakdown, "breakdown"},
    {Cause::Unmet, "the computed residual does not meet the tolerance yet"},
    {Cause::NoProgress, "the residual no longer falls"},
    {Cause::Unbounded, "the residual grows without bound"},
    {Cause::RecurrencesOverflow, "the recurrences overflow"},
    {Cause::IterateOverflows, "the next iterate cannot be represented"},
    {Cause::SquaresUnderflow, "squares of the residual are too small to be represented"},
    {Cause::NegativeA, "(p, A p) < 0: the operator is not positive definite"},
    {Cause::PositiveA, "(p, A p) > 0: the operator is not negative definite"},
    {Cause::NegativeM, "(r, M^-1 r) < 0: the preconditioner is not positive definite"},
    {Cause::PositiveM, "(r, M^-1 r) > 0: the preconditioner is not negative definite"},
    {Cause::FarFromSymmetric,
     "(M^-1 r, A p) is far from (p, A p): the operator or the preconditioner is not symmetric"},
    {Cause::Divergence, "the residual has grown beyond what CG makes of definite systems"},
    {Cause::NotSymmetric, "A is not symmetric"},
    {Cause::NotLinear, "the preconditioner is not linear and symmetric"},
    {Cause::NullSpaceUnknown, "A annihilates constants, and \"Null Space\" is none"},
    {Cause::NegativeGram, "Z^T A Z is not positive"},
    {Cause::OneDirection, "one direction is left"},
    {Cause::PipelineBreakdown, "the pipelined recurrences break down"},
    {Cause::Drained, "drained, as the solve was expected to end"},
    {Cause::RestartsTooOften, "restarts come too often"},
    {Cause::CyclesTooShort, "cycles too short to pay"},
    {Cause::LostOrthogonality, "loss of orthogonality"},
    {Cause::SquareRoot, "square-root breakdown"},
    {Cause::Exhausted, "the Krylov space is exhausted"},
    {Cause::LostTouch, "the recursive residual has lost touch with the true one"},
    {Cause::Inexact, "H would not be exact enough"},
    {Cause::ImplicitNorm, "the implicit norm of a basis vector cannot be trusted"},
    {Cause::BrokenAfter,
     "broken after {2:.0f} iterations, of which {3:.0f} are kept: the rest of the cycle is classical"},
    {Cause::NoPolynomial, "the method cannot go on with a polynomial"},
    {Cause::PolynomialNotDefinite, "the polynomial is not positive definite"},
    {Cause::NoBounds, "no bounds of a definite spectrum are found"},
    {Cause::Slow, "the trial takes longer than the best method known would have"},
};

template <class Rows>
constexpr bool inOrder(const Rows& rows) {
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    if (static_cast<std::size_t>(rows[i].what) != i) return false;
  }
  return true;
}
static_assert(inOrder(words) && inOrder(reasons), "a row for each, in the order of the enumerations");
static_assert(std::size(words) == 1 + static_cast<std::size_t>(EventKind::CommunicationStrategy));
static_assert(std::size(reasons) == 1 + static_cast<std::size_t>(Cause::Slow));

std::string textOf(const char* text, const Event& event) {
  const auto& v = event.values;
  const auto reason = [&](Cause cause) {
    return fmt::format(fmt::runtime(reasons[static_cast<std::size_t>(cause)].text), v[0], v[1], v[2], v[3]);
  };
  const std::string then = event.why.then == Cause::None ? "" : "; " + reason(event.why.then);
  return fmt::format(
      fmt::runtime(text), v[0], v[1], v[2], v[3], v[4], fmt::arg("why", reason(event.why.cause) + then),
      fmt::arg("by", event.name), fmt::arg("bounds", fmt::format("{:.6g} to {:.6g}", v[0], v[1])),
      fmt::arg("earlier", "from the start: more has failed in an earlier solve with these matrix values"));
}

}  // namespace

ReportEvent reportEvent(int iteration, int rightHandSide, const Event& event) {
  const Words& row = words[static_cast<std::size_t>(event.kind)];
  const bool followed = event.ofPolynomial && row.kind == ofBounds;
  return {iteration, rightHandSide, event.kind, followed ? "bounds with the polynomial" : row.kind,
          textOf(row.detail, event)};
}

bool wentBack(EventKind kind) { return kind >= EventKind::BackToCycle && kind <= EventKind::BackTowardsGuess; }

}  // namespace capstan
