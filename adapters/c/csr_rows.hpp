#pragma once
/// \file
/// From the compressed rows of capstan.h to a pattern as the driver has it.

#include <cstdint>

#include "adapters/c/capstan.h"
#include "adapters/driver/host.hpp"

namespace capstan::c {

/// How many rows a rank may have, as an Error where it has more. Local.
void checkRows(std::int64_t rows);

/// What is wrong with the rows by themselves, as an Error; else the pattern, to which the ranks have yet to add
/// firstRow and globalRows. Local.
driver::CsrPattern patternOf(const capstan_csr* matrix);

/// Whether columns lie in the matrix, and none twice in a row, as an Error. Local.
void checkEntries(const driver::CsrPattern& pattern);

}  // namespace capstan::c
