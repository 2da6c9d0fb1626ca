#pragma once

/// \file
/// Capstan's solvers for applications whose Belos classes are for another type of small dense matrix.
///
/// Belos after Trilinos 16.1 gives its managers, factories, status tests and iterations a fourth template argument, the
/// type of the projected matrices. What Capstan registers is for the default type; these adapters hand all calls of a
/// manager for another type to one of those.
///
/// The interface above is another release's, so nothing here says `override`: a class that misses a function of its
/// base is abstract, which completeAdapters tells at compile time, and is then not registered.

#include <BelosIteration.hpp>
#include <BelosSolverManager.hpp>
#include <BelosStatusTest.hpp>
#include <BelosStatusTestCombo.hpp>
#include <Teuchos_RCP.hpp>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverloaded-virtual"
#endif

namespace capstan {

/// The Belos classes for one dense matrix type.
template <class ManagerClass, class FactoryClass, class TestClass, class ComboClass, class IterationClass>
struct BelosClasses {
  using Manager = ManagerClass;
  using Factory = FactoryClass;
  using Test = TestClass;
  using Combo = ComboClass;
  using Iteration = IterationClass;
};

/// An iteration of the default classes as a status test of Outer sees it. Lives as long as the check.
template <class S, class MV, class OP, class Outer>
class IterationFor : public Outer::Iteration {
 public:
  using Magnitude = typename Teuchos::ScalarTraits<S>::magnitudeType;

  explicit IterationFor(Belos::Iteration<S, MV, OP>& inner) : inner_(inner) {}
  void iterate() { inner_.iterate(); }
  void initialize() { inner_.initialize(); }
  int getNumIters() const { return inner_.getNumIters(); }
  void resetNumIters(int iterations = 0) { inner_.resetNumIters(iterations); }
  Teuchos::RCP<const MV> getNativeResiduals(std::vector<Magnitude>* norms) const {
    return inner_.getNativeResiduals(norms);
  }
  Teuchos::RCP<MV> getCurrentUpdate() const { return inner_.getCurrentUpdate(); }
  const Belos::LinearProblem<S, MV, OP>& getProblem() const { return inner_.getProblem(); }
  int getBlockSize() const { return inner_.getBlockSize(); }
  void setBlockSize(int size) { inner_.setBlockSize(size); }
  bool isInitialized() { return inner_.isInitialized(); }

 private:
  Belos::Iteration<S, MV, OP>& inner_;
};

/// A status test of Outer as the default classes see it.
template <class S, class MV, class OP, class Outer>
class TestFor final : public Belos::StatusTest<S, MV, OP> {
 public:
  explicit TestFor(Teuchos::RCP<typename Outer::Test> test) : test_(std::move(test)) {}
  Belos::StatusType checkStatus(Belos::Iteration<S, MV, OP>* iteration) override {
    IterationFor<S, MV, OP, Outer> seen(*iteration);
    return test_->checkStatus(&seen);
  }
  Belos::StatusType getStatus() const override { return test_->getStatus(); }
  void reset() override { test_->reset(); }
  void print(std::ostream& os, int indent = 0) const override { test_->print(os, indent); }

 private:
  Teuchos::RCP<typename Outer::Test> test_;
};

/// A manager of Outer that hands every call to one of the default classes.
template <class S, class MV, class OP, class Outer>
class ManagerFor : public Outer::Manager {
 public:
  using Inner = Belos::SolverManager<S, MV, OP>;
  using Problem = Belos::LinearProblem<S, MV, OP>;

  explicit ManagerFor(Teuchos::RCP<Inner> inner) : inner_(std::move(inner)) {}

  Teuchos::RCP<typename Outer::Manager> clone() const { return Teuchos::rcp(new ManagerFor(inner_->clone())); }
  const Problem& getProblem() const { return inner_->getProblem(); }
  Teuchos::RCP<const Teuchos::ParameterList> getValidParameters() const { return inner_->getValidParameters(); }
  Teuchos::RCP<const Teuchos::ParameterList> getCurrentParameters() const { return inner_->getCurrentParameters(); }
  typename Teuchos::ScalarTraits<S>::magnitudeType achievedTol() const { return inner_->achievedTol(); }
  int getNumIters() const { return inner_->getNumIters(); }
  bool isLOADetected() const { return inner_->isLOADetected(); }
  void setProblem(const Teuchos::RCP<Problem>& problem) { inner_->setProblem(problem); }
  void setParameters(const Teuchos::RCP<Teuchos::ParameterList>& parameters) { inner_->setParameters(parameters); }
  void setUserConvStatusTest(const Teuchos::RCP<typename Outer::Test>& test,
                             const typename Outer::Combo::ComboType& type) {
    using Combo = typename Belos::StatusTestCombo<S, MV, OP>;
    const auto innerType = type == Outer::Combo::AND ? Combo::AND : type == Outer::Combo::OR ? Combo::OR : Combo::SEQ;
    inner_->setUserConvStatusTest(adapted(test), innerType);
  }
  void setDebugStatusTest(const Teuchos::RCP<typename Outer::Test>& test) { inner_->setDebugStatusTest(adapted(test)); }
  void reset(Belos::ResetType type) { inner_->reset(type); }
  Belos::ReturnType solve() { return inner_->solve(); }
  std::string description() const { return inner_->description(); }

