#pragma once
// In place of Nalu-wind's own: its clock.
#include <mpi.h>

namespace sierra::nalu {
class NaluEnv {
 public:
  static NaluEnv& self() {
    static NaluEnv environment;
    return environment;
  }
  double nalu_time() { return MPI_Wtime(); }
};
}  // namespace sierra::nalu
