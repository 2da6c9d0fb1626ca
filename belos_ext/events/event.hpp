#pragma once

/// \file
/// What a method, or a policy, tells in the course of a solve, as data: report/event_text.cpp makes words of it.

#include <array>
#include <string>
#include <type_traits>
#include <utility>

namespace capstan {

/// What has happened. Beside it, the values that the text needs, in this order.
enum class EventKind {
  // Ladders.
  Restart,             ///< because
  NewShadowResidual,   ///< because
  NewShadowSpace,      ///< because
  HandedOver,          ///< because; by: the next method
  Fallback,            ///< because; by: the next method; restart, vectors, megabytes
  ClassicalFromStart,  ///< an earlier solve has shown why
  RecurrencesLost,     ///< products take the place of recurrences
  Indefinite,          ///< because
  Refused,             ///< an update that would make the residual larger
  SecondStage,         ///< of two-stage orthogonalisation lost rank; at
  Reorthogonalized,    ///< explicitly, as the implicit norm was not good enough
  FlexibleFromNow,     ///< M may not be linear
  FlexibleNoLonger,    ///< M was linear
  DirectionsMeasured,  ///< M is not linear and symmetric
  DirectionsDropped,   ///< left, of
  EmbeddingStopped,    ///< M is not linear
  DiagonalRows,        ///< have been solved first
  // Claims and true residuals.
  ClaimEarly,           ///< the cycle goes on
  ClaimRefuted,         ///< the computed residual does not meet the tolerance
  ResidualReplaced,     ///< before rounding separates it from the computed one
  ResidualRestarted,    ///< from the computed one
  ResidualSplit,        ///< into parts, anew
  RecurrencesReplaced,  ///< before rounding separates them from b - A x
  SmoothedResidual,     ///< is the one that meets the tolerance; iterations
  RoundingReached,      ///< || b - A x ||, || |A| |x| ||
  UserTest,             ///< passed; by
  // x is an earlier one.
  BackToCycle,       ///< the iterate of the last restart
  BackToIterate,     ///< an earlier iterate
  BackToGuess,       ///< its residual is smaller
  BackToStart,       ///< the guess: a method that broke down at once has left no direction
  BackFromOverflow,  ///< to the guess
  BackTowardsGuess,  ///< part of the way
  // Pipelines.
  PipelineWarm,        ///< because; depth: from the last residual and direction
  PipelineCold,        ///< because; depth: from the computed residual
  PipelineShorter,     ///< because; depth, block length
  PipelineAfterCycle,  ///< the same, first with a classical cycle
  PipelineGivenUp,     ///< the same, classically from now on
  DepthFromNow,        ///< depth
  DepthFromEarlier,    ///< depth
  BlocksFromEarlier,   ///< depth, block length
  DepthReduced,        ///< from, to
  DepthLearning,       ///< 1 with blocks of 1, at first
  DepthFitted,         ///< depth, block length, restart length
  // Lengths.
  RestartLength,     ///< vectors
  RestartLonger,     ///< vectors
  BlockLength,       ///< t
  PanelsWary,        ///< steps: of one from now on
  PanelsTakenBack,   ///< products are rounded by more than panels bear; columns kept, of
  PanelsLimited,     ///< panels of fewer than
  PanelExact,        ///< steps that are exact enough, of
  PanelDependent,    ///< vectors that are independent, of, s
  PanelsShorter,     ///< products are rounded by more than eps
  BasisSingle,       ///< the basis: stored in single precision from now on
  BasisDouble,       ///< no longer: a residual was not the recursive one
  EnlargingFactor,   ///< t
  EnlargingReduced,  ///< from, to
  // The spectrum. Bounds are two values.
  ShiftsRejected,      ///< those of an earlier solve
  Shifts,              ///< how many
  MoreShifts,          ///< how many
  BoundsEstimated,     ///< bounds
  BoundsBroken,        ///< the estimate broke down
  BoundsOfProduct,     ///< bounds, by the first product
  BoundsOfRitz,        ///< bounds, Ritz values
  BoundsOutdated,      ///< bounds of an earlier solve do not fit
  BoundsWidened,       ///< bounds: a Ritz value was beyond those before
  BoundsTooTight,      ///< bounds, as given
  BoundsTightButUsed,  ///< bounds, as given
  BoundsReplaced,      ///< bounds, as given, Ritz value, better bounds
  GivenForRitz,        ///< bounds, as given, Ritz value: Ritz values take their place
  EarlierForRitz,      ///< bounds of an earlier solve, Ritz value: Ritz values take their place
  PolynomialGivenUp,   ///< because
  // Constants in the null space.
  ConstantsProjected,     ///< the preconditioner makes little else
  ConstantsProjectedAll,  ///< out of what the preconditioner makes
  ConstantsKept,          ///< A does not annihilate them, or is not symmetric
  ConstantTakenOut,       ///< norm of b's
  ConstantOutOfIterate,   ///< norm of what was taken out, of the rest
  Inconsistent,           ///< norm of b's constant, norm of the rest of b - A x
  // Guesses.
  GuessesForgotten,    ///< what is kept is not finite
  GuessesRenewed,      ///< norm, predicted norm
  GuessesNotKept,      ///< too much memory
  GuessOfApplication,  ///< the residual is scaled by a preconditioned one
  // The run.
  Asymmetric,            ///< rows that differ, rows compared
  Progress,              ///< by: what and why
  Execution,             ///< by: what and why
  Choice,                ///< by: what and why
  ReductionStrategy,     ///< by: what and why
  CommunicationStrategy  ///< by: what and why
};

/// Why.
enum class Cause {
  None,
  Breakdown,
  Unmet,       ///< the computed residual does not meet the tolerance yet
  NoProgress,  ///< the residual no longer falls
  Unbounded,   ///< the residual grows without bound
  RecurrencesOverflow,
  IterateOverflows,
  SquaresUnderflow,
  NegativeA,  ///< (p, A p) has changed its sign
  PositiveA,
  NegativeM,  ///< (r, M^{-1} r) has changed its sign
  PositiveM,
  FarFromSymmetric,
  Divergence,
  NotSymmetric,  ///< A is known not to be
  NotLinear,     ///< nor symmetric, M
  NullSpaceUnknown,
  NegativeGram,  ///< Z^T A Z is not positive
  OneDirection,
  PipelineBreakdown,
  Drained,
  RestartsTooOften,
  CyclesTooShort,
  LostOrthogonality,
  SquareRoot,
  Exhausted,
  LostTouch,     ///< the recursive residual, with the true one
  Inexact,       ///< H would be
  ImplicitNorm,  ///< cannot be trusted
  BrokenAfter,   ///< values 2 and 3: columns, those that are kept
  NoPolynomial,
  PolynomialNotDefinite,
  NoBounds,
  Slow  ///< a trial takes longer than the best method known would
};

/// A cause, or two of them, the first of which was seen first.
struct Why {
  Why(Cause first = Cause::None, Cause second = Cause::None)  // NOLINT: a cause is a why
      : cause(first), then(second) {}
  Cause cause, then;
};

struct Event {
  /// \param numbers of any type, five at most
  template <class... Numbers, class = std::enable_if_t<(std::is_arithmetic_v<Numbers> && ...)>>
  Event(EventKind what, Numbers... numbers)  // NOLINT: a kind is an event
      : kind(what), values{static_cast<double>(numbers)...} {}
  template <class... Numbers>
  Event(EventKind what, Why because, Numbers... numbers)
      : kind(what), why(because), values{static_cast<double>(numbers)...} {}

  Event by(std::string who) const {
    Event event = *this;
    event.name = std::move(who);
    return event;
  }

  EventKind kind;
  Why why;
  std::array<double, 5> values{};
  std::string name;
  bool ofPolynomial = false;  ///< of a system whose preconditioner a polynomial follows
};

}  // namespace capstan
