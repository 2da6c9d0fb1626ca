// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/assembled_preconditioner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_XMLParameterListHelpers.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <stdexcept>

#include "adapters/driver/host_vectors.hpp"
#include "adapters/preconditioners/preconditioner_check.hpp"
#include "adapters/preconditioners/presets.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::driver {
namespace {

Teuchos::ParameterList readMueLuFile(const std::string& name, const std::vector<std::string>& folders) {
  const auto file = preconditioning::findMueLuFile(name, folders);
  if (file.path.empty()) {
    const auto presets = preconditioning::mueLuPresets();
    throw std::invalid_argument(
        fmt::format("preconditioner muelu: no file '{}' and no preset of that name; presets: {}{}\n    Tried: {}", name,
                    fmt::join(presets, ", "), didYouMean(name, presets), fmt::join(file.tried, "\n           ")));
  }
  return *Teuchos::getParametersFromXmlFile(file.path);
}

preconditioning::PreconditionerOptions optionsOf(const PreconditionerChoice& choice) {
  preconditioning::PreconditionerOptions options;
  options.name = choice.name;
  if (choice.name == "muelu") {
    options.origin = choice.file.empty() ? defaultMueLuFile : choice.file;
    options.parameters = readMueLuFile(options.origin, choice.folders);
  }
  Teuchos::ParameterList own;
  copySettings(choice.settings, nullptr, own);
  preconditioning::overrideParameters(options.parameters, own);
  // A hierarchy is kept only where the user asked MueLu to; a factorisation always keeps its sparsity.
  const bool keepStructure = choice.name != "muelu" || options.parameters.isParameter("reuse: type");
  options.recompute = !keepStructure;
  options.reuse = keepStructure;
  return options;
}

}  // namespace

AssembledPreconditioner::AssembledPreconditioner(std::shared_ptr<const CsrGraph> graph, const std::string& label)
    : graph_(std::move(graph)), matrix_(Teuchos::rcp(new Matrix(graph_->graph))) {
  matrix_->fillComplete(graph_->graph->getDomainMap(), graph_->graph->getRangeMap());
  matrix_->setObjectLabel(label);
}

void AssembledPreconditioner::apply(const double* x, double* y) const {
  Tpetra::MultiVector<double> in(matrix_->getDomainMap(), 1);
  Tpetra::MultiVector<double> out(matrix_->getRangeMap(), 1);
  copyIn(x, in);
  matrix_->apply(in, out);
  copyOut(out, y);
}

AssembledPreconditioner::Updated AssembledPreconditioner::update(const PreconditionerChoice& choice,
                                                                 const std::vector<double>& values,
                                                                 bool symmetricMethod) {
  const auto& position = graph_->position;
  if (values.size() != position.size()) {
    throw std::invalid_argument(
        fmt::format("{} coefficients for a matrix of {} entries on this rank", values.size(), position.size()));
  }
  if (!has(choice)) {
    preconditioner_.emplace(optionsOf(choice));
    choice_ = choice;
    updates_ = 0;
  }
  setValues(*matrix_, values.data(), position);
  try {
    preconditioner_->update(matrix_);
  } catch (...) {
    preconditioner_.reset();
    throw;
  }
  Updated updated{"", preconditioner_->warning()};
  const long times = ++updates_;
  const bool powerOfTwo = (times & (times - 1)) == 0;
  if (!powerOfTwo && !unusable_) return updated;
  const auto check =
      preconditioning::checkPreconditioner(*matrix_, *preconditioner_->op(), preconditioning::isMultigrid(choice.name));
  updated.unusable = check.whyUnusable(symmetricMethod);
  unusable_ = !updated.unusable.empty();
  if (updated.remark.empty()) updated.remark = check.remark(symmetricMethod);
  return updated;
}

Teuchos::RCP<const Operator> AssembledPreconditioner::op() const {
  return preconditioner_ ? Teuchos::RCP<const Operator>(preconditioner_->op()) : Teuchos::null;
}

}  // namespace capstan::driver
