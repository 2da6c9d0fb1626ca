// Nalu-wind's HypreDirectSolver, as an equation system of Nalu-wind uses it: three outer iterations, each with a
// matrix, a right-hand side and a solution that is zero at first. Solver and preconditioner are those of a deck.
//
// usage: driver DECK NAME METHOD pressure|momentum CELLS TOLERANCE SOLUTION
// DECK's solver NAME with METHOD and TOLERANCE in place of its own; the last solution is written to the file SOLUTION.
#include <HypreDirectSolver.h>
#include <mpi.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "grid_systems.hpp"

namespace {

using sierra::nalu::HypreDirectSolver;
using sierra::nalu::HypreLinearSolverConfig;

YAML::Node entryOf(const std::string& deck, const std::string& name) {
  for (const auto& entry : YAML::LoadFile(deck)["linear_solvers"]) {
    if (entry["name"].as<std::string>() == name) return entry;
  }
  throw std::runtime_error(deck + " has no linear solver " + name);
}

/// Of all ranks, on rank 0.
void write(const std::string& file, const Rows& rows, HYPRE_IJVector x) {
  std::vector<double> mine(rows.count());
  std::vector<HYPRE_BigInt> numbers = rows.numbers();
  HYPRE_IJVectorGetValues(x, static_cast<HYPRE_Int>(numbers.size()), numbers.data(), mine.data());
  std::vector<int> counts(rows.ranks), starts(rows.ranks);
  for (int rank = 0; rank < rows.ranks; ++rank) {
    starts[rank] = static_cast<int>(rows.firstOf(rank));
    counts[rank] = static_cast<int>(rows.firstOf(rank + 1)) - starts[rank];
  }
  std::vector<double> all(rows.rank == 0 ? rows.all : 0);
  MPI_Gatherv(mine.data(), counts[rows.rank], MPI_DOUBLE, all.data(), counts.data(), starts.data(), MPI_DOUBLE, 0,
              MPI_COMM_WORLD);
  if (rows.rank == 0)
    std::ofstream(file, std::ios::binary).write(reinterpret_cast<char*>(all.data()), all.size() * sizeof(double));
}

struct Worst {
  int solves = 0, iterations = 0;
  double told = 0, computed = 0, seconds = 0;
};

/// As HypreLinearSystem::solve does it. The time is that of the solve, without the set-up of the preconditioner.
void solve(HypreDirectSolver& solver, HYPRE_ParVector r, Worst& worst, bool last) {
  int iterations = 0;
  double told = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begun = MPI_Wtime();
  solver.solve(iterations, told, last);
  MPI_Barrier(MPI_COMM_WORLD);
  // The first solve starts what a process needs once.
  if (worst.solves++ > 0) worst.seconds += MPI_Wtime() - begun - solver.get_timer_precond();
  solver.set_initialize_solver_flag();
  worst.iterations = std::max(worst.iterations, iterations);
  worst.told = std::max(worst.told, told);
  worst.computed = std::max(worst.computed, residualOf(solver.parMat_, solver.parRhs_, solver.parSln_, r));
}

void run(char** words) {
  YAML::Node entry = entryOf(words[1], words[2]);
  entry["method"] = words[3];
  entry["tolerance"] = words[6];
  HypreLinearSolverConfig config;
  config.load(entry);
  const bool moves = words[4] == std::string("momentum");
  const Grid grid{std::stoi(words[5])};
  const Rows rows = Rows::of(grid.cells());
  HYPRE_IJMatrix matrix = makeMatrix(rows);
  HYPRE_IJVector b = makeVector(rows), x = makeVector(rows), r = makeVector(rows);
  Worst worst;
  {
    HypreDirectSolver solver(words[2], &config, nullptr);
    solver.comm_ = MPI_COMM_WORLD;
    for (int outer = 1; outer <= 3; ++outer) {
      fillMatrix(matrix, rows, grid, moves ? 1 + 0.2 * outer : 0);
      HYPRE_IJMatrixGetObject(matrix, reinterpret_cast<void**>(&solver.parMat_));
      solver.parRhs_ = fillVector(b, rows, outer);
      solver.parSln_ = fillVector(x, rows, 0);
      solve(solver, fillVector(r, rows, 0), worst, outer == 3);
    }
    write(words[7], rows, x);
  }
  if (rows.rank == 0)
    std::printf(
        "Iterations = %d\nFinal Relative Residual Norm = %.6e\ncomputed residual: %.6e\nseconds of the solve: %.9f\n",
        worst.iterations, worst.told, worst.computed, worst.seconds);
  for (const auto& vector : {b, x, r}) HYPRE_IJVectorDestroy(vector);
  HYPRE_IJMatrixDestroy(matrix);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  HYPRE_Init();
  int status = 0;
  try {
    if (argc != 8) throw std::runtime_error("seven arguments are needed");
    run(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "driver: %s\n", error.what());
    status = 1;
  }
  HYPRE_Finalize();
  MPI_Finalize();
  return status;
}
