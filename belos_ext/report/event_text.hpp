#pragma once

/// \file
/// The words of the events of a solve, and what they mean to a program.

#include "belos_ext/events/event.hpp"
#include "belos_ext/report/solve_report.hpp"

namespace capstan {

/// \param rightHandSide -1: all of them. Local.
ReportEvent reportEvent(int iteration, int rightHandSide, const Event& event);

/// Whether x has gone back to an earlier iterate, to the guess, or towards it. Local.
bool wentBack(EventKind kind);

}  // namespace capstan
