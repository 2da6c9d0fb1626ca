/// \file
/// Kernels as tasks: the same bits as without, in their order, with whatever else touches their memory behind them.

#include <chrono>
#include <thread>
#include <vector>

#include "tpetra_ext/kernels/dots.hpp"
#include "tpetra_ext/kernels/host/task_scope.hpp"
#include "tpetra_ext/kernels/orthonormalize.hpp"
#include "tpetra_ext/kernels/sweep_list.hpp"
#include "tpetra_ext/kernels/test/sparse_case.hpp"

namespace capstan::kernels::test {
namespace {

using detail::TaskQueue;

#define CAPSTAN_NEED_TASKS() \
  if (!TaskScope<Exec>::possible()) GTEST_SKIP() << "kernels are Kokkos' here"

/// What a Krylov iteration launches, each kernel with what the ones before it wrote, and all that it leaves.
std::vector<double> iterate(int n, const Threads& threads) {
  constexpr int k = 9, s = 4;
  Queue<Exec>& queue = testQueue();
  const SparseCase<double> sparse(n, n, 5);
  auto Q = TestMatrix<double>::random(n, k, 1);
  auto V = TestMatrix<double>::random(n, s, 2);
  auto W = TestMatrix<double>::random(n, s, 3);
  TestMatrix<double>::Small C("C", k, s), G("G", s, s), S("S", k, k), U("U", s, s), R("R", k, s), none("none", 0, 0);
  for (int j = 0; j < s; ++j) {
    for (int i = 0; i <= j; ++i) U(i, j) = i == j ? 2 + i : 0.125 * (i - j);
    for (int i = 0; i < k; ++i) R(i, j) = 0.01 * (i + 1) * (j - 2);
  }
  const Line<double> packed("packed", static_cast<std::size_t>(n) * s), nothing;
  Kokkos::View<double*, PinnedSpace<Exec>> results("results", 3);
  Kokkos::View<double, PinnedSpace<Exec>> total("total");
  double largest = 0;
  {
    const TaskScope<Exec> scope(threads);
    for (int turn = 0; turn < 3; ++turn) {
      packRows(queue, V.view(), packed);
      multiplyRows(queue, sparse.matrix(), 0, n, 0.02, packed, nothing, 0.5, W.view());
      const auto ordered = detail::combineRef<Exec>(axpby(0.5, V.column(1), 0.25, W.column(0)), n);
      multiplyRows(queue, sparse.matrix(), 0, n, 0.02, V.column(0), nothing, 0.0, W.view(0, 1), &ordered);
      updateFrom(queue, W.view(), Q.view(), R, V.view());
      innerProducts(queue, Q.view(), V.view(), C);
      symmetricProducts(queue, V.view(), V.view(), G);
      trailingGram(queue, Q.view(), 0, S);
      triangularSolve(queue, V.view(), U);
      SweepList<double> list;
      for (int j = 1; j < s; ++j) list.add<Exec>(n, 0.5, V.column(j), -0.25, W.column(j), W.column(j));
      sweep(queue, n, list);
      sweep(queue, n, axpy(0.75, W.column(1), V.column(0)), scale(0.5, V.column(0), V.column(2)));
      dots(queue,
           {std::pair(V.column(0), W.column(1)), std::pair(V.column(0), V.column(0)),
            std::pair(W.column(2), V.column(3))},
           results);
      sum(queue, V.column(1), total);
      updateAndGram(queue, Q.view(), R, V.view(), G);
      orthonormalize(queue, Q.view(), W.view(0, 0), none, V.view(), R, U);
    }
    largest = magnitudes(queue, V.column(0));
    fence(queue);
  }
  std::vector<double> left{results(0), results(1), results(2), total(), largest};
  const auto add = [&left](const auto& small) { left.insert(left.end(), small.data(), small.data() + small.span()); };
  add(C);
  add(G);
  add(S);
  V.pull();
  W.pull();
  for (int j = 0; j < s; ++j) {
    for (int i = 0; i < n; ++i) {
      left.push_back(V(i, j));
      left.push_back(W(i, j));
    }
  }
  return left;
}

TEST(Tasks, HaveTheSameBitsForAnyNumberOfThreads) {
  CAPSTAN_NEED_TASKS();
  for (const int n : {0, 1, 700, 2 * 2048 - 1, 5 * 2048 + 17, 40000}) {
    const std::vector<double> expected = iterate(n, {});
    for (const Threads threads : {Threads{2, true}, Threads{3, true}, Threads{2, false}, Threads{1, true}}) {
      const std::vector<double> found = iterate(n, threads);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i], expected[i]) << n << " rows, " << threads.count << " threads, number " << i;
      }
    }
  }
}

