/// \file
/// small_solves: solves one small system again and again, as multigrid asks the solver of its coarsest level to, and
/// says how long a solve takes. Under valgrind's callgrind it says how many instructions (perf/overhead/run).
///
/// Exit status: 0 all solves met their tolerance, 1 some did not, 2 wrong input, 3 internal error.

#include <fmt/format.h>

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <CLI/CLI.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "adapters/deck/systems.hpp"
#include "adapters/preconditioners/preconditioner.hpp"
#include "adapters/tools/program.hpp"

namespace {

namespace deck = capstan::deck;
namespace tools = capstan::tools;
using Problem = Belos::LinearProblem<double, deck::MultiVector, deck::Operator>;
using Manager = Belos::SolverManager<double, deck::MultiVector, deck::Operator>;

struct Arguments {
  std::vector<std::string> methods;
  std::string preconditioner = "none";
  int cells = 8;
  int solves = 1000;
  int maxIterations = 200;
  double tolerance = 1e-3;
  bool anew = false;
};

bool parse(int argc, char** argv, bool talks, Arguments& arguments, int& status) {
  CLI::App app{"Solves a small 3D Laplace system again and again: cells^3 rows a rank.", "small_solves"};
  app.add_option("methods", arguments.methods, "names that Belos::SolverFactory knows")->required();
  app.add_option("--preconditioner", arguments.preconditioner, "one without parameters")
      ->check(CLI::IsMember({"none", "jacobi"}));
  app.add_option("--cells", arguments.cells, "along each axis, on each rank")->check(CLI::Range(2, 100));
  app.add_option("--solves", arguments.solves, "that are measured")->check(CLI::Range(1, 10000000));
  app.add_option("--tolerance", arguments.tolerance, "of the residual over that of the zero guess");
  app.add_option("--max-iterations", arguments.maxIterations, "where the tolerance is not met")
      ->check(CLI::Range(1, 100000));
  app.add_flag("--anew", arguments.anew, "make the solver anew for each solve");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    status = error.get_exit_code() == 0 ? 0 : tools::exitMisuse;
    if (talks) app.exit(error);
    return false;
  }
  return true;
}

/// The system, and the solver as MueLu::BelosSmoother keeps it: one problem, told its vectors before each solve.
class Coarse {
 public:
  Coarse(const Arguments& arguments, const std::string& method, const Teuchos::RCP<const deck::Communicator>& comm)
      : arguments_(arguments), method_(method) {
    deck::GeneratorOptions generator;
    generator.problem = "laplace3d";
    generator.cells = {arguments.cells, arguments.cells, arguments.cells * comm->getSize()};
    a_ = deck::buildMatrix(generator, comm);
    x_ = Teuchos::rcp(new deck::MultiVector(a_->getDomainMap(), 1));
    for (int k = 0; k < rightHandSides; ++k) {
      b_.push_back(Teuchos::rcp(new deck::MultiVector(a_->getRangeMap(), 1)));
      deck::fillRandom(*b_.back(), k + 1);
    }
    capstan::preconditioning::PreconditionerOptions options;
    options.name = arguments.preconditioner;
    preconditioner_ = Teuchos::rcp(new deck::Preconditioner(options));
    preconditioner_->update(a_);
    problem_ = Teuchos::rcp(new Problem(a_, x_, b_.front()));
    if (!preconditioner_->op().is_null()) problem_->setRightPrec(preconditioner_->op());
    makeSolver();
  }

  /// One solve from a zero guess. Returns whether it met its tolerance.
  bool solve(int turn) {
    if (arguments_.anew) makeSolver();
    x_->putScalar(0.0);
    problem_->setProblem(x_, b_[static_cast<std::size_t>(turn) % b_.size()]);
    const bool converged = manager_->solve() == Belos::Converged;
    iterations_ += manager_->getNumIters();
    return converged;
  }

  long iterations() const { return iterations_; }
  long long rows() const { return static_cast<long long>(a_->getGlobalNumRows()); }

 private:
  static constexpr int rightHandSides = 8;

  void makeSolver() {
    auto parameters = Teuchos::parameterList();
    parameters->set("Convergence Tolerance", arguments_.tolerance);
    parameters->set("Maximum Iterations", arguments_.maxIterations);
    manager_ = Belos::SolverFactory<double, deck::MultiVector, deck::Operator>().create(method_, parameters);
    manager_->setProblem(problem_);
  }

  Arguments arguments_;
  std::string method_;
  Teuchos::RCP<deck::Matrix> a_;
  Teuchos::RCP<deck::MultiVector> x_;
  std::vector<Teuchos::RCP<deck::MultiVector>> b_;
  Teuchos::RCP<deck::Preconditioner> preconditioner_;
  Teuchos::RCP<Problem> problem_;
  Teuchos::RCP<Manager> manager_;
  long iterations_ = 0;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

/// What is measured; perf/overhead/run knows it by this name. Returns how many solves met their tolerance.
extern "C" __attribute__((noinline, used)) int capstan_measured_solves(void* coarse, int solves) {
  int converged = 0;
  for (int k = 0; k < solves; ++k) converged += static_cast<Coarse*>(coarse)->solve(k) ? 1 : 0;
  return converged;
}

namespace {

/// Measures one method; false when a solve missed its tolerance. Collective.
bool measure(const Arguments& arguments, const std::string& method, bool talks) {
  Coarse coarse(arguments, method, Tpetra::getDefaultComm());
  constexpr int warmUp = 20;  // vectors, shifts, step sizes
  for (int k = 0; k < warmUp; ++k) coarse.solve(k);
  const long before = coarse.iterations();
  const double start = now();
  const int converged = capstan_measured_solves(&coarse, arguments.solves);
  const double seconds = now() - start;
  if (talks) {
    const nlohmann::json said = {{"method", method},
                                 {"rows", coarse.rows()},
                                 {"solves", arguments.solves},
                                 {"converged", converged},
                                 {"iterations", coarse.iterations() - before},
                                 {"seconds", seconds}};
    fmt::print("{}\n", said.dump());
  }
  return converged == arguments.solves;
}

int run(int argc, char** argv, bool talks) {
  Arguments arguments;
  int status = 0;
  if (!parse(argc, argv, talks, arguments, status)) return status;
  bool converged = true;
  for (const auto& method : arguments.methods) converged = measure(arguments, method, talks) && converged;
  return converged ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) { return tools::runProgram("small_solves", argc, argv, run); }
