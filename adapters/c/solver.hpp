#pragma once
/// \file
/// What stands behind a handle of capstan.h: one solver of Capstan, the system it is given, and agreement among the
/// ranks.

#include <Teuchos_RCP.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/c/callback_operator.hpp"
#include "adapters/c/errors.hpp"
#include "adapters/c/host_test.hpp"
#include "adapters/deck/solver_text.hpp"
#include "adapters/driver/belos_method.hpp"
#include "adapters/driver/host_operator.hpp"
#include "adapters/driver/shared_failures.hpp"
#include "adapters/driver/trilinos_types.hpp"
#include "belos_ext/convergence/residual_measure.hpp"
#include "belos_ext/manager/asked_solver.hpp"

namespace capstan::c {

using Communicator = deck::Communicator;

/// Right-hand sides and guesses of this rank, as capstan.h has them.
struct Columns {
  bool alone;  ///< one, and never several on another rank
  int count;
  const double* b;
  std::int64_t ldb;
  double* x;
  std::int64_t ldx;
};

/// Functions are collective, and throw Error, unless they are said to be local.
class Solver {
 public:
  /// \param read makes the text on every rank from what rank 0 knows; throws deck::InputError alike
  Solver(MPI_Comm comm, const std::function<deck::SolverText(const Communicator&)>& read);

  void setOperator(std::int64_t rows, capstan_apply apply, void* context);
  void setMatrix(const capstan_csr* matrix);
  void changeMatrix();

  /// Local, but called on all ranks: what they differ in, the next solve tells all of them. \{
  void setSymmetric(int symmetric);
  void setPreconditioner(capstan_apply apply, void* context);
  void setDiagonal(int diagonal);
  void setLimits(double tolerance, double absoluteTolerance, int maxIterations);
  void setTest(capstan_test test, void* context);
  void setNorm(capstan_norm norm, int power, void* context);
  void setZeroGuess(int zero);
  void keepHistory(int keep);
  /// \}

  /// One reduction beyond those of the method where something but limits was set since the last solve, or for
  /// capstan_solve_columns(); one where it does not converge, and A or M is a function.
  /// \param local a check beyond those of columns
  /// \throws Error also after a solve in which a function of the application failed: x and report() are there then.
  void solve(const Columns& columns, const std::function<void()>& local);

  /// A number that is to be the same on all ranks, and what it counts.
  struct Counted {
    const char* what;
    int number;
  };
  /// Runs a local check; where it throws an Error on a rank, all ranks throw that of the first. A reduction.
  void check(const std::function<void()>& local, const std::vector<Counted>& alike = {}) const;

  /// Of the last solve; NotStarted before the first. Local.
  const SolveReport& report() const { return report_; }
  double solveSeconds() const { return solveSeconds_; }
  double setupSeconds() const { return setupSeconds_; }
  int preconditionerBuilds() const { return builds_; }
  const std::string& method() const { return method_->traits()->canonical; }

 private:
  /// Runs work of all ranks; what it throws on any becomes an Error on all. A reduction.
  void share(capstan_status status, const std::function<void()>& work);
  /// \param local a check that says it better, or empty
  void throwShared(capstan_status status, const std::string& mine, const std::function<void()>& local = {});

  void requireRows() const;
  /// What the application says between solves.
  struct Settings {
    int symmetric = -1;
    bool zeroGuess = false, history = false;
    Teuchos::RCP<CallbackOperator> preconditioner;
    Teuchos::RCP<HostTest> test;
    HostNorm norm;
    int normFrom = 0;  ///< the call that has set it: one that was refused has left another one
  };
  Settings& want(const std::function<void()>& check);
  void takeSettings();
  void compare(const std::function<void()>& prepare, int columns);
  bool hasColumns(int count) const { return !b_.is_null() && static_cast<int>(b_->getNumVectors()) == count; }
  AskedSolver<driver::OperatorTypes>& asked() const;
  void takeRows(std::int64_t rows);
  void checkColumns(const Columns& columns) const;
  void makeColumns(int count);
  void readValues();
  void makeMethod();
  void updatePreconditioner();
  Teuchos::RCP<driver::BelosMethod::Problem> makeProblem() const;
  void tellFailedCallbacks();

  Teuchos::RCP<const Communicator> comm_;
  deck::LinearSolver options_;
  std::unique_ptr<driver::SharedFailures> failures_;
  std::optional<driver::BelosMethod> method_;
  std::optional<int> maxIterations_;
  std::optional<double> absolute_;  ///< "Absolute Tolerance", where setLimits() has said it
  Settings set_, wanted_;           ///< of the last solve, and of the next one
  bool isToCompare_ = true;         ///< something was set since the last solve, or refused
  int calls_ = 0;                   ///< that were to set something, the same on all ranks
  bool methodIsDue_ = false;        ///< to be made anew for what was set

  Teuchos::RCP<const Map> map_;
  Teuchos::RCP<CallbackOperator> callback_;
  std::shared_ptr<const driver::CsrGraph> graph_;
  const double* values_ = nullptr;  ///< the application's
  Teuchos::RCP<deck::Matrix> matrix_;
  std::optional<deck::Preconditioner> preconditioner_;
  bool preconditionerIsDue_ = false;
  Teuchos::RCP<MultiVector> b_, x_;

  SolveReport report_;
  double solveSeconds_ = 0, setupSeconds_ = 0;
  int builds_ = 0;
};

}  // namespace capstan::c
