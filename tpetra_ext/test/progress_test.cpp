// Who looks at pending reductions, and when. Run twice: with MPI for one thread and for several.

#include <gtest/gtest.h>

#include <Tpetra_Operator.hpp>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "tpetra_ext/operators/preconditioned_operator.hpp"
#include "tpetra_ext/reductions/second_thread.hpp"
#include "tpetra_ext/test/support/progress_fixture.hpp"

namespace capstan::test {
namespace {

/// y = x.
class Identity final : public Types::Operator {
 public:
  explicit Identity(MapPtr map) : map_(std::move(map)) {}
  MapPtr getDomainMap() const override { return map_; }
  MapPtr getRangeMap() const override { return map_; }
  void apply(const MultiVector& X, MultiVector& Y, Teuchos::ETransp, Scalar, Scalar) const override {
    Tpetra::deep_copy(Y, X);
  }

 private:
  MapPtr map_;
};

TEST_F(ProgressTest, NobodyLooksUnlessAsked) {
  EXPECT_EQ(looksDuring([this] { kernels.scale(2, x, y); }), 0);
  const ProgressScope none(ProgressMode::None);
  EXPECT_EQ(none.mode(), ProgressMode::None);
  EXPECT_EQ(looksDuring([this] {
              EXPECT_EQ(progressPending(), 0);
              kernels.scale(2, x, y);
            }),
            0);
}

TEST_F(ProgressTest, PollLooksOnceAfterEveryKernelAndAroundEveryApplication) {
  const ProgressScope scope(ProgressMode::Poll);
  EXPECT_EQ(scope.mode(), ProgressMode::Poll);
  EXPECT_EQ(scope.reason(), "");
  EXPECT_EQ(looksDuring([this] {
              kernels.scale(2, x, y);
              kernels.axpby(1, x, 3, y);
            }),
            onRankZero(2));
  const auto a = Teuchos::rcp(new Identity(map));
  PreconditionedOperator<Types> plain(a, Teuchos::null, Teuchos::null), left(a, a, Teuchos::null);
  EXPECT_EQ(looksDuring([&] { plain.apply(x, y); }), onRankZero(2));
  EXPECT_EQ(looksDuring([&] { left.apply(x, y); }), onRankZero(4));
  Batch products(Teuchos::rcp(new Teuchos::SerialComm<int>()));
  const auto local = filled(mapOfLocal(100, Teuchos::rcp(new Teuchos::SerialComm<int>())), 2, 3);
  products.innerProducts(local, local);
  EXPECT_EQ(looksDuring([&] { products.reduce(); }), onRankZero(1));
  EXPECT_EQ(mpiLooks().elsewhere, 0);
  EXPECT_EQ(mpiCalls().tests, 0) << "a request must stay alive until it is waited for";
  const long looks = mpiLooks().here;
  kernels.scale(2, x, y);
  EXPECT_EQ(mpiLooks().here, looks) << "nothing is in flight";
}

TEST_F(ProgressTest, PollLooksInsideLongKernelsOnly) {
  if (!kernels::runsOnHost<Types::ExecutionSpace>) GTEST_SKIP() << "the host looks while a device computes";
  const ProgressScope scope(ProgressMode::Poll);
  // At 100 GB/s each pass over these takes tens of times longer than a kernel may keep MPI waiting.
  const MapPtr longMap = mapOfLocal(rank == 0 ? 4000000 : 1);
  const MultiVector v = filled(longMap, 2, 1);
  MultiVector w(longMap, 2);
  w.putScalar(1);
  const auto v0 = v.getVector(0);
  const auto w0 = w.getVectorNonConst(0);
  Teuchos::SerialDenseMatrix<int, Scalar> r(2, 2);
  const auto inside = [&](const std::function<void()>& work) {
    const long looks = looksDuring(work);
    if (rank == 0 && size > 1) {
      EXPECT_GT(looks, 2);
    }
  };
  inside([&] { kernels.scale(2, *v0, *w0); });
  inside([&] { kernels.update(v, r, w); });
  inside([&] {
    const MultiVector local(mapOfLocal(4000000, Teuchos::rcp(new Teuchos::SerialComm<int>())), 2);
    Batch serial(Teuchos::rcp(new Teuchos::SerialComm<int>()));
    serial.innerProducts(local, local);
    serial.reduce();
  });
}

TEST_F(ProgressTest, KernelsAloneCompleteAReduction) {
  const ProgressScope scope(ProgressMode::Poll);
  Batch batch(comm);
  const auto slot = batch.value(rank);
  Pending pending = batch.start();
  EXPECT_EQ(progressPending(), one);
  while (progressPending() > 0) kernels.scale(2, x, y);
  EXPECT_EQ(mpiCalls().waits + mpiCalls().tests, 0);
  EXPECT_THROW(batch[slot], std::logic_error) << "the wait is the solver's";
  pending.wait();
  EXPECT_EQ(batch[slot], size * (size - 1) / 2);
  EXPECT_EQ(mpiCalls().waits, one);
}

TEST_F(ProgressTest, OtherThreadsOfTheApplicationDoNotLook) {
  const ProgressScope scope(ProgressMode::Poll);
  EXPECT_EQ(looksDuring([] { std::thread(pollReductions).join(); }), 0);
  EXPECT_EQ(mpiLooks().elsewhere, 0);
}

TEST_F(ProgressTest, ScopesNestAndAReductionKeepsItsMode) {
  const ProgressScope outer(ProgressMode::Poll);
  EXPECT_EQ(looksDuring([this] {
              const ProgressScope inner(ProgressMode::None);  // a solver within the preconditioner
              kernels.scale(2, x, y);
            }),
            onRankZero(1));
  {
    const ProgressScope inner(ProgressMode::None);
    EXPECT_EQ(looksDuring([this] { kernels.scale(2, x, y); }), 0);
  }
  EXPECT_EQ(looksDuring([this] { kernels.scale(2, x, y); }), onRankZero(1)) << "the outer mode is back";
}

TEST_F(ProgressTest, DeferredReductionsHaveNothingToLookAt) {
  setNonblockingMode(NonblockingMode::Deferred);
  const ProgressScope scope(ProgressMode::Poll);
  EXPECT_EQ(scope.mode(), ProgressMode::None);
  EXPECT_NE(scope.reason().find("deferred"), std::string::npos);
}

TEST_F(ProgressTest, AThreadNeedsMpiForSeveralThreads) {
  const ProgressScope scope(ProgressMode::Thread);
  if (severalThreads()) {
    EXPECT_EQ(scope.mode(), ProgressMode::Thread);
    EXPECT_EQ(scope.reason(), "");
    EXPECT_TRUE(progressThreadRunning());
  } else {
    EXPECT_EQ(scope.mode(), ProgressMode::Poll);
    EXPECT_NE(scope.reason().find("MPI_THREAD_MULTIPLE, the application has initialised MPI with MPI_THREAD_SINGLE"),
              std::string::npos)
        << scope.reason();
    EXPECT_FALSE(progressThreadRunning());
    EXPECT_EQ(looksDuring([this] { kernels.scale(2, x, y); }), onRankZero(1)) << "it polls instead";
  }
}

TEST(SecondThread, LosesMessagesInOpenMpiSixAndLater) {
  const auto loses = detail::losesMessagesOfThreads;
  EXPECT_TRUE(loses("Open MPI v6.0.0rc2, package: Debian OpenMPI, ident: 6.0.0rc2"));
  EXPECT_TRUE(loses("Open MPI v10.1.0a1, package: Open MPI"));
  EXPECT_FALSE(loses("Open MPI v5.0.8, package: Debian OpenMPI, ident: 5.0.8, repo rev: v5.0.8"));
  EXPECT_FALSE(loses("Open MPI v4.1.4, package: Debian OpenMPI"));
  EXPECT_FALSE(loses("MPICH Version:      6.0.1\nMPICH Release date: none"));
  EXPECT_FALSE(loses(""));
}

TEST_F(ProgressTest, WhereMpiLosesMessagesThereIsNoThread) {
  const std::string reason = detail::whyNoSecondThread();
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(library, &length);
  const char* boxes = std::getenv("OMPI_MCA_btl_sm_fbox_max");
  const bool loses = detail::losesMessagesOfThreads(library) && (boxes == nullptr || std::string(boxes) != "0");
  EXPECT_EQ(reason.find("OMPI_MCA_btl_sm_fbox_max=0") != std::string::npos, loses) << reason;
  EXPECT_EQ(reason.empty(), !loses) << reason;
  const ProgressScope scope(ProgressMode::Thread);
  EXPECT_EQ(scope.mode() == ProgressMode::Thread, severalThreads() && !loses) << scope.reason();
  EXPECT_EQ(progressThreadRunning(), severalThreads() && !loses);
  if (loses && severalThreads()) {
    EXPECT_EQ(scope.reason(), reason);
  }
}

TEST_F(ProgressTest, TheThreadCompletesAReductionByItself) {
  if (!severalThreads()) GTEST_SKIP() << "covered by the run with MPI_THREAD_MULTIPLE";
  const ProgressScope scope(ProgressMode::Thread);
  Batch batch(comm);
  const auto slot = batch.value(rank);
  Pending pending = batch.start();
  while (progressPending() > 0) std::this_thread::yield();
  EXPECT_EQ(mpiLooks().here, 0);
  EXPECT_GE(mpiLooks().elsewhere, one);
  pending.wait();
  EXPECT_EQ(batch[slot], size * (size - 1) / 2);
  EXPECT_EQ(looksDuring([this] { kernels.scale(2, x, y); }), 0) << "the solver's thread leaves it to the other";
}

/// Never complete; knows whether it is looked at.
class Endless final : public detail::Watched {
 public:
  bool look() noexcept override {
    ++looks;
    return false;
  }
  std::atomic<long> looks{0};
};

/// Destroyed after main() has finalized MPI: the exit status shows whether that goes well.
std::unique_ptr<AllReduce> beyondFinalize;
double beyondFinalizeData = 1;
Endless endless;

/// After all tests: a handle may outlive MPI, the thread does not.
void leaveReductionsBeyondMpi() {
  const ProgressScope scope(ProgressMode::Thread);
  beyondFinalize = std::make_unique<AllReduce>(world());
  beyondFinalize->start(&beyondFinalizeData, 1);
  while (progressPending() > 0) pollReductions();  // MPI wants nothing under way when it is finalized
  detail::watch(endless);
  EXPECT_EQ(progressPending(), 1);
  EXPECT_EQ(progressThreadRunning(), scope.mode() == ProgressMode::Thread);
  while (endless.looks == 0) pollReductions();
  afterMpiFinalize = [] {
    const long looks = endless.looks;
    pollReductions();
    if (!progressThreadRunning() && progressPending() == 0 && endless.looks == looks) return;
    std::fprintf(stderr, "the progress thread, or its list, has outlived MPI\n");
    std::_Exit(3);
  };
}

class AtTheEnd final : public testing::Environment {
  void TearDown() override { leaveReductionsBeyondMpi(); }
};
[[maybe_unused]] const auto* const atTheEnd = testing::AddGlobalTestEnvironment(new AtTheEnd);

}  // namespace
}  // namespace capstan::test
