// What applications and people read of the table: the valid list with its validators, Markdown, plain text.

#include <fmt/format.h>

#include <Teuchos_ParameterEntryValidator.hpp>
#include <Teuchos_StrUtils.hpp>
#include <algorithm>
#include <iostream>
#include <ostream>

#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/parameter_value.hpp"

namespace capstan {

namespace {

/// Lets Teuchos ask the table whether a value is valid.
class RowValidator : public Teuchos::ParameterEntryValidator {
 public:
  explicit RowValidator(const ParameterRow& row) : row_(&row) {}

  const std::string getXMLTypeName() const override { return "capstanParameterValidator"; }

  void printDoc(const std::string& docString, std::ostream& out) const override {
    Teuchos::StrUtils::printLines(out, "# ", docString);
    out << "#   Allowed: " << row_->type << ", " << row_->allowed << "\n";
  }

  ValidStringsList validStringValues() const override {
    if (row_->words.empty()) return Teuchos::null;
    return Teuchos::rcp(new Teuchos::Array<std::string>(row_->words));
  }

  void validate(const Teuchos::ParameterEntry& entry, const std::string&, const std::string& sublist) const override {
    try {
      checkParameter(*row_, entry);
    } catch (const std::invalid_argument& error) {
      throw Teuchos::Exceptions::InvalidParameterValue((sublist.empty() ? "" : sublist + ": ") + error.what());
    }
  }

 private:
  const ParameterRow* row_;
};

const ParameterState& defaults() {
  static const ParameterState state{};
  return state;
}

std::string defaultText(const ParameterRow& row) {
  if (row.name == "Output Stream") return "std::cout";
  return showValue(row.show(defaults()));
}

/// "all", or the solvers without the prefix they share.
std::string appliesTo(const ParameterRow& row) {
  if (row.general) return "all";
  std::string text;
  for (const MethodTraits& solver : methods()) {
    if (!row.appliesTo(solver)) continue;
    text += (text.empty() ? "" : ", ") + solver.canonical.substr(std::string("CAPSTAN ").size());
  }
  return text.empty() ? choosingMethod().canonical : text;
}

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return text;
}

}  // namespace

Teuchos::RCP<const Teuchos::ParameterList> Parameters::valid() const {
  auto list = Teuchos::rcp(new Teuchos::ParameterList(solver_->canonical));
  for (const ParameterRow& row : parameterRows()) {
    Teuchos::ParameterEntry entry = row.show(defaults());
    entry.setAnyValue(entry.getAny(false), true);
    const std::string effect = row.group == ParameterGroup::Compatibility ? "No effect: " : "";
    entry.setDocString(effect + row.doc + " Allowed: " + row.type + ", " + row.allowed + ".");
    entry.setValidator(Teuchos::rcp(new RowValidator(row)));
    list->setEntry(row.name, entry);
  }
  return list;
}

namespace {

/// The rows of each group under its heading. \param heading, columns, line for fmt: the line has name, type, allowed,
/// default, solvers and meaning   \param keyOnly of name and meaning, for keys without effect
std::string parameterTable(const char* heading, const char* columns, const char* line, const char* keyOnly,
                           std::string (*shown)(std::string)) {
  std::string table;
  for (std::size_t k = 0; k < wordsOf(ParameterGroup()).size(); ++k) {
    const auto group = static_cast<ParameterGroup>(k);
    const bool effect = group != ParameterGroup::Compatibility;
    table += fmt::format(fmt::runtime(heading), table.empty() ? "" : "\n", toString(group),
                         effect ? "" : ": Belos' keys without effect, which are accepted");
    if (effect) table += columns;
    for (const ParameterRow& row : parameterRows()) {
      if (row.group != group) continue;
      table += effect ? fmt::format(fmt::runtime(line), row.name, row.type, shown(row.allowed), defaultText(row),
                                    appliesTo(row), shown(row.doc))
                      : fmt::format(fmt::runtime(keyOnly), row.name, row.doc);
    }
  }
  return table;
}

}  // namespace

std::string parameterTableMarkdown() {
  return parameterTable("{}## {}{}\n\n",
                        "| Parameter | Type | Allowed | Default | Solvers | Meaning |\n|---|---|---|---|---|---|\n",
                        "| `{}` | {} | {} | `{}` | {} | {} |\n", "- `{}`: {}\n", escaped);
}

std::string parameterTableText() {
  return parameterTable("{}{}{}\n\n", "", "\"{}\" ({}; {}; default {}; solvers: {})\n    {}\n", "\"{}\": {}\n",
                        [](std::string text) { return text; });
}

}  // namespace capstan
