/// \file
/// What of a vector passes between host and device in a solve, counted by Kokkos' hooks: nothing in an iteration.
///
/// Where host and device are one, no copy between them exists; there a copy of any kind is counted.

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

#include "belos_ext/parameters/solver_options.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {
namespace {

// Kokkos keeps one callback for the process, so what it counts is here.
struct Traffic {
  bool counting = false;
  std::uint64_t least = 0;  ///< bytes
  long copies = 0;          ///< of so many bytes at least
  long hostAccesses = 0;    ///< vectors that Tpetra brings to the host, or takes for changed there
  std::string what;
} traffic;

/// Not in what belongs to the application: A and M.
struct Uncounted {
  Uncounted() { traffic.counting = false; }
  ~Uncounted() { traffic.counting = before; }
  bool before = traffic.counting;
};

void noteCopy(Kokkos::Profiling::SpaceHandle to, const char* toLabel, const void*, Kokkos::Profiling::SpaceHandle from,
              const char* fromLabel, const void*, std::uint64_t bytes) {
  if (!traffic.counting || bytes < traffic.least) return;
  // A number that fills a view: the kernel has it as an argument. Tpetra fills its vectors so since Trilinos 17.
  if (std::string(fromLabel) == "(none)") return;
  ++traffic.copies;
  traffic.what += std::string(from.name) + " " + fromLabel + " to " + to.name + " " + toLabel + "\n";
}

void noteAccess(const char* label, const void*, bool onDevice) {
  if (!traffic.counting || onDevice) return;
  ++traffic.hostAccesses;
  traffic.what += std::string("on the host: ") + label + "\n";
}

class Hooks {
 public:
  Hooks() {
    Kokkos::Tools::Experimental::set_begin_deep_copy_callback(noteCopy);
    Kokkos::Tools::Experimental::set_dual_view_sync_callback(noteAccess);
    Kokkos::Tools::Experimental::set_dual_view_modify_callback(noteAccess);
  }
  ~Hooks() {
    Kokkos::Tools::Experimental::set_begin_deep_copy_callback(nullptr);
    Kokkos::Tools::Experimental::set_dual_view_sync_callback(nullptr);
    Kokkos::Tools::Experimental::set_dual_view_modify_callback(nullptr);
    traffic = Traffic{};
  }
};

RCP<const Operator> uncounted(const RCP<const Operator>& inner) {
  return rcp(new FunctionOperator(inner->getDomainMap(), [inner](const MultiVector& in, MultiVector& out) {
    const Uncounted application;
    inner->apply(in, out);
  }));
}

/// What a solve of so many iterations, all in one cycle, copies.
Traffic trafficOf(int iterations, const MethodTraits& method, Side side, const System& system, Params p = {}) {
  p.set("Maximum Iterations", iterations);
  p.set("Convergence Tolerance", 1e-14);
  p.set("State Cache", false);
  if (isGmres(method)) p.set("Num Blocks", 60);
  if (getsStepSize(method)) p.set("Step Size", 4);
  const auto solver = solverOf(method, p);
  system.x->putScalar(0);
  traffic = Traffic{};
  traffic.least = system.b->getLocalLength() * sizeof(Scalar);
  System counted = system;
  counted.arm = [] { traffic.counting = true; };
  const Outcome outcome = solve(*solver, counted, side);
  traffic.counting = false;
  EXPECT_EQ(outcome.iterations, iterations);
  return traffic;
}

class HostAccess : public EverySolver {
 protected:
  HostAccess() : system_(systemWithRightHandSide(grid2d(40, 40))) {
    system_.a = uncounted(system_.a);
    system_.preconditioner = uncounted(system_.preconditioner);
  }

  void expectNoneInIterations(Side side, const Params& p = {}) {
    const Hooks hooks;
    const Traffic few = trafficOf(16, GetParam(), side, system_, p);
    const Traffic more = trafficOf(32, GetParam(), side, system_, p);
    EXPECT_EQ(more.copies - few.copies, 0) << more.what;
    EXPECT_EQ(more.hostAccesses - few.hostAccesses, 0) << more.what;
  }

  System system_;
};

TEST_P(HostAccess, IterationsCopyNoVectors) {
  for (const Side side : {Side::None, Side::Left, Side::Right}) {
    SCOPED_TRACE(toString(side));
    expectNoneInIterations(side);
  }
}

TEST_P(HostAccess, OrthogonalizationsCopyNoVectors) {
  if (!isGmres(GetParam())) GTEST_SKIP() << "not a parameter of " << GetParam().canonical;
  for (const char* scheme : wordsOf(BlockOrthogonalization())) {
    if (!takesOrthogonalization(GetParam(), scheme)) continue;
    SCOPED_TRACE(scheme);
    Params p;
    p.set("Block Orthogonalization", scheme);
    expectNoneInIterations(Side::None, p);
  }
}

CAPSTAN_FOR_EVERY_SOLVER(HostAccess);

TEST(HostAccessHooks, SeeACopyAndWhatTheHostReads) {
  const System system = systemWithRightHandSide(grid2d(8, 8));
  const Hooks hooks;
  const auto copy = [&system] {
    const auto from = system.b->getLocalViewDevice(Tpetra::Access::ReadOnly);
    Kokkos::deep_copy(Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::HostSpace>("host", from.extent(0), 1), from);
  };
  copy();
  EXPECT_EQ(traffic.copies, 0) << "nothing is counted yet";
  traffic.counting = true;
  copy();
  EXPECT_EQ(traffic.copies, 1);
  system.x->putScalar(1);  // on the device
  const auto read = system.x->getLocalViewHost(Tpetra::Access::ReadOnly);
  const bool apart = !std::is_same<typename MultiVector::dual_view_type::t_dev::device_type,
                                   typename MultiVector::dual_view_type::t_host::device_type>::value;
  EXPECT_EQ(traffic.hostAccesses > 0, apart);
}

}  // namespace
}  // namespace capstan::testing
