#pragma once

/// \file
/// Between a chooser and the solves that it chooses for: what a report shows, and what reports tell. Local.

#include <array>
#include <string>

#include "belos_ext/choice/chooser.hpp"
#include "belos_ext/report/solve_report.hpp"

namespace capstan {

/// What a solve has shown, with the seconds of this rank.
/// \param trialEndsAt the iterations after which a trial was to be handed over; 0: none
Observation observationOf(const SolveReport& report, int trialEndsAt);

/// What each rank measures for itself, of which a chooser wants the means over the ranks: the seconds of an
/// observation, and its reductions, to which a preconditioner may add some within a part of the ranks. \{
using RankMeasures = std::array<double, 8>;
RankMeasures measuresOf(const Observation& seen);
void setMeasures(Observation& seen, const RankMeasures& means);
/// \}

/// The machine of "Choice" = counted: a core of 10 GB/s, matrices of 7 entries a row, and a cluster's network.
/// \param rows of all ranks
MachineTimes countedTimes(double rows, int ranks, bool preconditioned);

/// What the chooser knows when it chooses an arm.
ChoiceReport choiceReport(const Chooser& chooser, std::size_t arm);

/// Whether what is known is to be written: the best arm is another one than was written last, or 1, 2, 4 and so on
/// solves have been learnt from.
bool isToBeKept(const Chooser& chooser, const std::string& best, const std::string& written);

/// A trial, or another choice than before; else nothing. \param before the arm that was told last
std::string said(const ChoiceReport& report, const std::string& before);

}  // namespace capstan
