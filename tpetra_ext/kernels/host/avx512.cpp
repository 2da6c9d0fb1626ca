// The kernels for AVX-512. Compiled with it switched on; runs only where the processor has it.
#define CAPSTAN_KERNELS_ISA avx512
#include "tpetra_ext/kernels/host/chunk_table.hpp"
