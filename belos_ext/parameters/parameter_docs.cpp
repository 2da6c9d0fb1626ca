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
  Teuchos::ParameterList list;
  row.print(defaults(), list);
  return showValue(list.getEntry(row.name));
}

std::vector<const MethodTraits*> implementedFor(const ParameterRow& row) {
  std::vector<const MethodTraits*> solvers;
  for (const MethodTraits& solver : methods()) {
    if (row.appliesTo(solver)) solvers.push_back(&solver);
  }
  return solvers;
}

/// "all", or the solvers without the prefix they share.
std::string appliesTo(const ParameterRow& row) {
  const auto solvers = implementedFor(row);
  if (solvers.size() == methods().size()) return "all";
  std::string text;
  for (const MethodTraits* solver : solvers) {
    text += (text.empty() ? "" : ", ") + solver->canonical.substr(std::string("CAPSTAN ").size());
  }
  return text;
}

std::string escaped(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, 1, '\\');
  return text;
}

}  // namespace

Teuchos::RCP<const Teuchos::ParameterList> Parameters::valid() const {
  auto list = Teuchos::rcp(new Teuchos::ParameterList(solver_->canonical));
  for (const ParameterRow& row : parameterRows()) {
    row.print(defaults(), *list);
    Teuchos::ParameterEntry& entry = list->getEntry(row.name);
    entry.setAnyValue(entry.getAny(), true);
    entry.setDocString(row.doc + " Allowed: " + row.type + ", " + row.allowed + ".");
    entry.setValidator(Teuchos::rcp(new RowValidator(row)));
  }
  return list;
}

std::string parameterTableMarkdown() {
  std::string table = "| Parameter | Type | Allowed | Default | Solvers | Meaning |\n|---|---|---|---|---|---|\n";
  for (const ParameterRow& row : parameterRows()) {
    if (implementedFor(row).empty()) continue;
    table += fmt::format("| `{}` | {} | {} | `{}` | {} | {} |\n", row.name, row.type, escaped(row.allowed),
                         defaultText(row), appliesTo(row), escaped(row.doc));
  }
  return table;
}

std::string parameterTableText() {
  std::string table;
  for (const ParameterRow& row : parameterRows()) {
    if (implementedFor(row).empty()) continue;
    table += fmt::format("\"{}\" ({}; {}; default {}; solvers: {})\n    {}\n", row.name, row.type, row.allowed,
                         defaultText(row), appliesTo(row), row.doc);
  }
  return table;
}

}  // namespace capstan
