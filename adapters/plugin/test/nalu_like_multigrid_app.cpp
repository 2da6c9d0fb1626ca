// An application that solves as Nalu-wind does (nalu_like.hpp), with its preconditioners: segregated momentum of three
// right-hand sides with symmetric Gauss-Seidel, pressure with MueLu, both by the same method and for increments from
// zero.

#include <Ifpack2_Factory.hpp>
#include <MueLu_CreateTpetraPreconditioner.hpp>
#include <Teuchos_CommandLineProcessor.hpp>
#include <cmath>
#include <iostream>

#include "nalu_like.hpp"

static constexpr GO n = 40;

static Teuchos::RCP<OP> gaussSeidel(const Teuchos::RCP<Matrix>& A) {
  Teuchos::ParameterList list;
  list.set("relaxation: type", "Symmetric Gauss-Seidel");
  auto M = Ifpack2::Factory::create<Tpetra::RowMatrix<>>("RELAXATION", A);
  M->setParameters(list);
  M->initialize();
  M->compute();
  return M;
}

static void solve(const std::string& method, LinearSystem& system, int step) {
  for (std::size_t c = 0; c < system.b->getNumVectors(); ++c) {
    auto values = system.b->getDataNonConst(c);
    for (Teuchos::Ordinal i = 0; i < values.size(); ++i) {
      const auto row = static_cast<double>(system.b->getMap()->getGlobalElement(static_cast<int>(i)));
      values[i] = 1 + c + std::cos(0.7 * (step + 1) * row + static_cast<double>(c));
    }
  }
  system.x->putScalar(0);
  solveAsNaluDoes(method, system);
}

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  std::string method = "gmres", multigrid, only;
  double wind = 1.5;
  int steps = 6;
  Teuchos::CommandLineProcessor line(false);
  line.setOption("method", &method, "as in the deck");
  line.setOption("multigrid", &multigrid, "parameters of MueLu, an XML file");
  line.setOption("wind", &wind, "of momentum; 0: symmetric");
  line.setOption("steps", &steps, "time steps");
  line.setOption("only", &only, "momentum or pressure: without the other");
  if (line.parse(argc, argv) != Teuchos::CommandLineProcessor::PARSE_SUCCESSFUL) return 2;
  try {
    LinearSystem momentum = makeSystem(n, wind, 0.5, 3), pressure = makeSystem(n, 0.0, 0.0, 1);
    momentum.M = gaussSeidel(momentum.A);
    pressure.M = MueLu::CreateTpetraPreconditioner(Teuchos::RCP<OP>(pressure.A), multigrid);
    for (int step = 0; step < steps; ++step) {
      if (only != "pressure") solve(method, momentum, step);
      if (only != "momentum") solve(method, pressure, step);
    }
  } catch (const std::exception& error) {
    if (Tpetra::getDefaultComm()->getRank() == 0) std::cout << "error: " << error.what() << std::endl;
    return 3;
  }
  return 0;
}
