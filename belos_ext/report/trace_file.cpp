#include "belos_ext/report/trace_file.hpp"

#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <stdexcept>
#include <utility>

#include "belos_ext/support/output_file.hpp"
#include "belos_ext/support/said_once.hpp"
#include "tpetra_ext/kernels/base/task_queue.hpp"

namespace capstan {
namespace {

double microseconds(Trace::Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }
double microseconds(Trace::Clock::time_point time) { return microseconds(time.time_since_epoch()); }

nlohmann::json nameOf(const char* what, int rank, int thread, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", thread}, {"args", {{"name", name}}}};
}

}  // namespace

std::string toTraceJson(const Trace& trace, const std::string& solver, int rank) {
  auto events = nlohmann::json::array();
  events.push_back(nameOf("process_name", rank, 0, "rank " + std::to_string(rank) + ", " + solver));
  std::set<int> threads{0};
  for (const Trace::Stretch& stretch : trace.stretches()) threads.insert(stretch.thread);
  for (const int thread : threads) {
    events.push_back(nameOf("thread_name", rank, thread, thread == 0 ? "driver" : "thread " + std::to_string(thread)));
  }
  for (const Trace::Stretch& stretch : trace.stretches()) {
    events.push_back({{"ph", "X"},
                      {"name", stretch.name},
                      {"pid", rank},
                      {"tid", stretch.thread},
                      {"ts", microseconds(stretch.begin)},
                      {"dur", microseconds(stretch.end - stretch.begin)}});
  }
  for (const Trace::Reduction& one : trace.reductions()) {
    for (const auto& [phase, time] : {std::pair("b", one.begin), std::pair("e", one.end)}) {
      events.push_back({{"ph", phase},
                        {"cat", "reduction"},
                        {"name", "reduction"},
                        {"id", one.ticket},
                        {"pid", rank},
                        {"tid", 0},
                        {"ts", microseconds(time)}});
    }
  }
  return nlohmann::json({{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}}).dump() + "\n";
}

std::string traceFileOf(const std::string& path, int rank, int ranks) {
  if (ranks == 1) return path;
  const std::size_t folder = path.find_last_of('/') + 1;  // 0 where there is none
  const std::size_t dot = path.find_last_of('.');
  const std::size_t at = dot == std::string::npos || dot <= folder ? path.size() : dot;
  return path.substr(0, at) + "." + std::to_string(rank) + path.substr(at);
}

SolveTrace::SolveTrace(const SolverOptions& options, std::string solver, const Teuchos::Comm<int>& comm)
    : solver_(std::move(solver)), out_(options.outputStream), rank_(comm.getRank()) {
  if (options.traceFile.empty()) return;
  path_ = traceFileOf(options.traceFile, comm.getRank(), comm.getSize());
  trace_ = std::make_unique<Trace>();
}

SolveTrace::~SolveTrace() {
  if (trace_ == nullptr) return;
  kernels::detail::finishTasks();
  try {
    writeOutput(path_, toTraceJson(*trace_, solver_, rank_));
  } catch (const std::exception& error) {
    if (firstTime(error.what())) *out_ << "Capstan warning: " << error.what() << std::endl;
  }
}

}  // namespace capstan
