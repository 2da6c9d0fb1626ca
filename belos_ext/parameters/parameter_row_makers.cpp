#include "belos_ext/parameters/parameter_row_makers.hpp"

#include <cmath>

namespace capstan::rows {

namespace {

template <class T>
void printMember(ParameterRow& row, T SolverOptions::*member) {
  row.print = [name = row.name, member](const ParameterState& state, Teuchos::ParameterList& list) {
    list.set(name, state.options.*member);
  };
}

}  // namespace

ParameterRow described(const std::string& name, const std::string& type, const std::string& allowed, Takers takers,
                       const std::string& doc) {
  ParameterRow row;
  row.name = name;
  row.type = type;
  row.allowed = allowed;
  row.general = takers == Takers::EveryMethod;
  row.doc = doc;
  return row;
}

ParameterRow integer(const std::string& name, int SolverOptions::*member, int low, int high, const std::string& allowed,
                     Takers takers, const std::string& doc) {
  ParameterRow row = described(name, "int", allowed, takers, doc);
  row.parse = [member, low, high](const Teuchos::ParameterEntry& entry, ParameterState& state) {
    const int value = toInt(entry);
    if (value < low || value > high) throw std::invalid_argument("is out of range");
    state.options.*member = value;
  };
  printMember(row, member);
  return row;
}

ParameterRow real(const std::string& name, double SolverOptions::*member, double low, const std::string& allowed,
                  Takers takers, const std::string& doc) {
  ParameterRow row = described(name, "double", allowed, takers, doc);
  row.parse = [member, low](const Teuchos::ParameterEntry& entry, ParameterState& state) {
    const double value = toReal(entry);
    if (!std::isfinite(value) || value < low) throw std::invalid_argument("is out of range");
    state.options.*member = value;
  };
  printMember(row, member);
  return row;
}

ParameterRow boolean(const std::string& name, bool SolverOptions::*member, Takers takers, const std::string& doc) {
  ParameterRow row = described(name, "bool", "true, false", takers, doc);
  row.parse = [member](const Teuchos::ParameterEntry& entry, ParameterState& state) {
    state.options.*member = toBool(entry);
  };
  printMember(row, member);
  return row;
}

ParameterRow text(const std::string& name, std::string SolverOptions::*member, const std::string& allowed,
                  Takers takers, const std::string& doc) {
  ParameterRow row = described(name, "string", allowed, takers, doc);
  row.parse = [member](const Teuchos::ParameterEntry& entry, ParameterState& state) {
    state.options.*member = toText(entry);
  };
  printMember(row, member);
  return row;
}

ParameterRow outputFile(const std::string& name, std::string SolverOptions::*member, const std::string& doc) {
  ParameterRow row = text(name, member, "a file in an existing folder; empty: none", Takers::EveryMethod, doc);
  return row;
}

ParameterRow fixed(const std::string& name, bool always, const std::string& instead, const std::string& doc) {
  ParameterRow row = described(name, "bool", "true, false", Takers::EveryMethod, noEffect + doc);
  row.parse = [](const Teuchos::ParameterEntry& entry, ParameterState&) { toBool(entry); };
  row.print = [name, always](const ParameterState&, Teuchos::ParameterList& list) { list.set(name, always); };
  row.remark = [always, instead](const Teuchos::ParameterEntry& entry, const MethodTraits&) {
    return toBool(entry) == always ? std::string() : instead;
  };
  return row;
}

}  // namespace capstan::rows
