// The kernels for AVX2 and FMA. Compiled with these switched on; runs only where the processor has them.
#define CAPSTAN_KERNELS_ISA avx2
#include "tpetra_ext/kernels/host/chunk_table.hpp"
