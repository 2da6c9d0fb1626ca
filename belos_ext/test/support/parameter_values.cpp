#include "belos_ext/test/support/parameter_values.hpp"

#include <Teuchos_RCP.hpp>
#include <Teuchos_oblackholestream.hpp>
#include <algorithm>
#include <map>
#include <ostream>
#include <stdexcept>

namespace capstan::testing {
namespace {

using Teuchos::ParameterEntry;
using Values = std::vector<ParameterEntry>;

template <class T>
Values those(const std::vector<T>& values) {
  Values entries;
  for (const T& value : values) entries.emplace_back(value);
  return entries;
}

const std::map<std::string, Values>& named() {
  static const std::map<std::string, Values> table = {
      {"Absolute Tolerance", those<double>({0, 1e-300, 1e-6, 1, 1e300})},
      {"Convergence Tolerance", those<double>({0, 1e-15, 1e-14, 1e-12, 1e-10, 1e-6, 1e-4, 1e-2, 0.5, 1, 3})},
      {"Maximum Iterations", those<int>({0, 1, 2, 3, 7, 20, 50, 100, 150, 300, 1000})},
      {"Maximum Restarts", those<int>({0, 1, 2, 5, 20, 1000})},
      {"Num Blocks", those<int>({1, 2, 3, 5, 8, 13, 20, 30, 50, 100, 150, 300, 600})},
      {"Block Size", those<int>({0, 1, 2, 3, 5, 100})},
      {"Pipeline Depth", those<int>({1, 1, 2, 3, 4, 5, 8, 13, 25, 1000})},
      {"Polynomial Degree", those<int>({1, 1, 2, 3, 4, 8, 64})},
      {"Change of Basis Drop Tolerance", those<double>({0, 1e-14, 1e-8, 1e-2, 1})},
      {"User Defined Residual Scaling", those<double>({1e-200, 1e-6, 1, 100, 1e200})},
      {"Residual Smoothing", those<std::string>({"auto", "on", "off"})},
      {"Residual Replacement", those<std::string>({"auto", "off", "every 1", "every 3", "every 10"})},
      {"Basis Precision", those<std::string>({"double", "double", "single", "auto"})},
      {"Initial Guess", those<std::string>({"application", "extrapolation 1", "extrapolation 2", "extrapolation 3",
                                            "projection 1", "projection 2", "projection 5", "projection 20"})},
      {"Output Style", those<int>({0, 1, 2})},
      {"Output Frequency", those<int>({-1, 0, 1, 2, 10})},
      // Not auto, and not tuned: they go by time, and the same seed is to give the same results.
      {"Communication Strategy", those<std::string>({"application", "standard", "two-step", "three-step", "optimal"})},
      {"Reduction Strategy", those<std::string>({"mpi", "node-aware"})},
      {"Shadow Space", those<int>({1, 2, 3, 4, 8, 16})},
      {"Enlarging Factor", those<int>({1, 2, 3, 4, 8, 17, 64})},
      {"Residual Splitting", those<std::string>({"contiguous", "interleaved", "by rank"})},
      {"Ranks Per Node", those<int>({0, 1, 2, 3, 100})},
      {"Solver Name", those<std::string>({"", "pressure", "momentum"})},
      {"Timer Label", those<std::string>({"", "soak"})},
      // A thread of its own is slow where ranks outnumber cores.
      {"Progress",
       those<std::string>({"none", "poll", "none", "poll", "none", "poll", "none", "poll", "none", "poll", "thread"})},
      // Not all that Belos has words for are to be had.
      {"Residual Norm", those<std::string>({"TwoNorm", "OneNorm"})},
      {"Step Size", {ParameterEntry(std::string("auto")), ParameterEntry(1), ParameterEntry(3), ParameterEntry(100)}},
      {"Shifts", those<std::string>({"auto", "[1, 2+3i, 2-3i]", "[0.5]"})},
      {"Eigenvalue Bounds", those<std::string>({"auto", "[0.5, 7]", "[-1, 2]"})},
      {"Verbosity", those<int>({0, 1, 32, 127})},
      {"Message Size Cutoff", {ParameterEntry(std::string("auto")), ParameterEntry(1), ParameterEntry(4096)}},
  };
  return table;
}

bool accepted(const ParameterRow& row, const ParameterEntry& entry) {
  try {
    checkParameter(row, entry);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

Values candidates(const ParameterRow& row, const std::string& folder) {
  if (const auto found = named().find(row.name); found != named().end()) return found->second;
  if (row.name == "Threads") return those<int>({0, 1, 3});  // not as many as the system has
  if (row.name == "Report File" || row.name == "History File" || row.name == "Trace File" || row.name == "Choice File")
    return those<std::string>({"", folder + "/" + row.name});
  if (row.name == "Output Stream") {
    return {ParameterEntry(Teuchos::RCP<std::ostream>(Teuchos::rcp(new Teuchos::oblackholestream)))};
  }
  if (!row.words.empty()) return those(row.words);
  if (row.type == "bool") return those<bool>({true, false});
  const std::vector<double> numbers = {-1, 0, 1e-8, 0.5, 1, 2, 3, 10};
  if (row.type != "int") return those(numbers);
  Values whole;
  for (const double number : numbers) whole.emplace_back(static_cast<int>(number));
  return whole;
}

}  // namespace

std::vector<Teuchos::ParameterEntry> valuesToTry(const ParameterRow& row, const std::string& folder) {
  Values values = candidates(row, folder);
  values.erase(std::remove_if(values.begin(), values.end(),
                              [&row](const ParameterEntry& entry) { return !accepted(row, entry); }),
               values.end());
  if (values.empty()) throw std::logic_error("parameter_values.cpp: no value is known for \"" + row.name + '"');
  return values;
}

}  // namespace capstan::testing
