#include "tpetra_ext/reductions/second_thread.hpp"

#include <Teuchos_ConfigDefs.hpp>
#include <cstdlib>
#if defined(HAVE_TEUCHOS_MPI) && !defined(CAPSTAN_WITHOUT_MPI)
#define CAPSTAN_HAVE_MPI
#include <mpi.h>
#endif

namespace capstan::detail {

bool losesMessagesOfThreads(const std::string& library) {
  const std::string name = "Open MPI v";
  return library.compare(0, name.size(), name) == 0 && std::atoi(library.c_str() + name.size()) >= 6;
}

#if defined(CAPSTAN_HAVE_MPI) && MPI_VERSION >= 3

namespace {

/// The fast boxes that Open MPI's shared memory may set up; 0 where that transport is not there.
unsigned fastBoxes() {
  int level = MPI_THREAD_SINGLE, index = 0, numbers = 0;
  unsigned boxes = 0;
  MPI_T_cvar_handle handle;
  if (MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) return 0;
  if (MPI_T_cvar_get_index("btl_sm_fbox_max", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &numbers) == MPI_SUCCESS) {
    if (numbers != 1 || MPI_T_cvar_read(handle, &boxes) != MPI_SUCCESS) boxes = 1;  // not known: better safe
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return boxes;
}

}  // namespace

std::string whyNoSecondThread() {
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(library, &length);
  if (!losesMessagesOfThreads(library) || fastBoxes() == 0) return "";
  return "Open MPI 6 may lose messages that two threads send through the fast boxes of its shared memory; "
         "OMPI_MCA_btl_sm_fbox_max=0 in the environment turns these off";
}

#else

std::string whyNoSecondThread() { return ""; }

#endif

}  // namespace capstan::detail
