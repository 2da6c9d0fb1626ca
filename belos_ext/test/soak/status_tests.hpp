#pragma once
/// \file
/// Status tests an application might bring: Belos' own, and one that looks at everything it may look at.

#include <BelosStatusTest.hpp>
#include <string>

#include "belos_ext/test/soak/system.hpp"

namespace capstan::soak {

using StatusTest = Belos::StatusTest<Scalar, MultiVector, Operator>;

/// What Belos' residual tests ask for, relative to the initial residual.
constexpr double statusTestTolerance = 1e-3;

/// The test of that name in a recipe; null for "none". What it decides is the same on all ranks.
RCP<StatusTest> makeStatusTest(const std::string& name, std::uint64_t seed);

/// Whether the test computes b - A x on its own account.
bool appliesOperator(const std::string& name);

}  // namespace capstan::soak
