/// \file
/// The MPI library's own functions, below the ones that the layer replaces.
///
/// The layer defines MPI_X and PMPI_X, so that it also stands below a program's own wrappers and below Fortran's
/// bindings, which call PMPI_X. It can therefore not reach the library by the name PMPI_X, but by asking the dynamic
/// linker.
#pragma once

#include "perf/latency/visible_mpi.hpp"

namespace capstan::latency::real {

/// The next definition of `symbol` after this library's. Ends the process with a message where there is none.
void* find(const char* symbol);

#define CAPSTAN_LATENCY_REAL(name)                                                            \
  template <class... Args>                                                                    \
  int name(Args... args) {                                                                    \
    static const auto next = reinterpret_cast<decltype(&::PMPI_##name)>(find("PMPI_" #name)); \
    return next(args...);                                                                     \
  }

CAPSTAN_LATENCY_REAL(Init)
CAPSTAN_LATENCY_REAL(Init_thread)
CAPSTAN_LATENCY_REAL(Finalize)
CAPSTAN_LATENCY_REAL(Allreduce)
CAPSTAN_LATENCY_REAL(Iallreduce)
CAPSTAN_LATENCY_REAL(Wait)
CAPSTAN_LATENCY_REAL(Waitall)
CAPSTAN_LATENCY_REAL(Waitany)
CAPSTAN_LATENCY_REAL(Waitsome)
CAPSTAN_LATENCY_REAL(Test)
CAPSTAN_LATENCY_REAL(Testall)
CAPSTAN_LATENCY_REAL(Testany)
CAPSTAN_LATENCY_REAL(Testsome)
CAPSTAN_LATENCY_REAL(Request_free)
CAPSTAN_LATENCY_REAL(Request_get_status)
#if MPI_VERSION >= 4
CAPSTAN_LATENCY_REAL(Allreduce_c)
CAPSTAN_LATENCY_REAL(Iallreduce_c)
CAPSTAN_LATENCY_REAL(Allreduce_init)
CAPSTAN_LATENCY_REAL(Allreduce_init_c)
#endif

#undef CAPSTAN_LATENCY_REAL

}  // namespace capstan::latency::real

/// Puts PMPI_`name` in front of the library's as well. Stands after the definition of MPI_`name`, in the same file.
#define CAPSTAN_LATENCY_ALSO_PMPI(name) \
  extern "C" decltype(MPI_##name) PMPI_##name __attribute__((alias("MPI_" #name)));
