#pragma once

/// \file
/// Events of a report as a program sees them: the one place that knows the words of those that somebody acts on.

#include "belos_ext/report/solve_report.hpp"

namespace capstan {

enum class EventMeaning {
  Other,
  Fallback,  ///< CAPSTAN GMRES goes on
  WentBack   ///< to an earlier iterate, to the guess, or towards it
};

/// Local.
inline EventMeaning meaningOf(const ReportEvent& event) {
  if (event.kind == "fallback") return EventMeaning::Fallback;
  if (event.kind == "went back") return EventMeaning::WentBack;
  return EventMeaning::Other;
}

}  // namespace capstan
