#pragma once
/// \file
/// Tells the report where conjugate gradients meet a matrix that is not symmetric.

#include <Teuchos_RCP.hpp>
#include <cmath>
#include <vector>

#include "belos_ext/manager/monitor.hpp"
#include "belos_ext/problem/symmetry_check.hpp"
#include "belos_ext/report/report_summary.hpp"
#include "belos_ext/report/solve_report.hpp"

namespace capstan {

/// Adds an event where the matrix `a` is known not to be symmetric. Where it has not been looked at yet, this rank's
/// part is compared now, and the event comes once the monitor has carried what all ranks have found. `report` outlives
/// the monitor. Local; call it alike on all ranks.
/// \param solvedFirst rows of `a` on which a symmetric method's vectors vanish
template <class Types>
void watchSymmetry(const Teuchos::RCP<const typename Types::Operator>& a, const DiagonalRows<Types>& solvedFirst,
                   Monitor<Types>& monitor, SolveReport& report) {
  using Scalar = typename Types::Scalar;
  const auto tell = [&report](const SymmetryVerdict& verdict) {
    if (verdict.rowsThatDiffer > 0) report.events.push_back(asymmetryEvent(verdict));
  };
  if (const auto known = SymmetryCheck<Types>::known(a)) {
    tell(*known);
  } else if (const auto mine = SymmetryCheck<Types>::compareHere(a, solvedFirst)) {
    monitor.sendAlong({static_cast<Scalar>(mine->rowsCompared), static_cast<Scalar>(mine->rowsThatDiffer)},
                      [a, tell](const std::vector<Scalar>& sums) {
                        const SymmetryVerdict verdict{std::lround(sums[0]), std::lround(sums[1])};
                        SymmetryCheck<Types>::remember(a, verdict);
                        tell(verdict);
                      });
  }
}

}  // namespace capstan
