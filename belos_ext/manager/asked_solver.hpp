#pragma once

/// \file
/// What applications ask of a solver manager, and what they ask it afterwards: the same for one method and for CAPSTAN.

#include <BelosLinearProblem.hpp>
#include <BelosSolverManager.hpp>
#include <BelosStatusTestCombo.hpp>
#include <string>
#include <vector>

#include "belos_ext/convergence/residual_measure.hpp"
#include "belos_ext/manager/problem_checks.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/report/solve_report.hpp"

namespace capstan {

/// Keeps what is set until a solve takes it. All of it is local.
template <class Types>
class AskedSolver
    : public Belos::SolverManager<typename Types::Scalar, typename Types::MultiVector, typename Types::Operator>,
      public ReportingSolver {
 public:
  using Scalar = typename Types::Scalar;
  using Magnitude = typename Types::Magnitude;
  using MultiVector = typename Types::MultiVector;
  using Operator = typename Types::Operator;
  using Base = Belos::SolverManager<Scalar, MultiVector, Operator>;
  using Problem = Belos::LinearProblem<Scalar, MultiVector, Operator>;
  using Test = Belos::StatusTest<Scalar, MultiVector, Operator>;
  using ComboType = typename Belos::StatusTestCombo<Scalar, MultiVector, Operator>::ComboType;

  const Problem& getProblem() const override {
    if (problem_.is_null()) misuse(method_, "getProblem() before setProblem()");
    return *problem_;
  }
  Teuchos::RCP<const Teuchos::ParameterList> getValidParameters() const override { return parameters_.valid(); }
  Teuchos::RCP<const Teuchos::ParameterList> getCurrentParameters() const override { return parameters_.current(); }
  /// The largest scaled true residual over the right-hand sides of the last solve.
  Magnitude achievedTol() const override { return static_cast<Magnitude>(report_.trueResidual); }
  int getNumIters() const override { return report_.iterations; }
  bool isLOADetected() const override { return lossOfAccuracy_; }
  const SolveReport& report() const override { return report_; }

  void setProblem(const Teuchos::RCP<Problem>& problem) override { problem_ = problem; }
  void setParameters(const Teuchos::RCP<Teuchos::ParameterList>& parameters) override {
    if (!parameters.is_null()) parameters_.merge(*parameters);
  }
  void setLimits(double tolerance, int maxIterations) override { parameters_.setLimits(tolerance, maxIterations); }
  void setMinimumIterations(int iterations) override { minIterations_ = iterations; }
  void setKeepsLast(bool keeps) override { keepsLast_ = keeps; }
  void setSeries(int series) override { series_ = series; }
  void reserve(const std::vector<std::string>& names, const std::string& why) override {
    parameters_.reserve(names, why);
  }
  /// OR: a test that passes stops the solve (reason "user test"; Converged only if the residual test is met too).
  /// AND, SEQ: a verified residual counts as converged only once the test passes as well.
  void setUserConvStatusTest(const Teuchos::RCP<Test>& test, const ComboType& comboType) override {
    userTest_ = test;
    comboType_ = comboType;
  }
  /// A norm of the application's own, in place of "Residual Norm", for next solves; none: that again. It goes with the
  /// scalings that "OneNorm" goes with, and without a left preconditioner. The same on all ranks.
  void setHostNorm(const HostNorm& norm) { hostNorm_ = norm; }
  /// Why this rank has nothing to solve with: the next solves throw on all ranks, in their first reduction; empty: it
  /// has. Local.
  void refuse(const std::string& why) { hostRefusal_ = why; }
  /// Evaluated at every boundary for what it prints or records; its status has no influence.
  void setDebugStatusTest(const Teuchos::RCP<Test>& test) override { debugTest_ = test; }

  /// Takes over what `other` has been asked for, but for its parameters.
  void askAs(const AskedSolver& other) {
    problem_ = other.problem_;
    userTest_ = other.userTest_;
    debugTest_ = other.debugTest_;
    comboType_ = other.comboType_;
    series_ = other.series_;
    minIterations_ = other.minIterations_;
    keepsLast_ = other.keepsLast_;
    hostNorm_ = other.hostNorm_;
    hostRefusal_ = other.hostRefusal_;
  }

 protected:
  /// \param askedAs the name under which the application asked for it, or empty; for another library's see Parameters
  AskedSolver(const MethodTraits& method, const std::string& askedAs)
      : method_(methodOf(method.canonical)),
        askedAs_(askedAs),
        parameters_(method_, findMethod(askedAs) == nullptr ? askedAs : ""),
        comboType_(Belos::StatusTestCombo<Scalar, MultiVector, Operator>::SEQ) {
    report_.solver = method_.canonical;
  }

  const MethodTraits& method_;
  std::string askedAs_;
  Parameters parameters_;
  Teuchos::RCP<Problem> problem_;
  Teuchos::RCP<Test> userTest_, debugTest_;
  ComboType comboType_;
  SolveReport report_;
  bool lossOfAccuracy_ = false;
  int series_ = 0;  ///< of solves, for guesses
  int minIterations_ = 0;
  bool keepsLast_ = false;
  HostNorm hostNorm_;
  std::string hostRefusal_;
};

}  // namespace capstan
