#include "belos_ext/test/soak/status_tests.hpp"

#include <BelosIteration.hpp>
#include <BelosLinearProblem.hpp>
#include <BelosStatusTestGenResNorm.hpp>
#include <BelosStatusTestMaxIters.hpp>
#include <BelosTpetraAdapter.hpp>
#include <limits>
#include <stdexcept>

namespace capstan::soak {
namespace {

using Iteration = Belos::Iteration<Scalar, MultiVector, Operator>;

/// Passes from an iteration on. Reads what an Iteration shows, where asked to.
class Watcher final : public StatusTest {
 public:
  Watcher(int passesFrom, bool reads) : passesFrom_(passesFrom), reads_(reads) {}

  Belos::StatusType checkStatus(Iteration* iteration) override {
    if (iteration->getNumIters() < 0) throw std::logic_error("soak: a status test sees a negative count");
    if (reads_) read(*iteration);
    status_ = iteration->getNumIters() >= passesFrom_ ? Belos::Passed : Belos::Failed;
    return status_;
  }
  Belos::StatusType getStatus() const override { return status_; }
  void reset() override { status_ = Belos::Undefined; }
  void print(std::ostream&, int) const override {}

 private:
  static void read(Iteration& iteration) {
    std::vector<double> norms;
    iteration.getNativeResiduals(&norms);
    const auto& problem = iteration.getProblem();
    const std::size_t columns = problem.getLSIndex().size();
    if (norms.size() != columns) throw std::logic_error("soak: a status test sees a wrong number of residuals");
    const auto update = iteration.getCurrentUpdate();
    if (update.is_null()) return;
    if (update->getNumVectors() != columns) throw std::logic_error("soak: a status test sees a wrong update");
    std::vector<double> sums(columns);
    problem.updateSolution(update)->norm2(Teuchos::ArrayView<double>(sums));
  }

  int passesFrom_;
  bool reads_;
  Belos::StatusType status_ = Belos::Undefined;
};

}  // namespace

RCP<StatusTest> makeStatusTest(const std::string& name, std::uint64_t seed) {
  using ResNorm = Belos::StatusTestGenResNorm<Scalar, MultiVector, Operator>;
  const int late = static_cast<int>(seed % 25);
  if (name == "none") return Teuchos::null;
  if (name == "never passes") return Teuchos::rcp(new Watcher(std::numeric_limits<int>::max(), false));
  if (name == "passes later") return Teuchos::rcp(new Watcher(late, false));
  if (name == "reads all") return Teuchos::rcp(new Watcher(late, true));
  if (name == "Belos iterations") {
    return Teuchos::rcp(new Belos::StatusTestMaxIters<Scalar, MultiVector, Operator>(late));
  }
  const bool isExplicit = name == "Belos explicit residual";
  if (!isExplicit && name != "Belos implicit residual") throw std::logic_error("soak: no status test '" + name + "'");
  const auto test = Teuchos::rcp(new ResNorm(statusTestTolerance));
  test->defineResForm(isExplicit ? ResNorm::Explicit : ResNorm::Implicit, Belos::TwoNorm);
  test->defineScaleForm(Belos::NormOfInitRes, Belos::TwoNorm);
  return test;
}

bool appliesOperator(const std::string& name) { return name == "Belos explicit residual"; }

}  // namespace capstan::soak
