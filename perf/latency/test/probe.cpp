/// \file
/// A program that is not linked with the latency layer: all-reduces, blocking and nonblocking in turn.
///
/// usage: latency_probe <number of all-reduces> [<microseconds>]. Asks the layer for another latency, where one is
/// given; exit status 1 where that fails. Rank 0 prints the shortest time of one, in microseconds.

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int count = argc > 1 ? std::atoi(argv[1]) : 1;
  if (argc > 2) {
    const auto set = reinterpret_cast<int (*)(double)>(dlsym(RTLD_DEFAULT, "capstan_latency_set"));
    if (set == nullptr || set(std::atof(argv[2])) == 0) {
      MPI_Finalize();
      return 1;
    }
  }
  double shortest = 1e9;
  for (int i = 0; i < count; ++i) {
    const double mine = i;
    double sum = 0;
    const double start = MPI_Wtime();
    if (i % 2 == 0) {
      MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    shortest = std::min(shortest, MPI_Wtime() - start);
  }
  if (rank == 0) std::printf("%.9g\n", shortest * 1e6);
  MPI_Finalize();
  return 0;
}
