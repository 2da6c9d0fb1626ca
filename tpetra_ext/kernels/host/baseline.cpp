// The kernels for the instruction set that the whole build is for.
#define CAPSTAN_KERNELS_ISA baseline
#include "tpetra_ext/kernels/host/chunk_table.hpp"
