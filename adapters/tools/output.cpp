#include "adapters/tools/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "adapters/preconditioners/parameter_messages.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/report/report_io.hpp"
#include "belos_ext/support/csv_field.hpp"

namespace capstan::tools {
namespace {

using deck::SolveRecord;
using nlohmann::json;

constexpr int columnCount = 11;
using Row = std::array<std::string, columnCount>;

long reductions(const SolveReport& report) { return report.reductionsBlocking + report.reductionsNonblocking; }

std::string stepText(const SolveRecord& record, bool outer) {
  return outer ? fmt::format("{}.{}", record.step + 1, record.outer + 1) : fmt::format("{}", record.step + 1);
}

std::string outcome(const SolveRecord& record) {
  if (record.converged) return "yes";
  if (record.claimed) return "NO (claims yes)";
  return record.reason.empty() ? "NO" : "NO: " + record.reason;
}

/// The method as the deck has it, and the one that solved where CAPSTAN_OPTIONS redirects it.
std::string method(const SolveRecord& record) {
  if (!record.report) return record.method;
  const MethodTraits* asked = findMethod(record.method);
  const bool same = asked != nullptr && asked->canonical == record.report->solver;
  return same ? record.method : record.method + " -> " + record.report->solver;
}

/// Reductions that MPI has seen, so that all solvers are counted alike; Capstan's own count on one rank, where it sends
/// none.
std::string reductionsPerIteration(const SolveRecord& record) {
  const int iterations = record.report ? record.report->iterationsInTurn : record.iterations;
  const bool sent = record.reductions && (!record.report || record.report->ranks > 1);
  const long count = sent ? *record.reductions : record.report ? reductions(*record.report) : 0;
  if (iterations <= 0 || count == 0) return "-";
  return fmt::format("{:.2f}", static_cast<double>(count) / iterations);
}

Row row(const SolveRecord& record, bool outer) {
  return {record.system,
          stepText(record, outer),
          fmt::format("{}", record.rows),
          record.solver,
          method(record),
          record.preconditioner,
          record.failure.empty() ? fmt::format("{}", record.iterations) : "-",
          fmt::format("{:.2e}", record.relativeResidual),
          outcome(record),
          fmt::format("{:.3f}", record.setupSeconds + record.solveSeconds),
          reductionsPerIteration(record)};
}

/// Numbers stand on the right, words on the left.
constexpr std::array<bool, columnCount> rightAligned = {false, true, true,  false, false, false,
                                                        true,  true, false, true,  true};

std::string line(const Row& cells, const std::array<std::size_t, columnCount>& widths) {
  std::string text;
  for (int c = 0; c < columnCount; ++c) {
    text += c == 0 ? "" : "  ";
    text += rightAligned[c] ? fmt::format("{:>{}}", cells[c], widths[c]) : fmt::format("{:<{}}", cells[c], widths[c]);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json toJson(const SolveRecord& record) {
  json out = {{"system", record.system},
              {"step", record.step + 1},
              {"outer_iteration", record.outer + 1},
              {"solver", record.solver},
              {"method", record.method},
              {"preconditioner", record.preconditioner},
              {"rows", record.rows},
              {"entries", record.entries},
              {"right_hand_sides", record.columns},
              {"tolerance", record.tolerance},
              {"iterations", record.iterations},
              {"relative_residual", number(record.relativeResidual)},
              {"scaled_by", record.scaledBy},
              {"claimed_converged", record.claimed},
              {"converged", record.converged},
              {"reason", record.reason.empty() ? json(nullptr) : json(record.reason)},
              {"reductions", record.reductions ? json(*record.reductions) : json(nullptr)},
              {"failure", record.failure.empty() ? json(nullptr) : json(record.failure)},
              {"seconds", {{"preconditioner_setup", record.setupSeconds}, {"solve", record.solveSeconds}}}};
  out["capstan"] = record.report ? capstan::toJson(*record.report) : json(nullptr);
  return out;
}

/// What was thrown, in a line: without what Teuchos puts ahead of it, such as a source file and a condition.
std::string inALine(const std::string& failure) {
  const std::string shared = ", not all ranks: ";
  const auto at = failure.rfind("rank ", 0) == 0 ? failure.find(shared) : std::string::npos;
  const auto begin = at == std::string::npos ? 0 : at + shared.size();
  return failure.substr(0, begin) + preconditioning::plainMessage(failure.substr(begin));
}

}  // namespace

std::string resultTable(const std::vector<SolveRecord>& records) {
  const Row head = {"system",
                    "step",
                    "rows",
                    "solver",
                    "method",
                    "preconditioner",
                    "iterations",
                    "true residual",
                    "converged",
                    "seconds",
                    "reductions/iteration"};
  const bool outer = std::any_of(records.begin(), records.end(), [](const SolveRecord& r) { return r.outer > 0; });
  std::vector<Row> rows;
  for (const auto& record : records) rows.push_back(row(record, outer));
  std::array<std::size_t, columnCount> widths{};
  Row rule;
  for (int c = 0; c < columnCount; ++c) {
    widths[c] = head[c].size();
    for (const auto& cells : rows) widths[c] = std::max(widths[c], cells[c].size());
    rule[c] = std::string(widths[c], '-');
  }
  std::string text = line(head, widths) + line(rule, widths);
  for (const auto& cells : rows) text += line(cells, widths);
  for (const auto& record : records) {
    if (record.failure.empty()) continue;
    text += fmt::format("{} with {} stopped: {}\n", record.system, record.solver, inALine(record.failure));
  }
  return text;
}

std::string reportJson(const deck::Deck& deck, int ranks, const std::vector<SolveRecord>& records) {
  json out = {{"deck", deck.file}, {"capstan_version", CAPSTAN_VERSION}, {"ranks", ranks}, {"solves", json::array()}};
  for (const auto& record : records) out["solves"].push_back(toJson(record));
  out["converged"] = std::all_of(records.begin(), records.end(), [](const SolveRecord& r) { return r.converged; });
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string historyCsv(const std::vector<SolveRecord>& records) {
  std::string text = "solve,system,step,solver,iteration,column,residual\n";
  const bool outer = std::any_of(records.begin(), records.end(), [](const SolveRecord& r) { return r.outer > 0; });
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto& record = records[i];
    for (const auto& point : record.history) {
      text += fmt::format("{},{},{},{},{},{},{:.9g}\n", i + 1, csvField(record.system), stepText(record, outer),
                          csvField(record.solver), point.iteration, point.rightHandSide, point.residual);
    }
  }
  return text;
}

}  // namespace capstan::tools
