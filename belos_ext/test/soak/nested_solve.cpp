#include "belos_ext/test/soak/nested_solve.hpp"

#include <BelosLinearProblem.hpp>
#include <BelosSolverManager.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Teuchos_oblackholestream.hpp>
#include <stdexcept>

#include "belos_ext/choice/choosing_manager.hpp"
#include "belos_ext/test/soak/random.hpp"

namespace capstan::soak {

namespace {
constexpr double tolerance = 1e-6;
constexpr int rows = 12;
}  // namespace

NestedSolve::NestedSolve(const RCP<const Comm>& comm, std::uint64_t seed)
    : seed_(seed), a_(testing::grid2d(rows / 3, 3, 0, testing::evenMap(rows, comm))), solver_(make()) {}

RCP<NestedSolve::Solver> NestedSolve::make() const {
  const auto& names = methods();
  auto solver = makeSolver<Types>(names[static_cast<std::size_t>(kernels::mixed(seed_) % names.size())]);
  auto list = Teuchos::parameterList();
  list->set("Convergence Tolerance", tolerance);
  list->set("Output Stream", RCP<std::ostream>(Teuchos::rcp(new Teuchos::oblackholestream)));
  solver->setParameters(list);
  return solver;
}

double NestedSolve::solve(int application) {
  using Problem = Belos::LinearProblem<Scalar, MultiVector, Operator>;
  if (seed_ % 3 == 0) solver_ = make();  // as applications do that build their solver anew
  const std::size_t columns = 1 + seed_ % 2;
  const auto b = testing::vectorFrom(
      a_->getRowMap(), [&](GO i) { return noise(seed_, static_cast<std::uint64_t>(i + application)); }, columns);
  const auto x = Teuchos::rcp(new MultiVector(a_->getRowMap(), columns));
  const auto problem = Teuchos::rcp(new Problem(a_, x, b));
  problem->setProblem();
  solver_->setProblem(problem);
  const bool converged = solver_->solve() == Belos::Converged;
  const MultiVector zero(a_->getRowMap(), columns);
  double worst = 0;
  for (const double residual : testing::relativeResiduals(*a_, *b, *x, zero)) worst = std::max(worst, residual);
  if (converged && !(worst <= 1.001 * tolerance)) throw std::logic_error("soak: an inner solve is falsely converged");
  if (!converged) throw std::logic_error("soak: an inner solve of an easy system has not converged");
  std::vector<double> sums(columns);
  x->norm1(Teuchos::ArrayView<double>(sums));
  return sums.front();
}

SoakOperator::Afterwards NestedSolve::onTheSide(const RCP<const Comm>& comm, std::uint64_t seed) {
  auto inner = std::make_shared<NestedSolve>(comm, seed);
  return [inner](int application, const MultiVector&, MultiVector&) { inner->solve(application); };
}

SoakOperator::Afterwards NestedSolve::asPreconditioner(const RCP<const Comm>& comm, std::uint64_t seed) {
  auto inner = std::make_shared<NestedSolve>(comm, seed);
  return [inner](int application, const MultiVector&, MultiVector& out) {
    out.scale(1 + 1e-6 * inner->solve(application));
  };
}

}  // namespace capstan::soak
