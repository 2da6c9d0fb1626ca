// Who looks at pending reductions, and when. Run twice: with MPI for one thread and for several.

#include "tpetra_ext/reductions/progress.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <Tpetra_Operator.hpp>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tpetra_ext/operators/block_kernels.hpp"
#include "tpetra_ext/operators/preconditioned_operator.hpp"
#include "tpetra_ext/reductions/reduction_batch.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/test/support/vectors.hpp"

namespace capstan::test {
namespace {

using Batch = ReductionBatch<Types>;
using Pending = PendingReduction<Types>;

bool severalThreads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

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

class ProgressTest : public testing::Test {
 protected:
  const CommPtr comm = world();
  const int rank = comm->getRank();
  const int size = comm->getSize();
  /// 1 where a reduction takes part in this test, 0 on one rank, where none is sent.
  const long one = size > 1 ? 1 : 0;
  const MapPtr map = mapOfLocal(100);
  const MultiVector x = filled(map, 1, 1);
  MultiVector y{map, 1};
  BlockKernels<Types> kernels;

  void SetUp() override {
    resetMpiCalls();
    mpiLooks().here = mpiLooks().elsewhere = 0;
  }
  void TearDown() override {
    EXPECT_EQ(progressPending(), 0);
    setNonblockingMode(NonblockingMode::Native);
    mpiFaults() = MpiFaults();
  }

  /// Looks of this thread while rank 0 does `work` with a reduction in flight: the other ranks join it afterwards, so
  /// it cannot complete before. 0 on the others.
  template <class Work>
  long looksDuring(const Work& work) {
    Batch batch(comm);
    const auto slot = batch.value(1);
    if (rank != 0) MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Pending pending = batch.start();
    const long before = mpiLooks().here;
    if (rank == 0) work();
    const long looks = mpiLooks().here - before;
    for (int to = 1; rank == 0 && to < size; ++to) MPI_Send(nullptr, 0, MPI_INT, to, 0, MPI_COMM_WORLD);
    pending.wait();
    EXPECT_EQ(batch[slot], size);
    return looks;
  }
  /// The count expected of looksDuring().
  long onRankZero(long looks) const { return rank == 0 ? looks * one : 0; }
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

/// The rest holds in every mode.
class EveryMode : public ProgressTest, public testing::WithParamInterface<ProgressMode> {
 protected:
  const ProgressScope scope{GetParam()};
};

TEST_P(EveryMode, ManyReductionsOverSeveralCommunicatorsInAnyOrder) {
  std::vector<CommPtr> comms;
  for (int k = 0; k < 4; ++k) comms.push_back(comm->duplicate());
  std::vector<Batch> batches;
  std::vector<Batch::Slot> slots;
  std::vector<Pending> pending;
  for (int k = 0; k < 200; ++k) {
    batches.emplace_back(comms[static_cast<std::size_t>(k % 4)]);
    slots.push_back(batches.back().value(k * (rank + 1)));
    pending.push_back(batches.back().start());
    if (k % 10 == 0) kernels.scale(2, x, y);
  }
  for (std::size_t k = 0; k < pending.size(); ++k) {
    const std::size_t at = (k * 77) % pending.size();
    if (k % 3 == 0) {
      while (!pending[at].test()) {
      }
    }
    pending[at].wait();
    EXPECT_EQ(batches[at][slots[at]], static_cast<double>(at) * size * (size + 1) / 2);
  }
}

TEST_P(EveryMode, UnwindingLeavesNothingBehind) {
  for (int round = 0; round < 20; ++round) {
    const auto fail = [this] {
      Batch first(comm), second(comm);
      first.value(1);
      second.value(2);
      const Pending a = first.start(), b = second.start();
      kernels.scale(2, x, y);
      throw std::runtime_error("the application's operator failed");
    };
    EXPECT_THROW(fail(), std::runtime_error);
    EXPECT_EQ(progressPending(), 0);
  }
  EXPECT_EQ(mpiCalls().waits, 40 * one);
}

TEST_P(EveryMode, ErrorsOfMpiAreThrownByWaitAndLaterReductionsWork) {
  if (size == 1) GTEST_SKIP() << "no message, no error";
  Batch batch(comm), other(comm);
  for (int* fault : {&mpiFaults().iallreduce, &mpiFaults().wait}) {
    batch.clear();
    other.clear();
    batch.value(1);
    const auto slot = other.value(1);
    *fault = MPI_ERR_OTHER;
    Pending failing = batch.start();
    Pending next = other.start();
    kernels.scale(2, x, y);
    EXPECT_THROW(failing.wait(), std::runtime_error);
    next.wait();
    EXPECT_EQ(other[slot], size);
    EXPECT_EQ(mpiFaults().iallreduce + mpiFaults().wait, 2 * MPI_SUCCESS);
  }
}

TEST_P(EveryMode, AfterAnErrorDestructorsDoNotWaitForEver) {
  if (size == 1) GTEST_SKIP() << "no message, no error";
  Batch first(comm), next(comm);
  first.value(1);
  next.value(1);
  if (rank == 0) mpiFaults().wait = MPI_ERR_OTHER;
  Pending failing = first.start();
  if (rank == 0) {
    EXPECT_THROW(failing.wait(), std::runtime_error);
    { const Pending dropped = next.start(); }  // the others have not begun, and do not until this is over
    next.clear();
    next.value(1);
    EXPECT_THROW(next.start(), std::runtime_error) << "MPI still owns its buffer";
    EXPECT_EQ(progressPending(), 0);
    for (int to = 1; to < size; ++to) MPI_Send(nullptr, 0, MPI_INT, to, 0, MPI_COMM_WORLD);
  } else {
    failing.wait();
    MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Pending late = next.start();
    late.wait();
  }
  Batch after(comm);
  const auto slot = after.value(1);
  after.reduce();
  EXPECT_EQ(after[slot], size);
}

TEST_P(EveryMode, SameSumsToTheLastBit) {
  const MapPtr longMap = mapOfLocal(static_cast<std::size_t>(50000 + 1000 * rank));
  MultiVector v(longMap, 3), sum(longMap, 1);
  const auto run = [&](ProgressMode mode) {
    const ProgressScope chosen(mode);
    std::vector<Scalar> results;
    for (std::size_t i = 0; i < v.getLocalLength(); ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        v.replaceLocalValue(static_cast<int>(i), j, std::sin(static_cast<double>(1 + i * (j + 1)) + rank));
      }
    }
    Batch pendingBatch(comm), batch(comm);
    pendingBatch.value(1);
    Pending pending = pendingBatch.start();
    kernels.axpby(0.1, *v.getVector(0), 0.3, *v.getVectorNonConst(1));
    const auto gram = batch.innerProducts(v, v);
    const auto dot = batch.dot(*v.getVector(0), *v.getVector(2));
    batch.reduce();
    pending.wait();
    for (std::size_t i = 0; i < 3; ++i) results.push_back(batch.view(gram)(i, 1));
    results.push_back(batch[dot]);
    return results;
  };
  EXPECT_EQ(run(ProgressMode::None), run(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Modes, EveryMode,
                         testing::Values(ProgressMode::None, ProgressMode::Poll, ProgressMode::Thread),
                         [](const auto& mode) { return toString(mode.param); });

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
  EXPECT_EQ(progressThreadRunning(), severalThreads());
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
const auto* const atTheEnd = testing::AddGlobalTestEnvironment(new AtTheEnd);

}  // namespace
}  // namespace capstan::test
