// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/system_files.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <MatrixMarket_Tpetra.hpp>
#include <Teuchos_ParameterList.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "adapters/driver/belos_method.hpp"
#include "adapters/driver/host_vectors.hpp"
#include "adapters/preconditioners/presets.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/support/output_file.hpp"
#include "belos_ext/support/shared_text.hpp"

namespace capstan::driver {
namespace {

using Writer = Tpetra::MatrixMarket::Writer<Matrix>;
namespace fs = std::filesystem;

Teuchos::RCP<Matrix> assemble(const WholeSystem& system, const CsrGraph& graph) {
  const auto matrix = Teuchos::rcp(new Matrix(graph.graph));
  setValues(*matrix, system.values.data(), graph.position);
  matrix->fillComplete(graph.graph->getDomainMap(), graph.graph->getRangeMap());
  return matrix;
}

void emitText(YAML::Emitter& out, const std::string& text) {
  // A list came as text, too; a deck holds it as a list.
  if (!text.empty() && text.front() == '[') {
    out << YAML::Flow << YAML::BeginSeq;
    for (const auto& item : YAML::Load(text)) out << item.Scalar();
    out << YAML::EndSeq;
  } else {
    out << YAML::DoubleQuoted << text;
  }
}

void emit(YAML::Emitter& out, const Teuchos::ParameterList& list) {
  out << YAML::BeginMap;
  for (const auto& item : list) {
    out << YAML::Key << YAML::DoubleQuoted << item.first << YAML::Value;
    const auto& entry = item.second;
    if (entry.isList()) {
      emit(out, Teuchos::getValue<Teuchos::ParameterList>(entry));
    } else if (entry.isType<bool>()) {
      out << Teuchos::getValue<bool>(entry);
    } else if (entry.isType<int>()) {
      out << Teuchos::getValue<int>(entry);
    } else if (entry.isType<double>()) {
      out << fmt::format("{}", Teuchos::getValue<double>(entry));
    } else {
      emitText(out, Teuchos::getValue<std::string>(entry));
    }
  }
  out << YAML::EndMap;
}

void emitMethod(YAML::Emitter& out, const ReplayChoice& choice) {
  Teuchos::ParameterList parameters;
  // By the names of the method: the dictionary may spell them otherwise.
  copySettings(choice.solver.settings, &*BelosMethod(choice.solver.method).parameters(), parameters);
  const auto* method = findMethod(choice.solver.method);
  out << YAML::Key << "method" << YAML::Value << choice.solver.method;
  out << YAML::Key << "tolerance" << YAML::Value << fmt::format("{}", choice.tolerance);
  out << YAML::Key << "max_iterations" << YAML::Value << choice.maxIterations;
  if (method != nullptr) {
    if (method->takes("Num Blocks") && !parameters.isParameter("Num Blocks")) {
      out << YAML::Key << "kspace" << YAML::Value << SolverOptions().numBlocks;  // a deck's default is another
    }
    parameters.set("Implicit Residual Scaling", "Norm of Initial Residual");
    parameters.set("Residual Norm", "OneNorm");
  }
  if (parameters.begin() == parameters.end()) return;
  out << YAML::Key << "parameters" << YAML::Value;
  emit(out, parameters);
}

void emitPreconditioner(YAML::Emitter& out, const PreconditionerChoice& choice) {
  out << YAML::Key << "preconditioner" << YAML::Value << choice.name;
  if (choice.name == "muelu") {
    const auto presets = preconditioning::mueLuPresets();
    const bool preset = std::find(presets.begin(), presets.end(), choice.file) != presets.end();
    const auto file = preset || choice.file.empty()
                          ? choice.file
                          : fs::absolute(preconditioning::findMueLuFile(choice.file, choice.folders).path).string();
    out << YAML::Key << "muelu_xml_file_name" << YAML::Value << (file.empty() ? defaultMueLuFile : file);
  }
  if (choice.settings.empty()) return;
  Teuchos::ParameterList parameters;
  copySettings(choice.settings, nullptr, parameters);
  out << YAML::Key << "preconditioner_parameters" << YAML::Value;
  emit(out, parameters);
}

// \param prefix the files' names without the folder, which is the deck's own
std::string replayDeck(const ReplayChoice& choice, const std::string& prefix) {
  YAML::Emitter out;
  for (const auto& remark : choice.remarks) out << YAML::Comment(remark) << YAML::Newline;
  out << YAML::BeginMap << YAML::Key << "linear_solvers" << YAML::Value << YAML::BeginSeq << YAML::BeginMap;
  out << YAML::Key << "name" << YAML::Value << "as_in_the_run";
  emitMethod(out, choice);
  emitPreconditioner(out, choice.preconditioner);
  out << YAML::EndMap << YAML::EndSeq;
  out << YAML::Key << "systems" << YAML::Value << YAML::BeginSeq << YAML::BeginMap;
  out << YAML::Key << "name" << YAML::Value << YAML::DoubleQuoted << choice.name;
  const std::pair<const char*, const char*> files[] = {{"matrix", ".mtx"}, {"rhs", "_b.mtx"}, {"guess", "_x0.mtx"}};
  for (const auto& [key, suffix] : files) {
    out << YAML::Key << key << YAML::Value << YAML::DoubleQuoted << prefix + suffix;
  }
  out << YAML::EndMap << YAML::EndSeq << YAML::EndMap << YAML::Newline;
  return out.c_str();
}

}  // namespace

std::string writeMatrixMarket(const Matrix& A, const std::string& file, const std::vector<VectorFile>& vectors) {
  const auto& comm = *A.getComm();
  std::string failure;
  const auto publish = [&](const std::string& name, const std::ostringstream& text) {
    if (comm.getRank() != 0 || !failure.empty()) return;
    try {
      writeOutput(name, text.str());
    } catch (const std::exception& error) {
      failure = error.what();
    }
  };
  {
    std::ostringstream text;
    Writer::writeSparse(text, A);
    publish(file, text);
  }
  for (const auto& vector : vectors) {
    std::ostringstream text;
    Writer::writeDense(text, vector.values);
    publish(vector.file, text);
  }
  return sharedText(failure, 0, comm);
}

std::string writeSystem(const WholeSystem& system, const ReplayChoice& choice, const std::string& prefix) {
  const auto rows = makeRowMap(system.pattern.comm, static_cast<std::int64_t>(system.pattern.rowStart.size()) - 1);
  const auto onFirst = [&](const auto& action) {
    std::string failure;
    try {
      if (rows->getComm()->getRank() == 0) action();
    } catch (const std::exception& error) {
      failure = error.what();
    }
    return sharedText(failure, 0, *rows->getComm());
  };
  // Before the matrix is gathered.
  auto failure = onFirst([&] { fs::create_directories(fs::path(prefix).parent_path()); });
  if (!failure.empty()) return failure;
  MultiVector b(rows, 1), guess(rows, 1);
  copyIn(system.b, b);
  copyIn(system.guess, guess);
  failure = writeMatrixMarket(*assemble(system, *makeGraph(system.pattern, rows)), prefix + ".mtx",
                              {{b, prefix + "_b.mtx"}, {guess, prefix + "_x0.mtx"}});
  if (!failure.empty()) return failure;
  return onFirst([&] { writeOutput(prefix + ".yaml", replayDeck(choice, fs::path(prefix).filename())); });
}

}  // namespace capstan::driver
