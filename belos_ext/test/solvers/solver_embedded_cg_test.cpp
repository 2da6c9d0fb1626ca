/// \file
/// Embedded CG: CG's iterates, no message but those of the hypercube, whatever couples the ranks, and what is left of
/// it where a preconditioner or an operator does not let it be.

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "belos_ext/report/report_io.hpp"
#include "belos_ext/test/solvers/communication_suite.hpp"
#include "belos_ext/test/solvers/textbook_cg.hpp"
#include "tpetra_ext/operators/explicit_preconditioner.hpp"
#include "tpetra_ext/test/support/counted_mpi.hpp"
#include "tpetra_ext/topology/hypercube/hypercube.hpp"

#ifdef CAPSTAN_TEST_IFPACK2
#include <Ifpack2_Factory.hpp>
#endif

namespace capstan::testing {
namespace {

Params limited(int iterations) {
  Params p;
  p.set("Convergence Tolerance", 0.0);
  p.set("Maximum Iterations", iterations);
  return p;
}

Outcome solveEmbedded(const Params& p, const System& system, Side side = Side::None) {
  return solve(methodOf(id::EmbeddedCg), p, system, side);
}

/// A five-point stencil, a row and a column that couple all ranks, and rows that are coupled far away.
RCP<CrsMatrix> widelyCoupled(GO n) {
  return matrixFrom(
      evenMap(n),
      [n](GO g) {
        std::vector<Entry> row{{g, 8.0 + (g == 0 ? 0.01 * static_cast<double>(n) : 0.0)}};
        const auto add = [&row](GO column, Scalar value) { row.push_back({column, value}); };
        if (g > 1) add(g - 1, -1);
        if (g > 0 && g + 1 < n) add(g + 1, -1);
        const GO far = (g + n / 2) % n;
        if (n % 2 == 0 && far != g && far != 0 && g != 0 && std::abs(far - g) > 1) add(far, -0.5);
        if (g == 0) {
          for (GO j = 1; j < n; ++j) add(j, -0.01);
        } else {
          add(0, -0.01);
        }
        return row;
      },
      static_cast<size_t>(n));
}

class EmbeddedCgTest : public ::testing::Test {
  PlansForgotten plans_;
};

TEST_F(EmbeddedCgTest, TakesHestenesAndStiefelsSteps) {
  for (const auto& a : {grid2d(20, 20), widelyCoupled(240)}) {
    for (const Side side : {Side::None, Side::Left, Side::Right}) {
      for (const int iterations : {1, 2, 5, 10, 20}) {
        const System system = systemWithRightHandSide(a);
        const Outcome outcome = solveEmbedded(limited(iterations), system, side);
        ASSERT_EQ(outcome.iterations, iterations);
        const auto expected =
            textbook(*a, side == Side::None ? nullptr : system.preconditioner.get(), *system.b, iterations);
        const double size = norms(*expected)[0];
        expected->update(-1, *system.x, 1);
        EXPECT_LE(norms(*expected)[0], 1e-10 * size) << iterations << ' ' << toString(side);
        expectSameOnAllRanks(outcome);
      }
    }
  }
}

/// What this rank has sent in a solve that ends after so many iterations.
struct Sent {
  long messages = 0, collectives = 0, carried = 0;
};

Sent sentBy(int iterations, const RCP<CrsMatrix>& a, Side side, const RCP<const Operator>& m = Teuchos::null) {
  const auto solver = solverOf(methodOf(id::EmbeddedCg), limited(iterations));
  System system = systemWithRightHandSide(a);
  if (!m.is_null()) system.preconditioner = m;
  EXPECT_EQ(solve(*solver, system, side).iterations, iterations);  // makes the plan
  system.x->putScalar(0);
  system.arm = [] {
    test::resetMpiCalls();
    test::sentMessages() = {true, {}};
  };
  const Outcome outcome = solve(*solver, system, side);
  test::sentMessages().wanted = false;
  const test::MpiCalls calls = test::mpiCalls();
  EXPECT_EQ(outcome.iterations, iterations);
  EXPECT_TRUE(outcome.report.communication.fromEarlier);
  return {static_cast<long>(test::sentMessages().list.size()),
          calls.allreduce + calls.iallreduce + calls.otherCollectives,
          outcome.report.communication.embedded.reductions};
}

/// A mapping decides who is folded: one message or, with a folded rank to serve, one more than the dimensions.
void expectHypercubesMessages(long messages, long iterations) {
  const int dimensions = topology::hypercubeDimensions(ranks()), corners = 1 << dimensions;
  const long each = messages / iterations;
  EXPECT_EQ(messages % iterations, 0);
  EXPECT_TRUE(each == dimensions || (ranks() > corners && (each == 1 || each == dimensions + 1))) << each;
}

// Counted from the calls of MPI: beside the hypercube's an iteration has none, and no collective call.
TEST_F(EmbeddedCgTest, SendsNothingButTheHypercubesMessages) {
  for (const auto& a : {grid2d(20, 20), widelyCoupled(240)}) {
    for (const Side side : {Side::None, Side::Right}) {
      const Sent few = sentBy(12, a, side), more = sentBy(19, a, side);
      EXPECT_EQ(more.collectives, few.collectives);
      if (ranks() == 1) continue;
      EXPECT_EQ(more.carried - few.carried, 7);
      expectHypercubesMessages(more.messages - few.messages, 7);
    }
  }
}

TEST_F(EmbeddedCgTest, ReportsWhatItSaves) {
  const System system = systemWithRightHandSide(widelyCoupled(240));
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solveEmbedded(Params(), system, Side::Right);
  EXPECT_TRUE(outcome.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  const EmbeddedReport& e = outcome.report.communication.embedded;
  EXPECT_TRUE(e.used);
  EXPECT_EQ(e.mapping, "klr");
  EXPECT_EQ(e.neighbours, ranks() - 1) << "the first row needs all of all";
  EXPECT_GE(e.values, ranks() == 1 ? 0 : e.halo);
  if (ranks() > 1) {
    EXPECT_EQ(e.reductions, outcome.iterations);  // z and p once, t in each but the last
    EXPECT_EQ(e.columns, e.reductions + 1);
    EXPECT_LE(e.messages, topology::hypercubeDimensions(ranks()) + 1);
  }
}

TEST_F(EmbeddedCgTest, HasCgsIterationsOnAnyDistribution) {
  const auto a = [](const RCP<const Map>& map) { return grid2d(24, 24, 0, map); };
  const auto maps = {evenMap(576), lastRankMap(576)};
  for (const RCP<const Map>& map : maps) {
    for (const Side side : {Side::None, Side::Right}) {
      const Outcome classical = solve(methodOf(id::Cg), Params(), systemWithRightHandSide(a(map)), side);
      const Outcome embedded = solveEmbedded(Params(), systemWithRightHandSide(a(map)), side);
      EXPECT_TRUE(embedded.converged);
      EXPECT_NEAR(embedded.iterations, classical.iterations, 1);
      EXPECT_TRUE(embedded.report.communication.embedded.used);
    }
  }
}

TEST_F(EmbeddedCgTest, CarriesSeveralRightHandSidesTogether) {
  const System system = systemWithRightHandSide(widelyCoupled(240), wave, 3);
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solveEmbedded(Params(), system, Side::Right);
  EXPECT_TRUE(outcome.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  if (ranks() == 1) return;
  const EmbeddedReport& e = outcome.report.communication.embedded;
  EXPECT_LE(e.reductions, outcome.iterations + 1) << "the right-hand sides share them";
  EXPECT_GT(e.columns, 2 * e.reductions);
}

// Renewing z = M^{-1} r after 100 iterations replaces z and p: both travel again.
TEST_F(EmbeddedCgTest, GoesOnWhereZIsRenewed) {
  const auto a = grid2d(90, 90);
  const System system = systemWithRightHandSide(a);
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solveEmbedded(Params(), system, Side::Right);
  EXPECT_TRUE(outcome.converged);
  EXPECT_GT(outcome.iterations, 101);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  if (ranks() == 1) return;
  EXPECT_EQ(outcome.report.communication.embedded.reductions, outcome.iterations + 1);
}

TEST_F(EmbeddedCgTest, TakesConstantsOut) {
  const auto a = neumannGrid(30, 30);
  const System system = systemWithSolution(a);
  Params p;
  p.set("Null Space", "constant");
  const auto guess = copyOf(*system.x);
  const Outcome classical = solve(methodOf(id::Cg), p, systemWithSolution(a), Side::Right);
  const Outcome outcome = solveEmbedded(p, system, Side::Right);
  EXPECT_TRUE(outcome.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_NEAR(outcome.iterations, classical.iterations, 2);
}

void addToDiagonal(CrsMatrix& a, Scalar value) {
  a.resumeFill();
  for (const GO g : compat::localElementList(*a.getRowMap())) {
    a.sumIntoGlobalValues(g, Teuchos::tuple<GO>(g)(), Teuchos::tuple<Scalar>(value)());
  }
  a.fillComplete(a.getDomainMap(), a.getRangeMap());
}

/// (2 I - D^{-1} A) D^{-1}: two terms of Neumann's series, as one stage or as the matrix that it is.
RCP<const Operator> neumann(const RCP<CrsMatrix>& a, bool asMatrix) {
  const auto inverse = rcp(new Types::Vector(a->getRowMap()));
  a->getLocalDiagCopy(*inverse);
  inverse->reciprocal(*inverse);
  const auto scaled = rcp(new CrsMatrix(*a, Teuchos::Copy));
  scaled->leftScale(*inverse);
  if (asMatrix) {
    scaled->rightScale(*inverse);
    scaled->resumeFill();
    scaled->scale(-1);
    const auto map = scaled->getRowMap();
    const auto values = inverse->getData();
    for (const GO g : compat::localElementList(*map)) {
      const Scalar twice = 2 * values[map->getLocalElement(g)];
      scaled->sumIntoGlobalValues(g, Teuchos::tuple<GO>(g)(), Teuchos::tuple<Scalar>(twice)());
    }
    scaled->fillComplete(a->getDomainMap(), a->getRangeMap());
    return scaled;
  }
  return rcp(new ExplicitPreconditioner<Types>("neumann", a->getRowMap(), inverse, 1, {{scaled, -1, 2, 0}}));
}

TEST_F(EmbeddedCgTest, EmbedsAnExplicitPreconditionerToo) {
  for (const auto& a : {grid2d(20, 20), widelyCoupled(240)}) {
    for (const bool asMatrix : {false, true}) {
      for (const Side side : {Side::Left, Side::Right}) {
        System system = systemWithRightHandSide(a);
        system.preconditioner = neumann(a, asMatrix);
        const Outcome outcome = solveEmbedded(limited(20), system, side);
        const auto expected = textbook(*a, system.preconditioner.get(), *system.b, 20);
        const double size = norms(*expected)[0];
        expected->update(-1, *system.x, 1);
        EXPECT_LE(norms(*expected)[0], 1e-10 * size) << toString(side);
        EXPECT_TRUE(outcome.report.communication.embedded.preconditioner);
        expectSameOnAllRanks(outcome);
      }
    }
  }
}

TEST_F(EmbeddedCgTest, SendsNothingElseForAnExplicitPreconditioner) {
  const auto a = grid2d(20, 20);  // slow enough that no predicted norm cancels, which would have b - A x computed
  for (const bool asMatrix : {false, true}) {
    const auto m = neumann(a, asMatrix);
    const Sent few = sentBy(8, a, Side::Right, m), more = sentBy(15, a, Side::Right, m);
    EXPECT_EQ(more.collectives, few.collectives);
    EXPECT_EQ(few.collectives, sentBy(8, a, Side::Right).collectives) << "as with Jacobi: the zone is kept";
    if (ranks() == 1) continue;
    EXPECT_EQ(more.carried - few.carried, 7);
    expectHypercubesMessages(more.messages - few.messages, 7);
  }
}

// The plan is that of the graphs: new values are taken, other graphs on the same maps get another plan.
TEST_F(EmbeddedCgTest, FollowsTheValuesAndGraphsOfAnExplicitPreconditioner) {
  const auto solver = solverOf(methodOf(id::EmbeddedCg), Params());
  bool first = true;
  for (const Scalar diagonal : {0.0, 0.5, 0.25}) {
    const auto a = grid2d(20, 20);
    addToDiagonal(*a, diagonal);
    System system = systemWithRightHandSide(a);
    system.preconditioner = neumann(a, false);
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solve(*solver, system, Side::Right);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8);
    EXPECT_TRUE(outcome.report.communication.embedded.preconditioner);
    EXPECT_EQ(outcome.report.communication.fromEarlier, !first);
    first = false;
  }
  const auto a = widelyCoupled(400);
  System system = systemWithRightHandSide(a);
  system.preconditioner = neumann(a, true);
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solve(*solver, system, Side::Right);
  EXPECT_TRUE(outcome.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_FALSE(outcome.report.communication.fromEarlier);
}

/// 1 / a_ii as a matrix whose rows are dealt out in turn, which are not A's on several ranks.
RCP<const Operator> onOtherRows(const RCP<CrsMatrix>& a) {
  const auto n = static_cast<GO>(a->getGlobalNumRows());
  std::vector<GO> dealt;
  for (GO g = rank(); g < n; g += ranks()) dealt.push_back(g);
  const auto rows = rcp(new Map(n, Teuchos::arrayViewFromVector(dealt), 0, a->getComm()));
  const auto m = rcp(new CrsMatrix(rows, 1));
  for (const GO g : dealt) m->insertGlobalValues(g, Teuchos::tuple<GO>(g)(), Teuchos::tuple<Scalar>(0.25)());
  m->fillComplete(a->getDomainMap(), a->getRangeMap());
  return m;
}

/// A preconditioner, and why it is applied apart from the exchange.
using ToldCase = std::pair<RCP<const Operator>, std::string>;

/// Where Trilinos has it.
std::vector<ToldCase> casesOfIfpack2([[maybe_unused]] const RCP<CrsMatrix>& a) {
  std::vector<ToldCase> cases;
#ifdef CAPSTAN_TEST_IFPACK2
  for (const auto& [name, why] :
       std::map<std::string, std::string>{{"RILUK", "it is not explicit"}, {"DIAGONAL", ""}}) {
    const auto made = Ifpack2::Factory().create(name, RCP<const CrsMatrix::row_matrix_type>(a));
    made->initialize();
    made->compute();
    cases.emplace_back(made, why);
  }
#endif
  return cases;
}

/// What `m` does, as an operator of which nothing else is known.
RCP<const Operator> notExplicit(const RCP<const Operator>& m) {
  return rcp(
      new FunctionOperator(m->getDomainMap(), [m](const MultiVector& in, MultiVector& out) { m->apply(in, out); }));
}

TEST_F(EmbeddedCgTest, SaysWhereThePreconditionerSendsItsOwnMessages) {
  const auto a = grid2d(20, 20);
  const std::string otherRows = ranks() == 1 ? "" : "it is explicit, but not on the rows of the matrix on every rank";
  std::vector<ToldCase> cases = casesOfIfpack2(a);
  cases.emplace_back(notExplicit(neumann(a, false)), "it is not explicit");
  cases.emplace_back(neumann(a, false), "");
  cases.emplace_back(onOtherRows(a), otherRows);
  for (const auto& [m, why] : cases) {
    SCOPED_TRACE(m->description());
    std::ostringstream out;
    Params p;
    p.set("Verbosity", static_cast<int>(Belos::FinalSummary));
    p.set("Output Stream", Teuchos::rcpFromRef(static_cast<std::ostream&>(out)));
    System system = systemWithRightHandSide(a);
    system.preconditioner = m;
    const auto guess = copyOf(*system.x);
    const Outcome outcome = solveEmbedded(p, system, Side::Right);
    EXPECT_TRUE(outcome.converged);
    EXPECT_LE(relativeResidual(system, *guess), 1e-8);
    EXPECT_TRUE(outcome.report.communication.embedded.used);
    EXPECT_EQ(outcome.report.communication.embedded.preconditionerApart, why);
    EXPECT_EQ(toJson(outcome.report)["communication"]["embedded"]["preconditioner_apart"], why);
    if (rank() == 0 && ranks() > 1) {
      const std::string said = "any messages of the preconditioner are its own, beside these: ";
      EXPECT_EQ(out.str().find(said + why) != std::string::npos, !why.empty()) << out.str();
    }
  }
  const Outcome none = solveEmbedded(Params(), systemWithRightHandSide(a));
  EXPECT_EQ(none.report.communication.embedded.preconditionerApart, "");
}

// Without embedding the same operator is a preconditioner like any other one.
TEST_F(EmbeddedCgTest, HasCgsIterationsWithAnExplicitPreconditioner) {
  const auto a = grid2d(40, 40);
  System classicalSystem = systemWithRightHandSide(a), system = systemWithRightHandSide(a, wave, 2);
  classicalSystem.preconditioner = system.preconditioner = neumann(a, false);
  const Outcome classical = solve(methodOf(id::Cg), Params(), classicalSystem, Side::Right);
  const auto guess = copyOf(*system.x);
  const Outcome embedded = solveEmbedded(Params(), system, Side::Right);
  EXPECT_TRUE(embedded.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_NEAR(embedded.iterations, classical.iterations, 2);
}

/// M^{-1} v = v / (2 + cos(||v||)): far from linear.
RCP<const Operator> notLinear(const RCP<CrsMatrix>& a) {
  return rcp(new FunctionOperator(a->getDomainMap(), [](const MultiVector& in, MultiVector& out) {
    out.update(1 / (2 + std::cos(1e3 * std::log(norms(in)[0]))), in, 0);
  }));
}

TEST_F(EmbeddedCgTest, LeavesTheMessagesToAWhereMIsNotLinear) {
  const auto a = grid2d(20, 20);
  System system = systemWithRightHandSide(a);
  system.preconditioner = notLinear(a);
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solveEmbedded(Params(), system, Side::Right);
  EXPECT_TRUE(outcome.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_FALSE(told(outcome, "embedding").empty());
  EXPECT_LT(outcome.report.communication.embedded.reductions, 6);
}

TEST_F(EmbeddedCgTest, SolvesWithAnyOperatorAndSaysWhatItDoesNotCarry) {
  const System system = rowsHidden(systemWithRightHandSide(grid2d(20, 20)));
  const auto guess = copyOf(*system.x);
  const Outcome outcome = solveEmbedded(Params(), system, Side::Right);
  EXPECT_TRUE(outcome.converged);
  EXPECT_LE(relativeResidual(system, *guess), 1e-8);
  EXPECT_FALSE(outcome.report.communication.embedded.used);
  EXPECT_NE(outcome.report.communication.reason.find("not a Tpetra::CrsMatrix"), std::string::npos);
}

TEST_F(EmbeddedCgTest, TakesAMappingByName) {
  for (const std::string mapping : {"none", "klr", "klf"}) {
    Params p;
    p.set("Hypercube Mapping", mapping);
    const System system = systemWithRightHandSide(widelyCoupled(240));
    const Outcome outcome = solveEmbedded(p, system);
    EXPECT_TRUE(outcome.converged);
    EXPECT_EQ(outcome.report.communication.embedded.mapping, mapping);
    EXPECT_FALSE(outcome.report.communication.fromEarlier) << "plans of other mappings are others";
    System again = systemWithRightHandSide(widelyCoupled(240));
    EXPECT_TRUE(solveEmbedded(p, again).report.communication.fromEarlier);
  }
  Params wrong;
  wrong.set("Hypercube Mapping", "kl");
  EXPECT_THROW(solveEmbedded(wrong, systemWithRightHandSide(grid2d(9, 9))), std::invalid_argument);
}

TEST_F(EmbeddedCgTest, GoesTogetherWithACommunicationStrategy) {
  Params p;
  p.set("Communication Strategy", "two-step");
  p.set("Ranks Per Node", 2);
  const System system = systemWithRightHandSide(grid2d(24, 24));
  const Outcome outcome = solveEmbedded(p, system);
  EXPECT_TRUE(outcome.converged);
  EXPECT_EQ(outcome.report.communication.used, "two-step");
  EXPECT_TRUE(outcome.report.communication.embedded.used);
  EXPECT_LE(outcome.report.communication.products, 2) << "the residual that proves convergence, and no iteration's";
}

}  // namespace
}  // namespace capstan::testing
