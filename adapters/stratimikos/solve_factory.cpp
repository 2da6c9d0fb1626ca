#include "adapters/stratimikos/solve_factory.hpp"

#include <Teuchos_AbstractFactoryStd.hpp>
#include <Teuchos_VerboseObjectParameterListHelpers.hpp>
#include <Teuchos_dyn_cast.hpp>
#include <stdexcept>
#include <utility>

#include "adapters/stratimikos/enable.hpp"

namespace capstan {

namespace stratimikos {

void SolveFactory::setPreconditionerFactory(const Teuchos::RCP<PreconditionerFactory>& factory,
                                            const std::string& name) {
  if (factory.is_null()) throw std::invalid_argument("Capstan: a preconditioner factory that is null");
  factory_ = factory;
  factoryName_ = name;
}

void SolveFactory::unsetPreconditionerFactory(Teuchos::RCP<PreconditionerFactory>* factory, std::string* name) {
  if (factory != nullptr) *factory = factory_;
  if (name != nullptr) *name = factoryName_;
  factory_ = Teuchos::null;
  factoryName_.clear();
}

bool SolveFactory::isCompatible(const Source& forward) const {
  try {
    tpetraOperator(forward.getOp(), "the operator");
  } catch (const std::invalid_argument&) {
    return false;
  }
  return factory_.is_null() || factory_->isCompatible(forward);
}

void SolveFactory::initialize(SolveParts parts, SolveOp* op, bool reuse) const {
  if (parts.forward.is_null() || parts.forward->getOp().is_null()) {
    throw std::invalid_argument("Capstan: an operator with solves of no operator");
  }
  auto& solveOperator = Teuchos::dyn_cast<SolveOperator>(*op);
  parts.choice = choice_;
  if (parts.preconditioner.is_null() && !factory_.is_null()) {
    parts.ownPreconditioner = solveOperator.ownPreconditioner();
    const bool made = !parts.ownPreconditioner.is_null();
    if (!made) parts.ownPreconditioner = factory_->createPrec();
    if (!made || !reuse) {
      factory_->initializePrec(parts.approximate.is_null() ? parts.forward : parts.approximate,
                               parts.ownPreconditioner.get(), parts.use);
    }
    parts.preconditioner = parts.ownPreconditioner;
  }
  solveOperator.initialize(parts);
  solveOperator.setOStream(this->getOStream());
  solveOperator.setVerbLevel(this->getVerbLevel());
}

void SolveFactory::initializeOp(const Teuchos::RCP<const Source>& forward, SolveOp* op,
                                Thyra::ESupportSolveUse use) const {
  SolveParts parts;
  parts.forward = forward;
  parts.use = use;
  initialize(std::move(parts), op, false);
}

void SolveFactory::initializeAndReuseOp(const Teuchos::RCP<const Source>& forward, SolveOp* op) const {
  SolveParts parts;
  parts.forward = forward;
  initialize(std::move(parts), op, true);
}

bool SolveFactory::supportsPreconditionerInputType(Thyra::EPreconditionerInputType type) const {
  return type == Thyra::PRECONDITIONER_INPUT_TYPE_AS_OPERATOR || !factory_.is_null();
}

void SolveFactory::initializePreconditionedOp(const Teuchos::RCP<const Source>& forward,
                                              const Teuchos::RCP<const Preconditioner>& preconditioner, SolveOp* op,
                                              Thyra::ESupportSolveUse use) const {
  SolveParts parts;
  parts.forward = forward;
  parts.preconditioner = preconditioner;
  parts.use = use;
  initialize(std::move(parts), op, false);
}

void SolveFactory::initializeApproxPreconditionedOp(const Teuchos::RCP<const Source>& forward,
                                                    const Teuchos::RCP<const Source>& approximate, SolveOp* op,
                                                    Thyra::ESupportSolveUse use) const {
  if (factory_.is_null()) {
    throw std::invalid_argument(
        "Capstan: an approximate operator for the preconditioner, but no factory of "
        "preconditioners to make one of it (\"Preconditioner Type\" is \"None\")");
  }
  SolveParts parts;
  parts.forward = forward;
  parts.approximate = approximate;
  parts.use = use;
  initialize(std::move(parts), op, false);
}

void SolveFactory::uninitializeOp(SolveOp* op, Teuchos::RCP<const Source>* forward,
                                  Teuchos::RCP<const Preconditioner>* preconditioner,
                                  Teuchos::RCP<const Source>* approximate, Thyra::ESupportSolveUse* use) const {
  const SolveParts parts = Teuchos::dyn_cast<SolveOperator>(*op).uninitialize();
  if (forward != nullptr) *forward = parts.forward;
  if (preconditioner != nullptr) *preconditioner = parts.preconditioner;
  if (approximate != nullptr) *approximate = parts.approximate;
  if (use != nullptr) *use = parts.use;
}

void SolveFactory::setParameterList(const Teuchos::RCP<Teuchos::ParameterList>& list) {
  if (list.is_null()) throw std::invalid_argument("Capstan: a parameter list that is null");
  const SolverChoice choice = readSolverList(*list);
  Teuchos::readVerboseObjectSublist(list.get(), this);
  choice_ = choice;
  list_ = list;
}

Teuchos::RCP<Teuchos::ParameterList> SolveFactory::unsetParameterList() {
  const Teuchos::RCP<Teuchos::ParameterList> list = list_;
  list_ = Teuchos::null;
  return list;
}

std::string SolveFactory::description() const {
  return "capstan::stratimikos::SolveFactory (\"" + choice_.solver + "\")";
}

}  // namespace stratimikos

Teuchos::RCP<const StratimikosStrategy> stratimikosStrategy() {
  return Teuchos::abstractFactoryStd<Thyra::LinearOpWithSolveFactoryBase<double>, stratimikos::SolveFactory>();
}

}  // namespace capstan
