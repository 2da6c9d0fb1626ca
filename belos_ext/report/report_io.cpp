#include "belos_ext/report/report_io.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "belos_ext/report/embedding_verdict.hpp"
#include "belos_ext/support/csv_field.hpp"
#include "belos_ext/support/output_file.hpp"

namespace capstan {

namespace {

/// What the process knows of the files it writes.
struct Files {
  std::mutex mutex;
  std::map<std::string, long> solves;  ///< calls by path
};

/// Never destroyed: a solver may outlive the statics of this library.
Files& files() {
  static Files* const instance = new Files;
  return *instance;
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error("Capstan: cannot " + what + " \"" + path + "\": " + std::strerror(errno));
}

/// An open file that closes itself.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    if (fd_ < 0) fail(path, "open");
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

bool writeAll(int fd, const std::string& text, off_t at) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::pwrite(fd, text.data() + done, text.size() - done, at + static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

/// Puts `text` in place of the file's last `overlap` bytes, or leaves the file as it was.
void extendFile(const std::string& path, const std::string& text, const std::string& overlap) {
  const Descriptor file(path, O_RDWR);
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  const off_t at = size - static_cast<off_t>(overlap.size());
  std::string tail(overlap.size(), '\0');
  if (at < 0 || ::pread(file.get(), tail.data(), tail.size(), at) != static_cast<ssize_t>(tail.size()) ||
      tail != overlap) {
    throw std::runtime_error("Capstan: cannot append to \"" + path + "\": another program has changed it");
  }
  if (!writeAll(file.get(), text, at)) {
    const int reason = errno;
    if (!writeAll(file.get(), overlap, at) || ::ftruncate(file.get(), size) != 0) {
      errno = reason;
      fail(path, "restore after a failed write");
    }
    errno = reason;
    fail(path, "write");
  }
}

/// Begins or extends a file. Returns nothing; counts the call only when it succeeded.
/// \param append what follows in a target that cannot be read back, such as a terminal
template <class Begin, class Extend, class Append>
void writeSolve(const std::string& path, Begin begin, Extend extend, Append append) {
  const std::lock_guard<std::mutex> lock(files().mutex);
  const OutputTarget target = outputTarget(path);
  const auto known = files().solves.find(path);
  const long solve = known == files().solves.end() ? 1 : known->second + 1;
  if (target.kind == OutputTarget::Kind::Stream && solve > 1) {
    writeOutput(path, append(solve));
  } else if (solve == 1 || target.kind != OutputTarget::Kind::File) {
    writeOutput(path, begin(solve));  // a file that was removed during the run is begun anew
  } else {
    extend(target.path, solve);
  }
  files().solves[path] = solve;
}

nlohmann::json rightHandSideJson(const RightHandSideReport& one) {
  return {{"converged", one.converged},
          {"reason", toString(one.reason)},
          {"iterations", one.iterations},
          {"restarts", one.restarts},
          {"recursive_residual", one.recursiveResidual},
          {"true_residual", one.trueResidual},
          {"initial_residual", one.initialResidual},
          {"scale", one.scale},
          {"tolerance", one.tolerance},
          {"initial_guess",
           {{"vectors", one.guess.vectors},
            {"factor", one.guess.factor},
            {"iterations_saved", one.guess.iterationsSaved}}}};
}

nlohmann::json secondsJson(const PhaseSeconds& seconds) {
  return {{"total", seconds.total},
          {"operator", seconds.operatorSeconds},
          {"preconditioner", seconds.preconditioner},
          {"orthogonalization", seconds.orthogonalization},
          {"reduction_wait", seconds.reductionWait},
          {"rest", seconds.rest}};
}

nlohmann::json progressJson(const ProgressReport& progress) {  // NaN becomes null
  return {{"mode", progress.mode},
          {"polls", progress.polls},
          {"wait_seconds", progress.waitSeconds},
          {"alone_seconds", progress.aloneSeconds},
          {"overlap", progress.overlap}};
}

nlohmann::json trafficJson(const SentByRanks& messages, const SentByRanks& bytes) {
  const auto both = [](const SentByRanks& sent) -> nlohmann::json {
    return {{"total", sent.total}, {"most_of_a_rank", sent.mostOfARank}};
  };
  return {{"messages", both(messages)}, {"bytes", both(bytes)}};
}

nlohmann::json embeddedJson(const EmbeddedReport& embedded) {
  if (!embedded.used) return nullptr;
  return {{"mapping", embedded.mapping},
          {"with_preconditioner", embedded.preconditioner},
          {"preconditioner_apart", embedded.preconditionerApart},
          {"messages_of_a_reduction", embedded.messages},
          {"neighbours", {{"most", embedded.neighbours}, {"mean", embedded.meanNeighbours}}},
          {"halo_values", embedded.halo},
          {"values_sent", embedded.values},
          {"values_for_a_message_saved", valuesForAMessageSaved(embedded).value_or(0)},
          {"setup_seconds", embedded.setupSeconds},
          {"reductions", embedded.reductions},
          {"columns", embedded.columns}};
}

nlohmann::json communicationJson(const CommunicationReport& communication) {
  nlohmann::json tried = nlohmann::json::object();
  for (const auto& [name, seconds] : communication.tried) tried[name] = seconds;
  const Traffic& traffic = communication.traffic;
  return {{"strategy", communication.strategy},
          {"used", communication.used},
          {"reason", communication.reason},
          {"nodes", communication.nodes},
          {"ranks_per_node", communication.ranksPerNode},
          {"message_size_cutoff", communication.messageSizeCutoff},
          {"message_memory", communication.messageMemory},
          {"from_earlier_solve", communication.fromEarlier},
          {"setup_seconds", communication.setupSeconds},
          {"paid_back_by_products", communication.paidBackBy},  // what is not finite becomes null
          {"tried_seconds", tried},
          {"products", communication.products},
          {"columns", communication.columns},
          {"embedded", embeddedJson(communication.embedded)},
          {"between_nodes", trafficJson(traffic.networkMessages, traffic.networkBytes)},
          {"within_nodes", trafficJson(traffic.nodeMessages, traffic.nodeBytes)}};
}

nlohmann::json choiceJson(const ChoiceReport& choice) {
  if (choice.arm.empty()) return nullptr;
  nlohmann::json arms = nlohmann::json::array();
  for (const ChoiceArm& one : choice.arms) {
    nlohmann::json at;
    for (std::size_t i = 0; i < one.at.size(); ++i) at[fmt::format("{}", ChoiceArm::latencies[i])] = one.at[i];
    arms.push_back({{"arm", one.arm},
                    {"seconds_a_digit", one.seconds},
                    {"spread", one.spread},
                    {"seconds_a_digit_at_us", at},
                    {"solves", one.solves},
                    {"left_out", one.leftOut}});
  }
  return {{"arm", choice.arm},
          {"trial", choice.trial},
          {"best", choice.best},
          {"best_seconds_a_digit", choice.bestSeconds},
          {"second", choice.second},
          {"second_seconds_a_digit", choice.secondSeconds},
          {"solves", choice.solves},
          {"trials", choice.trials},
          {"regret_seconds", choice.regretSeconds},
          {"arms", arms}};
}

std::string historyRows(const SolveReport& report, long solve) {
  const std::string front = fmt::format("{},{},{},", solve, csvField(report.solver), csvField(report.label));
  std::string rows;
  for (const HistoryPoint& point : report.history) {
    rows += front + fmt::format("{},{},{}\n", point.iteration, point.rightHandSide, point.residual);
  }
  return rows;
}

/// How often one of these has happened, for all right-hand sides.
long counted(const SolveReport& report, const std::set<EventKind>& kinds) {
  const auto& events = report.events;
  return std::count_if(events.begin(), events.end(), [&](const auto& event) { return kinds.count(event.what) > 0; });
}

}  // namespace

nlohmann::json toJson(const SolveReport& report) {
  nlohmann::json rightHandSides = nlohmann::json::array();
  for (const RightHandSideReport& one : report.rightHandSides) rightHandSides.push_back(rightHandSideJson(one));
  nlohmann::json events = nlohmann::json::array();
  for (const ReportEvent& event : report.events) {
    events.push_back({{"iteration", event.iteration},
                      {"right_hand_side", event.rightHandSide},
                      {"kind", event.kind},
                      {"detail", event.detail}});
  }
  return {
      {"solver", report.solver},
      {"label", report.label},
      {"system", report.system},
      {"ranks", report.ranks},
      {"rows", report.rows},
      {"converged", report.converged},
      {"reason", toString(report.reason)},
      {"iterations", report.iterations},
      {"iterations_in_turn", report.iterationsInTurn},
      {"restarts", report.restarts},
      {"hand_overs", counted(report, {EventKind::HandedOver, EventKind::Fallback})},
      {"residual_replacements",
       counted(report, {EventKind::ResidualReplaced, EventKind::ResidualRestarted, EventKind::RecurrencesReplaced})},
      {"claims_refuted", counted(report, {EventKind::ClaimRefuted, EventKind::ClaimEarly})},
      {"tolerance", report.tolerance},
      {"norm", report.norm},
      {"scaling", report.scaling},
      {"recursive_residual", report.recursiveResidual},
      {"true_residual", report.trueResidual},
      {"right_hand_sides", rightHandSides},
      {"reductions", {{"blocking", report.reductionsBlocking}, {"nonblocking", report.reductionsNonblocking}}},
      {"fences", report.fences},
      {"operator_applications", report.operatorApplications},
      {"preconditioner_applications", report.preconditionerApplications},
      {"applications_at_start",
       {{"operator", report.operatorsAtStart}, {"preconditioner", report.preconditionersAtStart}}},
      {"applications_beyond_iterations",
       {{"operator", report.operatorsBeyond}, {"preconditioner", report.preconditionersBeyond}}},
      {"initial_guess",
       {{"policy", report.initialGuess}, {"iterations_saved", report.iterationsSaved}, {"bytes", report.guessBytes}}},
      {"final_step_size", report.finalStepSize},
      {"seconds", secondsJson(report.seconds)},
      {"progress", progressJson(report.progress)},
      {"choice", choiceJson(report.choice)},
      {"communication", communicationJson(report.communication)},
      {"events", events}};
}

void writeReport(const std::string& path, const SolveReport& report) {
  // Labels come from applications and need not be UTF-8.
  const std::string element = toJson(report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const auto whole = [&](long) { return "[\n" + element + "\n]\n"; };
  writeSolve(
      path, whole, [&](const std::string& file, long) { extendFile(file, ",\n" + element + "\n]\n", "\n]\n"); }, whole);
}

void writeHistory(const std::string& path, const SolveReport& report) {
  const auto rows = [&](long solve) { return historyRows(report, solve); };
  writeSolve(
      path, [&](long solve) { return "solve,solver,label,iteration,column,residual\n" + rows(solve); },
      [&](const std::string& file, long solve) { extendFile(file, rows(solve), ""); }, rows);
}

void beginReportFilesAnew() {
  const std::lock_guard<std::mutex> lock(files().mutex);
  files().solves.clear();
}

}  // namespace capstan
