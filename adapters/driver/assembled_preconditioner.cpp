// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/assembled_preconditioner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Teuchos_ParameterList.hpp>
#include <Teuchos_XMLParameterListHelpers.hpp>
#include <Tpetra_MultiVector.hpp>
#include <algorithm>
#include <optional>
#include <stdexcept>

#include "adapters/driver/host_vectors.hpp"
#include "adapters/driver/trilinos_types.hpp"
#include "adapters/preconditioners/preconditioner.hpp"
#include "adapters/preconditioners/preconditioner_check.hpp"
#include "adapters/preconditioners/presets.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan::driver {
namespace {

std::string fingerprint(const PreconditionerChoice& choice) {
  return choice.name + "\n" + choice.file + "\n" + fingerprint(choice.settings);
}

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

struct AssembledPreconditioner::Impl {
  std::shared_ptr<const CsrGraph> graph;
  Teuchos::RCP<Matrix> matrix;
  std::optional<preconditioning::Preconditioner> preconditioner;
  std::string key;        // of the choice it was built for
  long updates = 0;       // for that choice
  bool unusable = false;  // it was, the last time it was looked at
};

AssembledPreconditioner::AssembledPreconditioner(std::shared_ptr<const CsrGraph> graph, const std::string& label)
    : impl_(std::make_unique<Impl>()) {
  impl_->graph = std::move(graph);
  impl_->matrix = Teuchos::rcp(new Matrix(impl_->graph->graph));
  impl_->matrix->fillComplete(impl_->graph->graph->getDomainMap(), impl_->graph->graph->getRangeMap());
  impl_->matrix->setObjectLabel(label);
}

AssembledPreconditioner::~AssembledPreconditioner() = default;

void AssembledPreconditioner::apply(const double* x, double* y) const {
  Tpetra::MultiVector<double> in(impl_->matrix->getDomainMap(), 1);
  Tpetra::MultiVector<double> out(impl_->matrix->getRangeMap(), 1);
  copyIn(x, in);
  impl_->matrix->apply(in, out);
  copyOut(out, y);
}

bool AssembledPreconditioner::has(const PreconditionerChoice& choice) const {
  return impl_->preconditioner && impl_->key == fingerprint(choice);
}

AssembledPreconditioner::Updated AssembledPreconditioner::update(const PreconditionerChoice& choice,
                                                                 const std::vector<double>& values,
                                                                 bool symmetricMethod) {
  const auto& position = impl_->graph->position;
  if (values.size() != position.size()) {
    throw std::invalid_argument(
        fmt::format("{} coefficients for a matrix of {} entries on this rank", values.size(), position.size()));
  }
  if (!has(choice)) {
    impl_->preconditioner.emplace(optionsOf(choice));
    impl_->key = fingerprint(choice);
    impl_->updates = 0;
  }
  setValues(*impl_->matrix, values, position);
  try {
    impl_->preconditioner->update(impl_->matrix);
  } catch (...) {
    impl_->preconditioner.reset();
    throw;
  }
  Updated updated{"", impl_->preconditioner->warning()};
  const long times = ++impl_->updates;
  const bool powerOfTwo = (times & (times - 1)) == 0;
  if (!powerOfTwo && !impl_->unusable) return updated;
  const auto check = preconditioning::checkPreconditioner(*impl_->matrix, *impl_->preconditioner->op(),
                                                          preconditioning::isMultigrid(choice.name));
  updated.unusable = check.whyUnusable(symmetricMethod);
  impl_->unusable = !updated.unusable.empty();
  if (updated.remark.empty()) updated.remark = check.remark(symmetricMethod);
  return updated;
}

Teuchos::RCP<const Operator> operatorOf(const AssembledPreconditioner& preconditioner) {
  const auto& built = preconditioner.impl().preconditioner;
  return built ? Teuchos::RCP<const Operator>(built->op()) : Teuchos::null;
}

}  // namespace capstan::driver
