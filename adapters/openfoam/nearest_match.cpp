// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// A copy for libcapstanFoam.so, which must not need libcapstan.so.

#include "belos_ext/support/nearest_match.cpp"  // NOLINT(bugprone-suspicious-include)
