#include "tpetra_ext/topology/exchange/eager_limit.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>

namespace capstan::topology {
namespace {

/// The value of a variable that holds one integer; 0 for any other.
long long valueOf(int index, MPI_Datatype type) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0, size = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return 0;
  long long value = 0;
  if (count == 1 && MPI_Type_size(type, &size) == MPI_SUCCESS) {
    if (size == static_cast<int>(sizeof value)) {
      if (MPI_T_cvar_read(handle, &value) != MPI_SUCCESS) value = 0;
    } else if (size == static_cast<int>(sizeof(int))) {
      int word = 0;
      if (MPI_T_cvar_read(handle, &word) == MPI_SUCCESS) value = word;
    }
  }
  MPI_T_cvar_handle_free(&handle);
  return std::max(value, 0LL);
}

long long valueOf(const char* name) {
  int index = 0;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return 0;
  char own[256] = "";
  int length = sizeof own, verbosity = 0, binding = 0, scope = 0, noText = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum words = MPI_T_ENUM_NULL;
  if (MPI_T_cvar_get_info(index, own, &length, &verbosity, &type, &words, nullptr, &noText, &binding, &scope) !=
          MPI_SUCCESS ||
      binding != MPI_T_BIND_NO_OBJECT) {
    return 0;
  }
  return valueOf(index, type);
}

}  // namespace

long long eagerLimitToldByMpi() {
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return 0;
  long long least = 0;
  for (const char* name : {"btl_tcp_eager_limit", "btl_openib_eager_limit", "btl_ofi_eager_limit",
                           "btl_uct_eager_limit", "btl_ugni_eager_limit", "MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE"}) {
    const long long value = valueOf(name);
    if (value > 0 && (least == 0 || value < least)) least = value;
  }
  MPI_T_finalize();
  return least;
}

}  // namespace capstan::topology
