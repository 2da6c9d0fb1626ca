#pragma once
/// \file
/// What a solve must tell alike on every rank.

#include <Teuchos_CommHelpers.hpp>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "belos_ext/report/solve_report.hpp"

namespace capstan::testing {

/// What a solver says of its last solve.
struct Outcome {
  bool converged = false;
  SolveReport report;
  int iterations = 0;
  double achieved = 0;
  bool lossOfAccuracy = false;
};

/// The numbers that must be equal on all ranks to the last bit. Local.
inline std::vector<double> sharedNumbers(const Outcome& outcome) {
  const SolveReport& r = outcome.report;
  std::vector<double> numbers = {outcome.converged ? 1.0 : 0.0,
                                 static_cast<double>(outcome.iterations),
                                 outcome.achieved,
                                 outcome.lossOfAccuracy ? 1.0 : 0.0,
                                 r.converged ? 1.0 : 0.0,
                                 static_cast<double>(r.reason),
                                 static_cast<double>(r.iterations),
                                 static_cast<double>(r.iterationsInTurn),
                                 static_cast<double>(r.restarts),
                                 r.recursiveResidual,
                                 r.trueResidual,
                                 static_cast<double>(r.reductionsBlocking),
                                 static_cast<double>(r.reductionsNonblocking),
                                 static_cast<double>(r.operatorApplications),
                                 static_cast<double>(r.preconditionerApplications),
                                 static_cast<double>(r.finalStepSize),
                                 static_cast<double>(r.system),
                                 static_cast<double>(r.communication.products),
                                 static_cast<double>(r.communication.columns),
                                 static_cast<double>(r.communication.traffic.networkMessages.total),
                                 static_cast<double>(r.communication.traffic.networkBytes.mostOfARank),
                                 static_cast<double>(r.communication.traffic.nodeBytes.total),
                                 static_cast<double>(r.communication.fromEarlier ? 1 : 0),
                                 static_cast<double>(r.communication.messageSizeCutoff)};
  for (const RightHandSideReport& column : r.rightHandSides) {
    numbers.insert(numbers.end(),
                   {static_cast<double>(column.reason), static_cast<double>(column.iterations),
                    static_cast<double>(column.restarts), column.recursiveResidual, column.trueResidual, column.scale});
  }
  for (const ReportEvent& event : r.events) {
    const double kind = static_cast<double>(std::hash<std::string>{}(event.kind) >> 16);
    numbers.insert(numbers.end(),
                   {static_cast<double>(event.iteration), static_cast<double>(event.rightHandSide), kind});
  }
  for (const HistoryPoint& point : r.history) {
    numbers.insert(numbers.end(),
                   {static_cast<double>(point.iteration), static_cast<double>(point.rightHandSide), point.residual});
  }
  return numbers;
}

/// Their bits, those of every NaN alike. Local.
inline std::vector<long long> bitsOf(const std::vector<double>& numbers) {
  std::vector<long long> bits;
  for (const double number : numbers) {
    const double canonical = std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number;
    long long pattern = 0;
    std::memcpy(&pattern, &canonical, sizeof pattern);
    bits.push_back(pattern);
  }
  return bits;
}

/// Place of the first number that the ranks do not all have to the last bit, a missing one among them. Collective.
inline std::optional<std::size_t> firstDifference(const std::vector<double>& numbers, const Teuchos::Comm<int>& comm) {
  std::vector<long long> mine = bitsOf(numbers);
  const auto extremes = [&comm](const std::vector<long long>& values) {
    std::vector<long long> least(values.size()), most(values.size());
    const int count = static_cast<int>(values.size());
    Teuchos::reduceAll(comm, Teuchos::REDUCE_MIN, count, values.data(), least.data());
    Teuchos::reduceAll(comm, Teuchos::REDUCE_MAX, count, values.data(), most.data());
    return std::make_pair(least, most);
  };
  const auto [shortest, longest] = extremes({static_cast<long long>(mine.size())});
  mine.resize(static_cast<std::size_t>(shortest.front()));
  const auto [least, most] = extremes(mine);
  const auto differs = std::mismatch(least.begin(), least.end(), most.begin()).first;
  if (differs == least.end() && shortest == longest) return std::nullopt;
  return static_cast<std::size_t>(differs - least.begin());
}

}  // namespace capstan::testing
