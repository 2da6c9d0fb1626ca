#pragma once

/// \file
/// What Belos::SolverManager::solve() returns, in releases that know Converged and Unconverged alone and in those of
/// 2026 and later, whose Belos::ReturnType also names the cause. A cause compares equal to Unconverged.
///
/// The names are looked for in the type, not by version, so that a stand-in can be tested anywhere.

namespace capstan::compat {

/// How a solve ended, in the words of Belos of 2026.
enum class SolveEnd {
  Converged,
  MaxItersReached,
  MaxRestartsReached,
  NaNDetected,
  BreakdownDetected,
  LossOfAccuracyDetected,
  InconsistentState,  ///< nothing was solved
  Undetermined        ///< none of these causes, for example the application's own test
};

namespace detail {

// The overload taking int is the better match for the literal 0 where the name exists.
#define CAPSTAN_COMPAT_CAUSE(Name)                          \
  template <class Return>                                   \
  constexpr auto cause##Name(int)->decltype(Return::Name) { \
    return Return::Name;                                    \
  }                                                         \
  template <class Return>                                   \
  constexpr Return cause##Name(long) {                      \
    return Return::Unconverged;                             \
  }
CAPSTAN_COMPAT_CAUSE(MaxItersReached)
CAPSTAN_COMPAT_CAUSE(MaxRestartsReached)
CAPSTAN_COMPAT_CAUSE(NaNDetected)
CAPSTAN_COMPAT_CAUSE(BreakdownDetected)
CAPSTAN_COMPAT_CAUSE(LossOfAccuracyDetected)
CAPSTAN_COMPAT_CAUSE(InconsistentState)
CAPSTAN_COMPAT_CAUSE(Undetermined)
#undef CAPSTAN_COMPAT_CAUSE

}  // namespace detail

/// The value of `Return` (Belos::ReturnType) for this end: the cause where there is a name for it, else Unconverged.
/// Local.
template <class Return>
constexpr Return returnType(SolveEnd end) {
  switch (end) {
    case SolveEnd::Converged:
      return Return::Converged;
    case SolveEnd::MaxItersReached:
      return detail::causeMaxItersReached<Return>(0);
    case SolveEnd::MaxRestartsReached:
      return detail::causeMaxRestartsReached<Return>(0);
    case SolveEnd::NaNDetected:
      return detail::causeNaNDetected<Return>(0);
    case SolveEnd::BreakdownDetected:
      return detail::causeBreakdownDetected<Return>(0);
    case SolveEnd::LossOfAccuracyDetected:
      return detail::causeLossOfAccuracyDetected<Return>(0);
    case SolveEnd::InconsistentState:
      return detail::causeInconsistentState<Return>(0);
    case SolveEnd::Undetermined:
      return detail::causeUndetermined<Return>(0);
  }
  return Return::Unconverged;
}

}  // namespace capstan::compat
