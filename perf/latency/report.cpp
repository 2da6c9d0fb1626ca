#include "perf/latency/report.hpp"

#include <cstdio>
#include <fstream>
#include <locale>
#include <sstream>

#include "perf/latency/layer.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace capstan::latency {
namespace {

/// Sums and largest values over all ranks, on rank 0.
struct Totals {
  long blocking = 0, nonblocking = 0, notYet = 0;
  double asked = 0, waited = 0, mostWaited = 0;  // seconds
  int ranks = 0;
};

Totals totals() {
  Counters& mine = counters();
  const long counts[] = {mine.blocking, mine.nonblocking, mine.notYet};
  const double seconds[] = {1e-9 * double(mine.askedNanoseconds), 1e-9 * double(mine.waitedNanoseconds)};
  long allCounts[3] = {};
  double allSeconds[2] = {};
  Totals all;
  PMPI_Reduce(counts, allCounts, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  PMPI_Reduce(seconds, allSeconds, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  PMPI_Reduce(&seconds[1], &all.mostWaited, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  PMPI_Comm_size(MPI_COMM_WORLD, &all.ranks);
  all.blocking = allCounts[0];
  all.nonblocking = allCounts[1];
  all.notYet = allCounts[2];
  all.asked = allSeconds[0];
  all.waited = allSeconds[1];
  return all;
}

std::string toJson(const Settings& settings, const Totals& all) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text.precision(9);
  // The description holds no character that JSON would have escaped.
  text << "{\"emulated\": " << (settings.on() ? "true" : "false") << ", \"description\": \"" << describe(settings)
       << "\", \"ranks\": " << all.ranks << ", \"blocking\": " << all.blocking
       << ", \"nonblocking\": " << all.nonblocking << ", \"held_back_in_tests\": " << all.notYet
       << ", \"emulated_seconds_asked\": " << all.asked << ", \"emulated_seconds_waited\": " << all.waited
       << ", \"emulated_seconds_waited_slowest_rank\": " << all.mostWaited << "}\n";
  return text.str();
}

std::string toText(const Settings& settings, const Totals& all) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << describe(settings) << "\n"
       << "emulated latency: " << all.ranks << " ranks together: " << all.blocking << " blocking and "
       << all.nonblocking << " nonblocking collectives; " << all.notYet << " tests held back\n"
       << "emulated latency: " << all.asked << " s asked, " << all.waited << " s waited for it in blocking calls ("
       << all.mostWaited << " s on the slowest rank)\n";
  return text.str();
}

}  // namespace

void writeReport(const Settings& settings) {
  const Totals all = totals();
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  if (settings.report == "stderr") {
    std::fputs(toText(settings, all).c_str(), stderr);
    return;
  }
  std::ofstream file(settings.report);
  file << toJson(settings, all);
  file.close();
  if (!file) {
    std::fprintf(stderr, "capstan latency layer: CAPSTAN_LATENCY_REPORT: cannot write '%s'\n", settings.report.c_str());
  }
}

}  // namespace capstan::latency
