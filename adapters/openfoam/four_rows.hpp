// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Four rows of a matrix at once: vectors of four numbers, which the compiler makes of what the processor has.

namespace capstan::foam {

#if defined(__x86_64__)
/// A function with this is called only where fourRowsAtOnce().
#define CAPSTAN_FOUR_ROWS __attribute__((target("avx2")))
inline bool fourRowsAtOnce() { return __builtin_cpu_supports("avx2") != 0; }
#else
#define CAPSTAN_FOUR_ROWS
inline bool fourRowsAtOnce() { return true; }
#endif

}  // namespace capstan::foam
