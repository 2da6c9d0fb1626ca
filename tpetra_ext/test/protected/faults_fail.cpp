#include "tpetra_ext/test/protected/faults_fail.hpp"

#include <gtest/gtest.h>

#include "tpetra_ext/test/protected/memory.hpp"

namespace capstan::test {
namespace {

long known = 0;

class AtTheEnd final : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override { look(); }
  void OnEnvironmentsTearDownEnd(const testing::UnitTest&) override { look(); }

  static void look() {
    const long fresh = protected_memory::faults() - known;
    known += fresh;
    if (fresh > 0) {
      ADD_FAILURE() << fresh << " faults that a device would not bear, at last:\n" << protected_memory::latestFault();
    }
  }
};

}  // namespace

void failOnFaults() {
  protected_memory::watchCopies();
  testing::UnitTest::GetInstance()->listeners().Append(new AtTheEnd);
}

void forgetFaults() { known = protected_memory::faults(); }

}  // namespace capstan::test