 private:
  static Teuchos::RCP<Belos::StatusTest<S, MV, OP>> adapted(const Teuchos::RCP<typename Outer::Test>& test) {
    if (test.is_null()) return Teuchos::null;
    return Teuchos::rcp(new TestFor<S, MV, OP, Outer>(test));
  }

  Teuchos::RCP<Inner> inner_;
};

/// Makes managers of Outer from those that `InnerFactory`, a factory of the default classes, makes.
template <class S, class MV, class OP, class Outer, class InnerFactory>
class FactoryFor : public Outer::Factory {
 public:
  Teuchos::RCP<typename Outer::Manager> getSolver(const std::string& name,
                                                  const Teuchos::RCP<Teuchos::ParameterList>& parameters) {
    const auto inner = inner_.getSolver(name, parameters);
    if (inner.is_null()) return Teuchos::null;
    return Teuchos::rcp(new ManagerFor<S, MV, OP, Outer>(inner));
  }
  int numSupportedSolvers() const { return inner_.numSupportedSolvers(); }
  std::vector<std::string> supportedSolverNames() const { return inner_.supportedSolverNames(); }
  bool isSupported(const std::string& name) const { return inner_.isSupported(name); }

 private:
  InnerFactory inner_;
};

/// Whether the classes of Outer hand out problems, clones and solvers of the types that the adapters do.
template <class S, class MV, class OP, class Outer>
struct SameResults {
  using Manager = typename Outer::Manager;
  using Problem = Belos::LinearProblem<S, MV, OP>;
  static constexpr bool value =
      std::is_same_v<decltype(std::declval<const Manager&>().getProblem()), const Problem&> &&
      std::is_same_v<decltype(std::declval<const typename Outer::Iteration&>().getProblem()), const Problem&> &&
      std::is_same_v<decltype(std::declval<const Manager&>().clone()), Teuchos::RCP<Manager>> &&
      std::is_same_v<decltype(std::declval<typename Outer::Factory&>().getSolver(
                         std::declval<std::string>(), std::declval<Teuchos::RCP<Teuchos::ParameterList>>())),
                     Teuchos::RCP<Manager>>;
};

/// Whether the adapters have all functions that the classes of Outer ask for.
template <class S, class MV, class OP, class Outer, class InnerFactory>
struct AllFunctions {
  static constexpr bool value = !std::is_abstract_v<IterationFor<S, MV, OP, Outer>> &&
                                !std::is_abstract_v<ManagerFor<S, MV, OP, Outer>> &&
                                !std::is_abstract_v<FactoryFor<S, MV, OP, Outer, InnerFactory>>;
};

/// Whether FactoryFor can be registered.
template <class S, class MV, class OP, class Outer, class InnerFactory>
constexpr bool completeAdapters =
    std::conjunction_v<SameResults<S, MV, OP, Outer>, AllFunctions<S, MV, OP, Outer, InnerFactory>>;

/// The dense matrices in device memory that Belos offers beside its default for this multivector, or void.
template <class MV, class = void>
struct DeviceDenseMatrix {
  using Type = void;
};
template <class MV>
struct DeviceDenseMatrix<MV, std::void_t<typename MV::wrapped_dual_view_type::DVT>> {
  using Type = typename MV::wrapped_dual_view_type::DVT;
};

/// Adds a factory for the dense matrix type DM to Parent, Belos' list of factories, where Belos' classes take that type
/// as fourth argument. Called with 0. Returns whether it did. Local.
template <class S, class MV, class OP, class DM, class InnerFactory, template <class, class, class, class> class Parent,
          template <class, class, class, class> class Manager, template <class, class, class, class> class Factory,
          template <class, class, class, class> class Test, template <class, class, class, class> class Combo,
          template <class, class, class, class> class Iteration>
bool registerForDenseMatrix(int) {
  if constexpr (!std::is_void_v<DM>) {
    using Outer = BelosClasses<Manager<S, MV, OP, DM>, Factory<S, MV, OP, DM>, Test<S, MV, OP, DM>,
                               Combo<S, MV, OP, DM>, Iteration<S, MV, OP, DM>>;
    if constexpr (completeAdapters<S, MV, OP, Outer, InnerFactory>) {
      struct Registry : Parent<S, MV, OP, DM> {
      } registry;
      registry.addFactory(Teuchos::rcp(new FactoryFor<S, MV, OP, Outer, InnerFactory>));
      return true;
    }
  }
  return false;
}
/// Where Belos' classes take three: the worse match for 0.
template <class S, class MV, class OP, class DM, class InnerFactory, template <class...> class,
          template <class...> class, template <class...> class, template <class...> class, template <class...> class,
          template <class...> class>
bool registerForDenseMatrix(long) {
  return false;
}

}  // namespace capstan

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
