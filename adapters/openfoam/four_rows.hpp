// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Four rows of a matrix at once: registers of four numbers, where the compiler and the processor have them.

namespace capstan::foam {

#if defined(__x86_64__) && defined(__GNUC__)
/// A function with this may use them; it is called only where fourRowsAtOnce().
#define CAPSTAN_FOUR_ROWS __attribute__((target("avx2")))
inline bool fourRowsAtOnce() { return __builtin_cpu_supports("avx2") != 0; }
#else
#define CAPSTAN_FOUR_ROWS
inline bool fourRowsAtOnce() { return false; }
#endif

}  // namespace capstan::foam
