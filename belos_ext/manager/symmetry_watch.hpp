#pragma once
/// \file
/// Tells the report where conjugate gradients meet a matrix that is not symmetric, and the user's options whether it
/// is.

#include <Teuchos_CommHelpers.hpp>
#include <Teuchos_RCP.hpp>
#include <cmath>
#include <optional>
#include <vector>

#include "belos_ext/manager/monitor.hpp"
#include "belos_ext/problem/symmetry_check.hpp"
#include "belos_ext/report/event_text.hpp"
#include "belos_ext/report/report_summary.hpp"
#include "belos_ext/report/solve_report.hpp"

namespace capstan {

/// Adds an event, and tells the monitor, where the matrix `a` is known not to be symmetric. Where it has not been
/// looked at yet, this rank's part is compared now, and the event comes once the monitor has carried what all ranks
/// have found. `report` outlives the monitor. Local; call it alike on all ranks. \param solvedFirst rows of `a` on
/// which a symmetric method's vectors vanish
template <class Types>
void watchSymmetry(const Teuchos::RCP<const typename Types::Operator>& a, const DiagonalRows<Types>& solvedFirst,
                   Monitor<Types>& monitor, SolveReport& report) {
  using Scalar = typename Types::Scalar;
  if (!SymmetryCheck<Types>::mayRead(*a)) return;
  const auto tell = [&report, &monitor](const SymmetryVerdict& verdict) {
    if (verdict.rowsThatDiffer == 0) return;
    report.events.push_back(reportEvent(0, -1, {EventKind::Asymmetric, verdict.rowsThatDiffer, verdict.rowsCompared}));
    monitor.agreed.nonsymmetric = true;
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

/// Whether `a` is symmetric, as far as SymmetryCheck sees it; nothing where it cannot be read. The same on all ranks.
///
/// An application may fill the same matrix with other values: a momentum equation is symmetric until something moves.
/// So a matrix that was symmetric is looked at again at the 2nd, 4th, 8th, ... time it is asked about.
/// Collective: one pass over the rows and one all-reduce where it looks.
template <class Types>
std::optional<bool> symmetryNow(Teuchos::RCP<const typename Types::Operator> a) {
  constexpr const char* timesAsked = "Capstan: times asked about symmetry";
  const auto earlier = Teuchos::get_optional_extra_data<long>(a, timesAsked);
  const long times = earlier.is_null() ? 1 : *earlier + 1;
  Teuchos::set_extra_data(times, timesAsked, Teuchos::inOutArg(a), Teuchos::POST_DESTROY, false);
  const bool again = (times & (times - 1)) == 0;
  const auto known = SymmetryCheck<Types>::known(a);
  if (known && (known->rowsThatDiffer > 0 || !again)) return known->rowsThatDiffer == 0;
  DiagonalRows<Types> solvedFirst;
  solvedFirst.find(*a);
  const auto mine = SymmetryCheck<Types>::compareHere(a, solvedFirst);
  if (!mine) return std::nullopt;
  const long counts[2] = {mine->rowsCompared, mine->rowsThatDiffer};
  long sums[2];
  Teuchos::reduceAll<int, long>(*a->getDomainMap()->getComm(), Teuchos::REDUCE_SUM, 2, counts, sums);
  SymmetryCheck<Types>::remember(a, {sums[0], sums[1]});
  return sums[1] == 0;
}

}  // namespace capstan
