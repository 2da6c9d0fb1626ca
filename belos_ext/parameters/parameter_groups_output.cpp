// Parameters that do not change the iterates: output, and keys accepted for the sake of others.

#include <BelosTypes.hpp>
#include <Teuchos_FancyOStream.hpp>
#include <cctype>
#include <iostream>
#include <limits>
#include <ostream>
#include <sstream>
#include <type_traits>

#include "belos_ext/parameters/parameter_row_makers.hpp"

namespace capstan {

using namespace rows;

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

int verbosityOfWords(std::string text) {
  for (char& c : text) c = c == '+' || c == '|' || c == ',' ? ' ' : c;
  std::istringstream words(text);
  int bits = 0;
  for (std::string word; words >> word;) {
    const auto& known = verbosityWords();
    const auto found = std::find_if(known.begin(), known.end(), [wanted = normalizedName(word)](const auto& one) {
      return normalizedName(one.first) == wanted;
    });
    if (found == known.end()) throw std::invalid_argument("has \"" + word + "\", which is no kind of message");
    bits |= found->second;
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

ParameterRow verbosityRow() {
  ParameterRow row =
      described("Verbosity", "int, bool or string",
                "a sum of Belos::MsgType (0 to 127), a bool, or words joined by +: Errors, Warnings, IterationDetails, "
                "OrthoDetails, FinalSummary, TimingDetails, StatusTestDetails, Debug",
                "Chooses what is printed. OrthoDetails and Debug print breakdowns and changes of step size, shifts and "
                "depth. Warnings prints a loss of accuracy, and a matrix under CG that is not symmetric. Errors throw. "
                "true means Warnings + FinalSummary + StatusTestDetails. Parameters without effect and files that "
                "cannot be written are reported once whatever the value. A breakdown or NaN that ends a solve is "
                "reported on stderr, once for each label.");
  for (const auto& word : verbosityWords()) row.words.push_back(word.first);
  return bound(std::move(row), &OutputOptions::verbosity, toVerbosity);
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

ParameterRow outputStyleRow() {
  ParameterRow row =
      described("Output Style", "int or string", "0 or General, 1 or Brief, 2 or User (Belos::OutputType)",
                "Chooses how status tests are printed.");
  row.words = {"General", "Brief", "User"};
  return bound(std::move(row), &OutputOptions::outputStyle, toOutputStyle);
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

ParameterRow outputStreamRow() {
  return bound(described("Output Stream", "Teuchos::RCP<std::ostream>", "a stream that is not null",
                         "The stream on which everything is printed. It cannot be given in YAML. Default: std::cout."),
               &OutputOptions::outputStream, toStream, [](const Teuchos::RCP<std::ostream>& stream) {
                 return stream.is_null() ? Teuchos::rcpFromRef(static_cast<std::ostream&>(std::cout)) : stream;
               });
}

/// One of Belos' keys for what Capstan does in one way only. \param asks whether a value asks for another way
/// \param why what Capstan does, to go behind "has no effect: "
template <class Value, class Asks>
ParameterRow fixed(const std::string& name, Value value, const std::string& why, Asks asks) {
  constexpr bool isBool = std::is_same_v<Value, bool>;
  const auto read = [](const Teuchos::ParameterEntry& entry) -> Value {
    if constexpr (isBool) return toBool(entry);
    return toReal(entry);
  };
  ParameterRow row = described(name, isBool ? "bool" : "double", isBool ? "true, false" : "a number", why + ".");
  row.doc[0] = static_cast<char>(std::toupper(row.doc[0]));
  row.group = ParameterGroup::Compatibility;
  row.mayDiffer = true;
  row.parse = [read](const Teuchos::ParameterEntry& entry, ParameterState&) { read(entry); };
  row.show = [value](const ParameterState&) { return Teuchos::ParameterEntry(value); };
  row.remark = [read, asks, why](const Teuchos::ParameterEntry& entry, const MethodTraits&) {
    return asks(read(entry)) ? why : std::string();
  };
  return row;
}
ParameterRow fixed(const std::string& name, bool value, const std::string& why) {
  return fixed(name, value, why, [value](bool other) { return other != value; });
}
ParameterRow fixed(const std::string& name, double value, double most, const std::string& why) {
  return fixed(name, value, why, [most](double other) { return other > most; });
}

}  // namespace

std::vector<ParameterRow> OutputOptions::rows() {
  const auto basic = ParameterGroup::Basic;
  const char* const aFile = "a file in an existing folder; empty: none";
  std::vector<ParameterRow> rows = {
      in(basic, verbosityRow()),
      outputStyleRow(),
      in(basic, integer("Output Frequency", &OutputOptions::outputFrequency, -1,
                        "Iterations between printed residuals; -1 and 0: none.")),
      outputStreamRow(),
      boolean("Show Maximum Residual Norm Only", &OutputOptions::showMaximumResidualNormOnly,
              "With several right-hand sides, only the largest residual norm is printed."),
      text("Timer Label", &OutputOptions::timerLabel, "any",
           "Prefix of the names of Teuchos timers. Empty: the solve has none, which saves some microseconds an "
           "iteration."),
      in(basic, text("Solver Name", &OutputOptions::solverLabel, "any",
                     "This solver's name in output and reports. Default: the canonical name.")),
      in(basic, text("Report File", &OutputOptions::reportFile, aFile,
                     "The JSON file of solve reports. Rank 0 writes it after every solve.")),
      in(basic, text("History File", &OutputOptions::historyFile, aFile,
                     "The CSV file of residual norms by iteration. Rank 0 writes it after every solve.")),
      text("Trace File", &OutputOptions::traceFile, aFile,
           "The JSON file, for Perfetto, Chrome's trace viewer or ./capstan plot, of what each thread computed in the "
           "last solve, and of its reductions from start to wait. Of several ranks each writes its own: trace.json is "
           "trace.0.json, trace.1.json and so on."),
      boolean("Strict Parameters", &OutputOptions::strictParameters,
              "Whether a key that is unknown, or has no effect, is an error instead of a warning."),
      boolean("State Cache", &OutputOptions::stateCache,
              "Whether shifts, bounds, the step size and the vectors of \"Initial Guess\" are kept for later solvers "
              "with the same problem label and map."),
  };
  for (ParameterRow& row : rows) row.mayDiffer = row.name != "State Cache";
  return rows;
}

std::vector<ParameterRow> CompatibilityOptions::rows() {
  return {
      fixed("Explicit Residual Test", true, "the computed residual always decides on convergence"),
      fixed("Adaptive Block Size", true, "each right-hand side always leaves the block when it has converged"),
      fixed("Deflation Quorum", 1.0, 1.0, "each right-hand side always stops on its own"),
      fixed("Fold Convergence Detection Into Allreduce", true,
            "the convergence check never has a reduction of its own"),
      fixed("Use Single Reduction", true, "each method has a fixed number of reductions an iteration"),
      fixed("Assert Positive Definiteness", true,
            "CG goes on where Hestenes and Stiefel's goes on, and throws nothing"),
      fixed("Estimate Condition Number", false, "condition numbers are not estimated"),
      fixed("Orthogonalization Constant", -1.0, 0.0, "reorthogonalisation does not depend on a threshold"),
      fixed("Max Orthogonalization Passes", 2.0, 2.0, "the scheme fixes the number of passes"),
  };
}

}  // namespace capstan
