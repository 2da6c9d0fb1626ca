// Preloaded, or linked before Stratimikos, this library serves a "Belos" list whose "Solver Type" is one of ours.
//
// Stratimikos' builder keeps a factory of factories for each linear solver type, and calls its virtual create(). For
// Belos that is an instance of a template, Teuchos::AbstractFactoryStd, whose create() each library that uses it has,
// as a weak symbol: the table of virtual functions names it, and the loader takes the first one it finds. It finds this
// one.

#include "adapters/stratimikos/served_belos.hpp"

#include <dlfcn.h>

#include <Teuchos_AbstractFactoryStd.hpp>
#include <Teuchos_VerboseObjectParameterListHelpers.hpp>

#include "adapters/plugin/other_trilinos.hpp"

namespace capstan::stratimikos {

void ServedBelos::setParameterList(const Teuchos::RCP<Teuchos::ParameterList>& list) {
  const bool named = !list.is_null() && list->isType<std::string>("Solver Type");
  if (!named || !isForCapstan(list->get<std::string>("Solver Type"))) {
    Belos::setParameterList(list);
    ours_ = Teuchos::null;
    return;
  }
  const auto ours = Teuchos::rcp(new SolveFactory);
  ours->setParameterList(capstansPart(*list));
  Teuchos::readVerboseObjectSublist(list.get(), this);
  ours_ = ours;
  list_ = list;
}

const SolveFactory& ServedBelos::ours() const {
  if (const auto factory = getPreconditionerFactory(); !factory.is_null()) {
    ours_->setPreconditionerFactory(factory, "");
  } else {
    ours_->unsetPreconditionerFactory(nullptr, nullptr);
  }
  ours_->setOverridingOStream(getOStream());
  ours_->setOverridingVerbLevel(getVerbLevel());
  return *ours_;
}

Teuchos::RCP<Teuchos::ParameterList> ServedBelos::getNonconstParameterList() {
  return ours_.is_null() ? Belos::getNonconstParameterList() : list_;
}

Teuchos::RCP<Teuchos::ParameterList> ServedBelos::unsetParameterList() {
  if (ours_.is_null()) return Belos::unsetParameterList();
  const Teuchos::RCP<Teuchos::ParameterList> list = list_;
  list_ = Teuchos::null;
  return list;
}

Teuchos::RCP<const Teuchos::ParameterList> ServedBelos::getParameterList() const {
  if (ours_.is_null()) return Belos::getParameterList();
  return list_;
}

Teuchos::RCP<const Teuchos::ParameterList> ServedBelos::getValidParameters() const {
  return ours_.is_null() ? Belos::getValidParameters() : ours_->getValidParameters();
}

std::string ServedBelos::description() const { return ours_.is_null() ? Belos::description() : ours_->description(); }

bool ServedBelos::isCompatible(const Source& forward) const {
  return ours_.is_null() ? Belos::isCompatible(forward) : ours().isCompatible(forward);
}

Teuchos::RCP<ServedBelos::SolveOp> ServedBelos::createOp() const {
  return ours_.is_null() ? Belos::createOp() : ours_->createOp();
}

void ServedBelos::initializeOp(const Teuchos::RCP<const Source>& forward, SolveOp* op,
                               Thyra::ESupportSolveUse use) const {
  if (ours_.is_null()) return Belos::initializeOp(forward, op, use);
  ours().initializeOp(forward, op, use);
}

void ServedBelos::initializeAndReuseOp(const Teuchos::RCP<const Source>& forward, SolveOp* op) const {
  if (ours_.is_null()) return Belos::initializeAndReuseOp(forward, op);
  ours().initializeAndReuseOp(forward, op);
}

void ServedBelos::initializePreconditionedOp(const Teuchos::RCP<const Source>& forward,
                                             const Teuchos::RCP<const Preconditioner>& preconditioner, SolveOp* op,
                                             Thyra::ESupportSolveUse use) const {
  if (ours_.is_null()) return Belos::initializePreconditionedOp(forward, preconditioner, op, use);
  ours().initializePreconditionedOp(forward, preconditioner, op, use);
}

void ServedBelos::initializeApproxPreconditionedOp(const Teuchos::RCP<const Source>& forward,
                                                   const Teuchos::RCP<const Source>& approximate, SolveOp* op,
                                                   Thyra::ESupportSolveUse use) const {
  if (ours_.is_null()) return Belos::initializeApproxPreconditionedOp(forward, approximate, op, use);
  ours().initializeApproxPreconditionedOp(forward, approximate, op, use);
}

void ServedBelos::uninitializeOp(SolveOp* op, Teuchos::RCP<const Source>* forward,
                                 Teuchos::RCP<const Preconditioner>* preconditioner,
                                 Teuchos::RCP<const Source>* approximate, Thyra::ESupportSolveUse* use) const {
  if (ours_.is_null()) return Belos::uninitializeOp(op, forward, preconditioner, approximate, use);
  ours().uninitializeOp(op, forward, preconditioner, approximate, use);
}

}  // namespace capstan::stratimikos

namespace {

/// The function below, as libraries name it.
constexpr const char* createSymbol =
    "_ZNK7Teuchos18AbstractFactoryStdIN5Thyra28LinearOpWithSolveFactoryBaseIdEENS1_"
    "29BelosLinearOpWithSolveFactoryIdEENS_"
    "14PostModNothingIS5_EENS_12AllocatorNewIS5_EEE6createEv";

}  // namespace

namespace Teuchos {

using Thyra::BelosLinearOpWithSolveFactory;
using Thyra::LinearOpWithSolveFactoryBase;

template <>
RCP<LinearOpWithSolveFactoryBase<double>>
AbstractFactoryStd<LinearOpWithSolveFactoryBase<double>, BelosLinearOpWithSolveFactory<double>>::create() const {
  // A program with another Trilinos has classes of the same names and another layout: its own function serves it.
  static const bool another = capstan::programHasOtherTrilinos();
  if (another) {
    using Create = RCP<LinearOpWithSolveFactoryBase<double>> (*)(const void*);
    static const auto own = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, createSymbol));
    if (own != nullptr) return own(this);
  }
  return rcp(new capstan::stratimikos::ServedBelos);
}

}  // namespace Teuchos
