#pragma once

/// \file
/// For main programs of tests: each touch of the protected memory by the host fails the test it happens in.

namespace capstan::test {

/// Makes tests fail where there was a fault since they began. To be called once, before the tests run. Local.
void failOnFaults();

/// For tests that touch the memory on purpose: the faults so far are no failures.
void forgetFaults();

}  // namespace capstan::test
