#include "tpetra_ext/execution.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tpetra_ext/test/support/environment_variable.hpp"

namespace capstan {
namespace {

ChosenExecution chosen(const char* variable, Execution asked = Execution::Auto, int threads = 0, bool possible = true,
                       const char* openMp = nullptr) {
  const test::EnvironmentVariable execution("CAPSTAN_EXECUTION", variable), other("OMP_NUM_THREADS", openMp);
  return chosenExecution(asked, threads, possible);
}

TEST(Execution, IsOrderedOnOneThreadWhereNobodyAsks) {
  for (const char* const value : {static_cast<const char*>(nullptr), "", "ordered"}) {
    EXPECT_EQ(chosen(value).threads.count, 1);
    EXPECT_FALSE(chosen(value).threads.tasks);
    EXPECT_TRUE(chosen(value).reason.empty());
  }
  EXPECT_EQ(chosen("tasks:3", Execution::Ordered).threads.count, 1) << "the parameter counts";
  EXPECT_FALSE(chosen("tasks:3", Execution::Ordered).threads.tasks);
}

TEST(Execution, SharesKernelsAmongThreadsInOrderToo) {
  for (const ChosenExecution& found :
       {chosen("ordered:3"), chosen(nullptr, Execution::Ordered, 3), chosen(nullptr, Execution::Auto, 3)}) {
    EXPECT_EQ(found.threads.count, 3);
    EXPECT_FALSE(found.threads.tasks);
  }
  EXPECT_EQ(chosen("ordered:3").reason, "ordered, by 3 threads: CAPSTAN_EXECUTION is \"ordered:3\"");
}

TEST(Execution, HasTheThreadsThatAreAskedFor) {
  EXPECT_EQ(chosen("tasks:3").threads.count, 3);
  EXPECT_TRUE(chosen("tasks:3").threads.tasks);
  EXPECT_EQ(chosen("tasks:3").reason, "tasks of 3 threads: CAPSTAN_EXECUTION is \"tasks:3\"");
  EXPECT_EQ(chosen("tasks:3", Execution::Auto, 2).threads.count, 2) << "the parameter counts";
  EXPECT_EQ(chosen("tasks:3", Execution::Tasks, 5).threads.count, 5);
  EXPECT_EQ(chosen(nullptr, Execution::Tasks, 1).reason, "tasks of 1 thread: \"Execution\" = \"tasks\"");
  EXPECT_EQ(chosen("tasks", Execution::Auto, 0, true, "6").threads.count, 6);
  EXPECT_EQ(chosen(nullptr, Execution::Tasks, 0, true, "6").threads.count, 6);
  for (const char* const wrong : {"", "x", "0", "-1", "2,3", "99999"}) {
    EXPECT_GE(chosen(nullptr, Execution::Tasks, 0, true, wrong).threads.count, 1) << "the cores of this machine";
    EXPECT_LE(chosen(nullptr, Execution::Tasks, 0, true, wrong).threads.count, 1024);
  }
}

TEST(Execution, SaysWhyItIsNotWhatWasAskedFor) {
  for (const char* const wrong : {"task", "tasks:", "tasks:0", "tasks:x", "tasks:2x", "Ordered", "ordered:"}) {
    EXPECT_EQ(chosen(wrong).threads.count, 1);
    EXPECT_EQ(chosen(wrong).reason,
              "ordered: CAPSTAN_EXECUTION is \"" + std::string(wrong) +
                  "\", which is none of ordered, tasks, and these with : and a number of threads");
  }
  EXPECT_EQ(chosen("tasks:2", Execution::Auto, 0, false).reason,
            "ordered: CAPSTAN_EXECUTION is \"tasks:2\", but kernels here are Kokkos'");
  EXPECT_EQ(chosen(nullptr, Execution::Tasks, 2, false).threads.count, 1);
}

}  // namespace
}  // namespace capstan
