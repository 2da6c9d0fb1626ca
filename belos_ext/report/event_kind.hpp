#pragma once

/// \file
/// Events of a report as a program sees them: the one place that knows the words of those that somebody acts on.

#include "belos_ext/report/solve_report.hpp"

namespace capstan {

enum class EventKind {
  Other,
  Fallback,  ///< CAPSTAN GMRES goes on
  WentBack,  ///< to an earlier iterate, or to the guess
  Overflow   ///< the next iterate cannot be represented
};

/// Local.
inline EventKind kindOf(const ReportEvent& event) {
  if (event.kind == "fallback") return EventKind::Fallback;
  if (event.kind == "went back") return EventKind::WentBack;
  if (event.kind == "overflow") return EventKind::Overflow;
  return EventKind::Other;
}

}  // namespace capstan
