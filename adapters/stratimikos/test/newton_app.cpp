// An application over Thyra, without anything of Capstan: Newton's method of NOX for Bratu's problem, with the linear
// solver that a list for Stratimikos names.
//
// usage: newton_app [--type=Belos] [--solver="Pseudo Block GMRES"] [--prec=None|Ifpack2|MueLu]
// [--parameter=name=integer]
//
// -(u_xx + u_yy) = 4 exp(u) on the unit square, u = 0 around it; central differences on 24^2 points.
//
// Prints "newton <iterations>, linear <iterations>, |u| <norm>".
// Exit status: 0 Newton's method has converged, 1 it has not, 2 an exception.

#include <NOX.H>
#include <NOX_Thyra.H>

#include <Stratimikos_DefaultLinearSolverBuilder.hpp>
#include <Stratimikos_MueLuHelpers.hpp>
#include <Teuchos_AbstractFactoryStd.hpp>
#include <Teuchos_CommandLineProcessor.hpp>
#include <Thyra_Ifpack2PreconditionerFactory.hpp>
#include <Thyra_StateFuncModelEvaluatorBase.hpp>
#include <Thyra_TpetraThyraWrappers.hpp>
#include <Thyra_VectorStdOps.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>

namespace {

using Matrix = Tpetra::CrsMatrix<>;
using Global = Matrix::global_ordinal_type;
using Columns = Thyra::TpetraOperatorVectorExtraction<double>;

constexpr int side = 24;
constexpr double strength = 4.0 / ((side + 1) * (side + 1));

Teuchos::RCP<Matrix> laplacian() {
  const auto map = Teuchos::rcp(new const Tpetra::Map<>(side * side, 0, Tpetra::getDefaultComm()));
  const auto matrix = Teuchos::rcp(new Matrix(map, 5));
  for (Global row = map->getMinGlobalIndex(); row <= map->getMaxGlobalIndex(); ++row) {
    const Global i = row % side, j = row / side;
    matrix->insertGlobalValues(row, Teuchos::tuple(row), Teuchos::tuple(4.0));
    const auto neighbour = [&](bool there, Global column) {
      if (there) matrix->insertGlobalValues(row, Teuchos::tuple(column), Teuchos::tuple(-1.0));
    };
    neighbour(i > 0, row - 1);
    neighbour(i < side - 1, row + 1);
    neighbour(j > 0, row - side);
    neighbour(j < side - 1, row + side);
  }
  matrix->fillComplete();
  return matrix;
}

class Bratu final : public Thyra::StateFuncModelEvaluatorBase<double> {
 public:
  using Base = Thyra::ModelEvaluatorBase;
  using Factory = Thyra::LinearOpWithSolveFactoryBase<double>;

  explicit Bratu(const Teuchos::RCP<const Factory>& factory)
      : matrix_(laplacian()),
        factory_(factory),
        space_(Thyra::createVectorSpace<double>(Teuchos::RCP<const Tpetra::Map<>>(matrix_->getRowMap()))) {}

  Teuchos::RCP<const Thyra::VectorSpaceBase<double>> get_x_space() const override { return space_; }
  Teuchos::RCP<const Thyra::VectorSpaceBase<double>> get_f_space() const override { return space_; }
  Teuchos::RCP<const Factory> get_W_factory() const override { return factory_; }
  Teuchos::RCP<Thyra::LinearOpBase<double>> create_W_op() const override {
    return Thyra::createLinearOp<double>(Teuchos::RCP<Tpetra::Operator<>>(laplacian()), space_, space_);
  }
  Base::InArgs<double> createInArgs() const override {
    Base::InArgsSetup<double> in;
    in.setModelEvalDescription("Bratu");
    in.setSupports(Base::IN_ARG_x);
    return in;
  }

 private:
  Base::OutArgs<double> createOutArgsImpl() const override {
    Base::OutArgsSetup<double> out;
    out.setModelEvalDescription("Bratu");
    out.setSupports(Base::OUT_ARG_f);
    out.setSupports(Base::OUT_ARG_W_op);
    return out;
  }

