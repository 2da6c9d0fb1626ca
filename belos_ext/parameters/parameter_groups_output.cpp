// Parameters that do not change the iterates: output, behaviour, and keys accepted for the sake of others.

#include <BelosTypes.hpp>
#include <Teuchos_FancyOStream.hpp>
#include <cmath>
#include <iostream>
#include <limits>
#include <ostream>

#include "belos_ext/parameters/parameter_groups.hpp"
#include "belos_ext/parameters/parameter_row_makers.hpp"

namespace capstan::rows {

namespace {

const std::vector<std::pair<std::string, int>>& verbosityWords() {
  static const std::vector<std::pair<std::string, int>> words = {
      {"Errors", Belos::Errors},
      {"Warnings", Belos::Warnings},
      {"IterationDetails", Belos::IterationDetails},
      {"OrthoDetails", Belos::OrthoDetails},
      {"FinalSummary", Belos::FinalSummary},
      {"TimingDetails", Belos::TimingDetails},
      {"StatusTestDetails", Belos::StatusTestDetails},
      {"Debug", Belos::Debug},
  };
  return words;
}

int verbosityOfWords(const std::string& text) {
  int bits = 0;
  std::string word;
  for (const char c : text + "+") {
    if (c != '+' && c != '|' && c != ',' && c != ' ') {
      word += c;
    } else if (!word.empty()) {
      const std::string wanted = normalizedName(word);
      const auto& words = verbosityWords();
      const auto found = std::find_if(words.begin(), words.end(),
                                      [&](const auto& known) { return normalizedName(known.first) == wanted; });
      if (found == words.end()) throw std::invalid_argument("has \"" + word + "\", which is no kind of message");
      bits |= found->second;
      word.clear();
    }
  }
  return bits;
}

int toVerbosity(const Teuchos::ParameterEntry& entry) {
  constexpr int all = 0x7f;
  if (holds<Belos::MsgType>(entry)) return Teuchos::getValue<Belos::MsgType>(entry);
  if (holds<bool>(entry)) return toBool(entry) ? Belos::Warnings | Belos::FinalSummary | Belos::StatusTestDetails : 0;
  int bits = 0;
  try {
    bits = toInt(entry);
  } catch (const std::invalid_argument&) {
    if (!holds<std::string>(entry) && !holds<const char*>(entry)) throw;
    return verbosityOfWords(toText(entry));
  }
  if (bits < 0 || bits > all) throw std::invalid_argument("is out of range");
  return bits;
}

ParameterRow verbosity() {
  ParameterRow row = described(
      "Verbosity", "int, bool or string",
      "a sum of Belos::MsgType (0 to 127), a bool, or words joined by +: Errors, Warnings, IterationDetails, "
      "OrthoDetails, FinalSummary, TimingDetails, StatusTestDetails, Debug",
      "Chooses what is printed. OrthoDetails and Debug print breakdowns and changes of step size, shifts and depth. "
      "Warnings prints a loss of accuracy, and a matrix under CG that is not symmetric. Errors throw. true means "
      "Warnings + FinalSummary + StatusTestDetails. Parameters without effect and files that cannot be written are "
      "reported once whatever the value. A breakdown or NaN that ends a solve is reported on stderr, once for each "
      "label.");
  for (const auto& word : verbosityWords()) row.words.push_back(word.first);
  return bound(std::move(row), &SolverOptions::verbosity, toVerbosity);
}

int toOutputStyle(const Teuchos::ParameterEntry& entry) {
  if (holds<Belos::OutputType>(entry)) return Teuchos::getValue<Belos::OutputType>(entry);
  if (isWord(entry, "General")) return Belos::General;
  if (isWord(entry, "Brief")) return Belos::Brief;
  if (isWord(entry, "User")) return Belos::User;
  const int style = toInt(entry);
  if (style < Belos::General || style > Belos::User) throw std::invalid_argument("is out of range");
  return style;
}

ParameterRow outputStyle() {
  ParameterRow row =
      described("Output Style", "int or string", "0 or General, 1 or Brief, 2 or User (Belos::OutputType)",
                "Chooses how status tests are printed.");
  row.words = {"General", "Brief", "User"};
  return bound(std::move(row), &SolverOptions::outputStyle, toOutputStyle);
}

Teuchos::RCP<std::ostream> toStream(const Teuchos::ParameterEntry& entry) {
  Teuchos::RCP<std::ostream> stream;
  if (holds<Teuchos::RCP<std::ostream>>(entry)) {
    stream = Teuchos::getValue<Teuchos::RCP<std::ostream>>(entry);
  } else if (holds<Teuchos::RCP<Teuchos::FancyOStream>>(entry)) {
    stream = Teuchos::getValue<Teuchos::RCP<Teuchos::FancyOStream>>(entry);
  } else {
    throw std::invalid_argument("is not a stream");
  }
  if (stream.is_null()) throw std::invalid_argument("is a null stream");
  return stream;
}

ParameterRow outputStream() {
  return bound(described("Output Stream", "Teuchos::RCP<std::ostream>", "a stream that is not null",
                         "The stream on which everything is printed. It cannot be given in YAML. Default: std::cout."),
               &SolverOptions::outputStream, toStream, [](const Teuchos::RCP<std::ostream>& stream) {
                 return stream.is_null() ? Teuchos::rcpFromRef(static_cast<std::ostream&>(std::cout)) : stream;
               });
}

/// A number whose values up to `harmless` ask for nothing that Capstan would not do.
ParameterRow fixedNumber(const std::string& name, double value, double harmless, const std::string& instead,
                         const std::string& doc) {
  ParameterRow row = described(name, "double", "a number", noEffect + doc);
  row.parse = [](const Teuchos::ParameterEntry& entry, ParameterState&) { toReal(entry); };
  row.print = [name, value](const ParameterState&, Teuchos::ParameterList& list) { list.set(name, value); };
  row.remark = [harmless, instead](const Teuchos::ParameterEntry& entry, const MethodTraits&) {
    return toReal(entry) <= harmless ? std::string() : instead;
  };
  return row;
}

}  // namespace

std::vector<ParameterRow> output() {
  return {
      verbosity(),
      outputStyle(),
      integer("Output Frequency", &SolverOptions::outputFrequency, -1, std::numeric_limits<int>::max(), ">= -1",
              "Iterations between printed residuals; -1 and 0: none."),
      outputStream(),
      boolean("Show Maximum Residual Norm Only", &SolverOptions::showMaximumResidualNormOnly,
              "With several right-hand sides, only the largest residual norm is printed."),
      text("Timer Label", &SolverOptions::timerLabel, "any",
           "Prefix of the names of Teuchos timers. Empty: the solve has none, which saves some microseconds an "
           "iteration."),
      text("Solver Name", &SolverOptions::solverLabel, "any",
           "This solver's name in output and reports. Default: the canonical name."),
      outputFile("Report File", &SolverOptions::reportFile,
                 "The JSON file of solve reports. Rank 0 writes it after every solve."),
      outputFile("History File", &SolverOptions::historyFile,
                 "The CSV file of residual norms by iteration. Rank 0 writes it after every solve."),
  };
}

std::vector<ParameterRow> behaviour() {
  return {
      boolean("Strict Parameters", &SolverOptions::strictParameters,
              "Whether a key that is unknown, or has no effect, is an error instead of a warning."),
      boolean("State Cache", &SolverOptions::stateCache,
              "Whether shifts, bounds, the step size and the vectors of \"Initial Guess\" are kept for later solvers "
              "with the same problem label and map."),
      choice<ProgressMode>(
          "Progress", &SolverOptions::progress, {ProgressMode::None, ProgressMode::Poll, ProgressMode::Thread},
          "Who lets MPI advance hidden reductions during local work. none: nobody. poll: the solver, between and "
          "within its kernels. thread: a thread, which needs a core of its own and "
          "MPI_THREAD_MULTIPLE; without that the solver polls, with a warning."),
      boolean(
          "Measure Overlap", &SolverOptions::measureOverlap,
          "Whether the report tells how much of the hidden reductions' time was hidden, on the average of the ranks. "
          "It takes one all-reduce at the end of a solve, and 7 once for each communicator and message size. The value "
          "must be the same on all ranks."),
  };
}

std::vector<ParameterRow> acceptedForBelos() {
  return {
      fixed("Explicit Residual Test", true, "the computed residual always decides on convergence",
            "The computed residual decides on convergence in every solver."),
      fixed("Adaptive Block Size", true, "each right-hand side always leaves the block when it has converged",
            "A right-hand side leaves the block when it has converged."),
      fixedNumber("Deflation Quorum", 1.0, 1.0, "each right-hand side always stops on its own",
                  "Each right-hand side stops on its own."),
      fixed("Fold Convergence Detection Into Allreduce", true, "the convergence check never has a reduction of its own",
            "The convergence check never has a reduction of its own."),
      fixed("Use Single Reduction", true, "each method has a fixed number of reductions an iteration",
            "Each method has a fixed number of reductions an iteration."),
      fixed("Assert Positive Definiteness", true, "CG goes on where Hestenes and Stiefel's goes on, and throws nothing",
            "CG goes on where an operator is not positive definite; a solve that "
            "fails is an outcome and not an exception."),
      fixed("Estimate Condition Number", false, "condition numbers are not estimated",
            "Condition numbers are not estimated."),
      fixedNumber("Orthogonalization Constant", -1.0, 0.0, "reorthogonalisation does not depend on a threshold",
                  "There is no threshold: a scheme reorthogonalises always or never."),
      fixedNumber("Max Orthogonalization Passes", 2.0, 2.0, "the scheme fixes the number of passes",
                  "The scheme fixes the number of passes."),
  };
}

}  // namespace capstan::rows
