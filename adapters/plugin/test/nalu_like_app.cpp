// An application that solves as Nalu-wind does: segregated momentum and pressure with the same method, without
// preconditioners (nalu_like.hpp).

#include <Teuchos_CommandLineProcessor.hpp>
#include <iostream>

#include "nalu_like.hpp"

static constexpr GO n = 24;

static void solve(const std::string& method, LinearSystem& system, int step) {
  for (std::size_t c = 0; c < system.b->getNumVectors(); ++c) system.b->getVectorNonConst(c)->putScalar(1.0 + step + c);
  solveAsNaluDoes(method, system);
}

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  std::string method = "gmres";
  int steps = 3;
  Teuchos::CommandLineProcessor line(false);
  line.setOption("method", &method, "as in the deck");
  line.setOption("steps", &steps, "time steps");
  if (line.parse(argc, argv) != Teuchos::CommandLineProcessor::PARSE_SUCCESSFUL) return 2;
  try {
    LinearSystem momentum = makeSystem(n, 1.5, 0.1, 2), pressure = makeSystem(n, 0.0, 0.1, 1);
    for (int step = 0; step < steps; ++step) {
      solve(method, momentum, step);
      solve(method, pressure, step);
    }
  } catch (const std::exception& error) {
    if (Tpetra::getDefaultComm()->getRank() == 0) std::cout << "error: " << error.what() << std::endl;
    return 3;
  }
  return 0;
}