TEST(Tasks, KeepTheirOrderWhereMoreAreLaunchedThanTheQueueHolds) {
  CAPSTAN_NEED_TASKS();
  Queue<Exec>& queue = testQueue();
  const int n = 100, count = 3000;
  auto v = TestMatrix<double>::random(n, 2, 1);
  Kokkos::deep_copy(v.column(1), 0);
  const TaskScope<Exec> scope({3, true});
  const auto before = TaskQueue::instance().kernels();
  for (int k = 0; k < count; ++k) sweep(queue, n, axpby(1.0, v.column(0), -1.0, v.column(1)));
  EXPECT_EQ(TaskQueue::instance().kernels() - before, static_cast<std::uint64_t>(count)) << "all went by the queue";
  fence(queue);
  v.pull();
  for (int i = 0; i < n; ++i) ASSERT_EQ(v(i, 1), 0) << i;
}

TEST(Tasks, AreSharedByThreads) {
  CAPSTAN_NEED_TASKS();
  Queue<Exec>& queue = testQueue();
  const int n = 1 << 17;
  const auto v = TestMatrix<double>::random(n, 2, 1);
  const TaskScope<Exec> scope({2, true});
  const auto before = TaskQueue::instance().tilesOfWorkers();
  // The other thread comes when the system lets it.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (TaskQueue::instance().tilesOfWorkers() == before && std::chrono::steady_clock::now() < deadline) {
    for (int k = 0; k < 20; ++k) sweep(queue, n, axpby(1.0, v.column(0), -1.0, v.column(1)));
    fence(queue);
  }
  EXPECT_GT(TaskQueue::instance().tilesOfWorkers(), before);
}

TEST(Tasks, RunWhileWhoeverLaunchedThemDoesSomethingElse) {
  CAPSTAN_NEED_TASKS();
  Queue<Exec>& queue = testQueue();
  const auto v = TestMatrix<double>::random(64, 2, 1);
  Kokkos::View<double*, PinnedSpace<Exec>> result("result", 1);
  const TaskScope<Exec> scope({2, true});
  auto* const seen = reinterpret_cast<volatile double*>(result.data());
  const double expected = [&] {
    dots(queue, {std::pair(v.column(0), v.column(1))}, result);
    fence(queue);
    return result(0);
  }();
  // Without a fence: by the queue's own count of what is done.
  *seen = 0;
  const auto before = TaskQueue::instance().done();
  dots(queue, {std::pair(v.column(0), v.column(1))}, result);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (TaskQueue::instance().done() == before && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_EQ(TaskQueue::instance().done(), before + 1);
  EXPECT_EQ(*seen, expected);
}

struct Copy {
  Kokkos::View<double*, Exec> from, to;
  KOKKOS_FUNCTION void operator()(const std::ptrdiff_t i) const { to(i) = from(i); }
};

TEST(Tasks, ComeBeforeKernelsCopiesAndFreesOfOthers) {
  CAPSTAN_NEED_TASKS();
  Queue<Exec>& queue = testQueue();
  const int n = 1 << 16;
  const auto v = TestMatrix<double>::random(n, 1, 1);
  const Kokkos::View<double*, Exec> w("w", n), copy("copy", n);
  const TaskScope<Exec> scope({2, true});
  for (int turn = 0; turn < 50; ++turn) {
    {
      const Kokkos::View<double*, Exec> x("x", n);  // freed while kernels still read it
      sweep(queue, n, scale(2.0, v.column(0), x), scale(1.0 + turn, x, w));
    }
    if (turn % 2 == 0) {
      Kokkos::deep_copy(copy, w);
    } else {
      Kokkos::parallel_for("another's", Range<Exec>(queue.instance(), 0, n), Copy{w, copy});
    }
    fence(queue);
    const auto values = Kokkos::create_mirror_view(copy);
    Kokkos::deep_copy(values, copy);
    for (const int i : {0, n / 2, n - 1}) ASSERT_EQ(values(i), (1.0 + turn) * 2 * v(i, 0)) << turn;
  }
}

TEST(Tasks, ScopesNest) {
  CAPSTAN_NEED_TASKS();
  const auto now = [] { return detail::tilesShared ? TaskQueue::instance().threads() : 1; };
  {
    const TaskScope<Exec> outer({2, true});
    EXPECT_EQ(now(), 2);
    {
      const TaskScope<Exec> inner({1, true});
      EXPECT_EQ(now(), 1);
      EXPECT_EQ(TaskQueue::instance().threads(), 2) << "they are kept";
    }
    EXPECT_EQ(now(), 2);
    EXPECT_TRUE(detail::tasksRun);
    {
      const TaskScope<Exec> inner({3, false});
      EXPECT_EQ(now(), 3);
      EXPECT_FALSE(detail::tasksRun);
    }
    EXPECT_EQ(now(), 2);
    EXPECT_TRUE(detail::tasksRun);
  }
  EXPECT_EQ(now(), 1);
}

TEST(Tasks, AreDoneWhenTheScopeEnds) {
  CAPSTAN_NEED_TASKS();
  Queue<Exec>& queue = testQueue();
  const int n = 1 << 16;
  auto v = TestMatrix<double>::random(n, 2, 1);
  {
    const TaskScope<Exec> scope({2, true});
    for (int k = 0; k < 11; ++k) sweep(queue, n, axpby(1.0, v.column(0), -1.0, v.column(1)));
  }
  EXPECT_EQ(TaskQueue::instance().done(), TaskQueue::instance().kernels());
}

}  // namespace
}  // namespace capstan::kernels::test