  void evalModelImpl(const Base::InArgs<double>& in, const Base::OutArgs<double>& out) const override {
    const auto u = Columns::getConstTpetraVector(in.get_x());
    const Teuchos::ArrayRCP<const double> values = u->getData();
    if (!out.get_f().is_null()) {
      const auto f = Columns::getTpetraVector(out.get_f());
      matrix_->apply(*u, *f);
      const Teuchos::ArrayRCP<double> entries = f->getDataNonConst();
      for (int k = 0; k < static_cast<int>(entries.size()); ++k) entries[k] -= strength * std::exp(values[k]);
    }
    if (out.get_W_op().is_null()) return;
    auto& jacobian = dynamic_cast<Matrix&>(*Columns::getTpetraOperator(out.get_W_op()));
    jacobian.resumeFill();
    const Tpetra::Map<>& map = *matrix_->getRowMap();
    for (int k = 0; k < static_cast<int>(values.size()); ++k) {
      const Global row = map.getGlobalElement(k);
      jacobian.replaceGlobalValues(row, Teuchos::tuple(row), Teuchos::tuple(4.0 - strength * std::exp(values[k])));
    }
    jacobian.fillComplete();
  }

  Teuchos::RCP<const Matrix> matrix_;
  Teuchos::RCP<const Factory> factory_;
  Teuchos::RCP<const Thyra::VectorSpaceBase<double>> space_;
};

Teuchos::RCP<NOX::StatusTest::Generic> stopTest() {
  const auto either = Teuchos::rcp(new NOX::StatusTest::Combo(NOX::StatusTest::Combo::OR));
  either->addStatusTest(Teuchos::rcp(new NOX::StatusTest::NormF(1e-9)));
  either->addStatusTest(Teuchos::rcp(new NOX::StatusTest::MaxIters(20)));
  return either;
}

Teuchos::RCP<Bratu::Factory> linearSolver(const Teuchos::RCP<Teuchos::ParameterList>& list) {
  Stratimikos::DefaultLinearSolverBuilder builder;
  using Preconditioners = Thyra::PreconditionerFactoryBase<double>;
  builder.setPreconditioningStrategyFactory(
      Teuchos::abstractFactoryStd<Preconditioners, Thyra::Ifpack2PreconditionerFactory<Matrix>>(), "Ifpack2");
  Stratimikos::enableMueLu(builder);
  builder.setParameterList(list);
  return builder.createLinearSolveStrategy("");
}

int run(int argc, char** argv) {
  std::string type = "Belos", solver = "Pseudo Block GMRES", preconditioner = "None", parameter;
  Teuchos::CommandLineProcessor options(false);
  options.setOption("type", &type, "linear solver type");
  options.setOption("solver", &solver, "its solver type");
  options.setOption("prec", &preconditioner, "preconditioner type");
  options.setOption("parameter", &parameter, "name=integer, of that solver");
  if (options.parse(argc, argv) != Teuchos::CommandLineProcessor::PARSE_SUCCESSFUL) return 2;

  const auto list = Teuchos::parameterList("linear solver");
  list->set("Linear Solver Type", type);
  list->set("Preconditioner Type", preconditioner);
  Teuchos::ParameterList& own = list->sublist("Linear Solver Types").sublist(type);
  own.set("Solver Type", solver);
  own.sublist("Solver Types").sublist(solver).set("Maximum Iterations", 300);
  Teuchos::ParameterList& multigrid = list->sublist("Preconditioner Types").sublist("MueLu");
  multigrid.set("verbosity", "none");
  multigrid.set("coarse: max size", 50);
  multigrid.set("coarse: type", "CHEBYSHEV");
  if (const auto at = parameter.find('='); at != std::string::npos) {
    own.sublist("Solver Types").sublist(solver).set(parameter.substr(0, at), std::stoi(parameter.substr(at + 1)));
  }

  const auto model = Teuchos::rcp(new Bratu(linearSolver(list)));
  const auto guess = Thyra::createMember(model->get_x_space());
  Thyra::assign(guess.ptr(), 0.0);
  const auto group = Teuchos::rcp(new NOX::Thyra::Group(NOX::Thyra::Vector(guess), model));
  const auto parameters = Teuchos::parameterList();
  parameters->sublist("Printing").set("Output Information", 0);
  Teuchos::ParameterList& linear = parameters->sublist("Direction").sublist("Newton").sublist("Linear Solver");
  linear.set("Tolerance", 1e-7);
  const auto newton = NOX::Solver::buildSolver(group, stopTest(), parameters);
  const bool converged = newton->solve() == NOX::StatusTest::Converged;
  const int iterations = linear.sublist("Output").get("Cumulative Iteration Count", -1);
  const double norm = newton->getSolutionGroup().getX().norm();
  if (Tpetra::getDefaultComm()->getRank() == 0) {
    std::printf("newton %d, linear %d, |u| %.9e\n", newton->getNumIterations(), iterations, norm);
  }
  return converged ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Tpetra::ScopeGuard guard(&argc, &argv);
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    if (Tpetra::getDefaultComm()->getRank() == 0) std::printf("error: %s\n", error.what());
    return 2;
  }
}
