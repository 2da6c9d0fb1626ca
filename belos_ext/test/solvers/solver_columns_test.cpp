/// \file
/// What right-hand sides that advance together take: memory that grows with their number, and no more stack than one
/// alone leaves the application's operators.

#include <cstddef>
#include <limits>
#include <vector>

#include "belos_ext/test/solvers/solver_suite.hpp"
#include "tpetra_ext/test/support/counted_allocations.hpp"

namespace capstan::testing {
namespace {

class Columns : public EverySolver {};

/// Touches 4 MiB of the stack, as local arrays or a deep recursion do, from the top down as a stack grows.
__attribute__((noinline)) char useStack() {
  volatile char frame[std::size_t(4) << 20];
  for (std::size_t k = sizeof(frame); k > 4096; k -= 4096) frame[k - 1] = 1;
  return frame[sizeof(frame) - 1];
}

/// An application's operator that needs so much.
RCP<const Operator> hungry(const RCP<const Operator>& inner, int& uses) {
  return rcp(new FunctionOperator(inner->getDomainMap(), [inner, &uses](const MultiVector& in, MultiVector& out) {
    uses += useStack();
    inner->apply(in, out);
  }));
}

/// A test of the application's that needs so much, and always passes.
class HungryTest final : public Belos::StatusTest<Scalar, MultiVector, Operator> {
 public:
  Belos::StatusType checkStatus(Belos::Iteration<Scalar, MultiVector, Operator>*) override {
    uses += useStack();
    return Belos::Passed;
  }
  Belos::StatusType getStatus() const override { return Belos::Passed; }
  void reset() override {}
  void print(std::ostream&, int) const override {}

  int uses = 0;
};

TEST_P(Columns, LeaveOperatorsTheStackOfTheCaller) {
  for (const Side side : {Side::None, Side::Left, Side::Right}) {
    SCOPED_TRACE(toString(side));
    System system = systemWithRightHandSide(grid2d(12, 12), wave, 3);
    int products = 0, corrections = 0;
    system.a = hungry(system.a, products);
    system.preconditioner = hungry(system.preconditioner, corrections);
    const auto test = rcp(new HungryTest);
    const auto solver = solverOf(GetParam());
    solver->setUserConvStatusTest(test, Belos::StatusTestCombo<Scalar, MultiVector, Operator>::AND);
    EXPECT_TRUE(solve(*solver, system, side).converged);
    EXPECT_GT(products, 0);
    EXPECT_EQ(corrections > 0, side != Side::None);
    EXPECT_GT(test->uses, 0);
  }
}

// M may read what it is to write: times zero that must not be NaN.
TEST_P(Columns, GivePreconditionersMemoryThatIsInitialised) {
  for (const std::size_t columns : {std::size_t(1), std::size_t(3)}) {
    SCOPED_TRACE(std::to_string(columns) + " columns");
    System system = systemWithRightHandSide(grid2d(12, 12), wave, columns);
    const auto inner = system.preconditioner;
    system.preconditioner =
        rcp(new FunctionOperator(system.b->getMap(), [inner](const MultiVector& in, MultiVector& out) {
          MultiVector before(out, Teuchos::Copy), zero(out.getMap(), 1);
          inner->apply(in, out);
          for (std::size_t c = 0; c < out.getNumVectors(); ++c) {
            out.getVectorNonConst(c)->elementWiseMultiply(1, *zero.getVector(0), *before.getVector(c), 1);
          }
        }));
    {
      // What the solve allocates: vectors, blocks of them, and bases.
      std::vector<RCP<MultiVector>> freed;
      for (const std::size_t width : {1, 3, 31, 51, 101}) {
        for (int k = 0; k < (width > 3 ? 10 : 200); ++k) {
          freed.push_back(rcp(new MultiVector(system.b->getMap(), width)));
          freed.back()->putScalar(std::numeric_limits<double>::quiet_NaN());
        }
      }
    }
    for (const Side side : {Side::Left, Side::Right}) {
      system.x->putScalar(0);
      EXPECT_TRUE(solve(GetParam(), Params(), system, side).converged) << toString(side);
    }
  }
}

/// Right-hand side c has c + 1 eigenvectors, so that they end one after the other, and every number of them acts.
System endingInTurn(std::size_t count) {
  const GO n = 2000;
  System system =
      systemWithRightHandSide(diagonal([](GO g) { return 1 + static_cast<Scalar>(g % 50); }, n), wave, count);
  for (std::size_t c = 0; c < count; ++c) {
    const auto part = [c](GO g) { return static_cast<std::size_t>(g % 50) <= c ? 1.0 : 0.0; };
    Tpetra::deep_copy(*system.b->getVectorNonConst(c), *vectorFrom(system.b->getMap(), part));
  }
  system.preconditioner = rcp(
      new FunctionOperator(system.b->getMap(), [](const MultiVector& in, MultiVector& out) { out.update(1, in, 0); }));
  return rowsHidden(system);
}

/// Vectors, or as much as so many take, that a solver holds after it has solved.
double vectorsHeld(const MethodTraits& method, std::size_t count) {
  Params p;
  p.set("State Cache", false);
  const System system = endingInTurn(count);
  const long before = test::viewBytes();
  const auto solver = solverOf(method, p);
  EXPECT_TRUE(solve(*solver, system, Side::Right).converged);
  const double bytes = static_cast<double>(test::viewBytes() - before);
  return bytes / static_cast<double>(sizeof(Scalar) * compat::localNumElements(*system.b->getMap()));
}

// Blocks of every number that acted together were kept: k right-hand sides took k^2 vectors.
TEST_P(Columns, MemoryGrowsWithTheirNumber) {
  test::viewBytes();  // counts from now on
  const double eight = vectorsHeld(GetParam(), 8), sixteen = vectorsHeld(GetParam(), 16),
               thirtyTwo = vectorsHeld(GetParam(), 32);
  if (rank() == 0) {
    std::cout << GetParam().canonical << ": vectors of 8, 16, 32 right-hand sides: " << eight << ", " << sixteen << ", "
              << thirtyTwo << '\n';
  }
  EXPECT_GT(eight, 8);
  EXPECT_LE(thirtyTwo - sixteen, 2.3 * (sixteen - eight));
}

CAPSTAN_FOR_EVERY_SOLVER(Columns);

}  // namespace
}  // namespace capstan::testing
