// Preloaded, or linked before Stratimikos, this library serves a "Belos" list whose "Solver Type" is one of ours.
//
// Stratimikos' builder tells itself how to make the factory of each linear solver type by its public function
// setLinearSolveStrategyFactory(). It calls that function as other libraries call each other's, and the loader takes
// the first one it finds: the one below. (The create() of such a strategy is virtual, and not for us to replace:
// compilers copy it into the builder.)

#include "adapters/stratimikos/served_belos.hpp"

#include <dlfcn.h>

#include <Teuchos_AbstractFactoryStd.hpp>
#include <Teuchos_VerboseObjectParameterListHelpers.hpp>
#include <stdexcept>

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

using Factory = Thyra::LinearOpWithSolveFactoryBase<double>;
using Strategy = Teuchos::RCP<const Teuchos::AbstractFactory<Factory>>;
using BelosStrategy = Teuchos::AbstractFactoryStd<Factory, Thyra::BelosLinearOpWithSolveFactory<double>>;

// One function of the builder, by its name in Trilinos 13.2 and by that in later releases.
#define CAPSTAN_ARGUMENTS(Number)                                                                          \
  "29setLinearSolveStrategyFactoryERKN7Teuchos3RCPIKNS" Number                                             \
  "_15AbstractFactoryIN5Thyra28LinearOpWithSolveFactoryBaseIdEEEEEERKNSt7__cxx1112basic_stringIcSt11char_" \
  "traitsIcESaIcEEEb"
#define CAPSTAN_DEFAULT_BUILDERS "_ZN11Stratimikos26DefaultLinearSolverBuilder" CAPSTAN_ARGUMENTS("1")
#define CAPSTAN_BUILDERS_FOR_DOUBLE "_ZN11Stratimikos19LinearSolverBuilderIdE" CAPSTAN_ARGUMENTS("2")

/// Calls the builder's own function with a strategy that serves Belos' lists in place of Stratimikos' for Belos.
/// \param symbol of the builder's own function: the next one of that name
void setStrategy(const char* symbol, void* builder, const Strategy& strategy, const std::string& name, bool isDefault) {
  using Own = void (*)(void*, const Strategy&, const std::string&, bool);
  const auto own = reinterpret_cast<Own>(::dlsym(RTLD_NEXT, symbol));
  if (own == nullptr) throw std::logic_error("Capstan: Stratimikos' builder is not there");
  // A program with another Trilinos has classes of the same names and another layout.
  static const bool another = capstan::programHasOtherTrilinos();
  if (another || dynamic_cast<const BelosStrategy*>(strategy.get()) == nullptr) {
    return own(builder, strategy, name, isDefault);
  }
  own(builder, Teuchos::abstractFactoryStd<Factory, capstan::stratimikos::ServedBelos>(), name, isDefault);
}

}  // namespace

// A member function is called as a function whose first argument is the object.
void capstanDefaultBuilder(void* builder, const Strategy& strategy, const std::string& name,
                           bool isDefault) __asm__(CAPSTAN_DEFAULT_BUILDERS);
void capstanBuilderForDouble(void* builder, const Strategy& strategy, const std::string& name,
                             bool isDefault) __asm__(CAPSTAN_BUILDERS_FOR_DOUBLE);

void capstanDefaultBuilder(void* builder, const Strategy& strategy, const std::string& name, bool isDefault) {
  setStrategy(CAPSTAN_DEFAULT_BUILDERS, builder, strategy, name, isDefault);
}

void capstanBuilderForDouble(void* builder, const Strategy& strategy, const std::string& name, bool isDefault) {
  setStrategy(CAPSTAN_BUILDERS_FOR_DOUBLE, builder, strategy, name, isDefault);
}
