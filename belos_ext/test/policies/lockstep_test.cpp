/// \file
/// Lockstep: columns of different lengths equal separate runs, share messages, and unwind together.

#include "belos_ext/manager/lockstep.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "belos_ext/problem/kept_iterate.hpp"
#include "belos_ext/problem/right_preconditioned_system.hpp"
#include "belos_ext/test/support/problems.hpp"
#include "tpetra_ext/reductions/counters.hpp"

namespace capstan::testing {
namespace {

/// A block of right-hand sides and what a Lockstep needs around it.
struct Setting {
  explicit Setting(int columns, RCP<Monitor<Types>::Test> user = Teuchos::null)
      : a(grid2d(8, 7, 0.2)),
        b(vectorFrom(a->getDomainMap(), wave, static_cast<size_t>(columns))),
        x(rcp(new MultiVector(a->getDomainMap(), static_cast<size_t>(columns)))),
        problem(rcp(new Monitor<Types>::Problem(a, x, b))),
        op(a, Teuchos::null, Teuchos::null),
        monitor(problem, SolverOptions(), report, user, Monitor<Types>::Combo::OR, Teuchos::null) {
    problem->setProblem();
  }
  MultiVector column(int c) const { return MultiVector(*b->getVector(static_cast<size_t>(c)), Teuchos::Copy); }

  RCP<CrsMatrix> a;
  RCP<MultiVector> b, x;
  RCP<Monitor<Types>::Problem> problem;
  PreconditionedOperator<Types> op;
  SolveReport report;
  Monitor<Types> monitor;
  LockstepStorage<Types> storage;
};

/// `steps` power iterations with a norm each; the norms come back.
std::vector<double> powerIteration(LinearSystem<Types>& system, MultiVector v, int steps) {
  MultiVector w(v.getMap(), 1);
  ReductionBatch<Types> batch(v.getMap()->getComm());
  std::vector<double> norms;
  for (int k = 0; k < steps; ++k) {
    system.apply(v, w);
    batch.clear();
    const auto square = batch.norm2(w);
    system.reduce(batch);
    norms.push_back(std::sqrt(batch[square]));
    system.kernels().scale(1 / norms.back(), w, v);
    system.record(k + 1, norms.back());
  }
  return norms;
}

// What a decorator does not change is what its system says: also what the ranks agree on later.
TEST(ForwardingSystem, PassesOnFactsReductionsAndEvents) {
  Setting setting(1);
  DirectSystem<Types> system(setting.op, setting.monitor, setting.storage.kernels, 0);
  RightPreconditionedSystem<Types> right(system, nullptr, nullptr);
  RightPreconditionedSystem<Types> twice(right, nullptr, nullptr);
  setting.monitor.agreed.onState = false;
  setting.monitor.agreed.onZeroGuess = setting.monitor.agreed.nonsymmetric = true;
  setting.monitor.agreed.annihilatesConstants = true;
  for (LinearSystem<Types>* one :
       {static_cast<LinearSystem<Types>*>(&right), static_cast<LinearSystem<Types>*>(&twice)}) {
    EXPECT_FALSE(one->agreesOnState());
    EXPECT_TRUE(one->agreesOnZeroGuess() && one->isNonsymmetric());
    EXPECT_FALSE(one->annihilatesConstants()) << "what is known of rows is for symmetric methods";
    EXPECT_FALSE(one->preconditioned());
    MultiVector r(setting.b->getMap(), 1);
    const long before = one->products();
    one->residual(setting.column(0), *setting.x, r);
    EXPECT_EQ(one->products(), before + 1);
    const auto counted = counters();
    ReductionBatch<Types> batch(r.getMap()->getComm());
    const auto square = batch.norm2(r);
    one->start(batch).wait();
    EXPECT_EQ((counters() - counted).nonblocking, 1);
    EXPECT_GT(batch[square], 0);
    one->tell(3, EventKind::DiagonalRows);
    one->record(4, 1.0);
    EXPECT_EQ(setting.monitor.getNumIters(), 4);
  }
  EXPECT_EQ(setting.report.events.size(), 2U);
}

// A block of one right-hand side, as enlarged methods have it.
TEST(Lockstep, ABlockOfAColumnIsMultipliedColumnByColumn) {
  const int columns = 2, width = 3;
  Setting setting(columns);
  const auto in = vectorFrom(setting.a->getDomainMap(), wave, width);
  MultiVector expected(in->getMap(), width);
  setting.a->apply(*in, expected);
  std::vector<double> differences;
  const auto body = [&](LinearSystem<Types>& system) {
    MultiVector out(in->getMap(), width), product(in->getMap(), 1);
    ReductionBatch<Types> batch(in->getMap()->getComm());
    system.act(Action::Operator, *in, out);
    out.update(-1, expected, 1);
    const auto square = batch.innerProducts(out, out), with = batch.norm2(product);
    system.applyAndReduce(*in->getVector(0), product, batch);
    for (int j = 0; j < width; ++j) differences.push_back(batch.view(square)(j, j));
    EXPECT_GT(batch[with], 0) << "the product is there when the batch is evaluated";
    batch.clear();
    const auto again = batch.norm2(product);
    auto pending = system.start(batch);
    pending.wait();
    EXPECT_GT(batch[again], 0);
  };
  Lockstep<Types>(setting.op, setting.monitor, 0, setting.storage).run({body, body});
  ASSERT_EQ(differences.size(), static_cast<size_t>(columns * width));
  // Squares. A block of columns is multiplied by a kernel of its own, which rounds in another way.
  for (const double difference : differences) EXPECT_LE(difference, 1e-26);
}

TEST(Lockstep, ColumnsOfDifferentLengthsEqualSeparateRuns) {
  const std::vector<int> steps{5, 1, 9, 0, 9, 3};
  const int columns = static_cast<int>(steps.size());
  Setting separate(columns), together(columns);

  std::vector<std::vector<double>> alone, joint(steps.size());
  for (int c = 0; c < columns; ++c) {
    DirectSystem<Types> system(separate.op, separate.monitor, separate.storage.kernels, c);
    alone.push_back(powerIteration(system, separate.column(c), steps[static_cast<std::size_t>(c)]));
  }
  const auto before = counters();
  Lockstep<Types> lockstep(together.op, together.monitor, 0, together.storage);
  std::vector<Lockstep<Types>::Body> bodies;
  for (int c = 0; c < columns; ++c) {
    bodies.push_back([&, c](LinearSystem<Types>& system) {
      const auto i = static_cast<std::size_t>(c);
      joint[i] = powerIteration(system, together.column(c), steps[i]);
    });
  }
  lockstep.run(bodies);
  EXPECT_EQ((counters() - before).blocking, 9);  // the longest column's, not the sum
  for (std::size_t c = 0; c < steps.size(); ++c) {
    ASSERT_EQ(joint[c].size(), alone[c].size());
    for (std::size_t k = 0; k < joint[c].size(); ++k) EXPECT_NEAR(joint[c][k], alone[c][k], 1e-14 * alone[c][k]);
  }
  // One block product for all columns still there.
  EXPECT_EQ(together.op.cost().operatorApplications, 9);
  EXPECT_EQ(together.op.cost().operatorColumns, 5 + 1 + 9 + 9 + 3);
  EXPECT_EQ(separate.op.cost().operatorApplications, 5 + 1 + 9 + 9 + 3);

  // And again with the same object.
  lockstep.run(bodies);
  EXPECT_EQ(together.op.cost().operatorApplications, 18);
}

TEST(Lockstep, ColumnsOutOfStepStillShareReductions) {
  Setting setting(2);
  Lockstep<Types> lockstep(setting.op, setting.monitor, 0, setting.storage);
  const auto before = counters();
  double sums[2] = {0, 0};
  // One column applies A three times before each reduction, the other never.
  lockstep.run({[&](LinearSystem<Types>& system) {
                  MultiVector v = setting.column(0), w(v.getMap(), 1);
                  ReductionBatch<Types> batch(v.getMap()->getComm());
                  for (int k = 0; k < 4; ++k) {
                    for (int i = 0; i < 3; ++i) system.act(Action::Operator, v, w);
                    batch.clear();
                    const auto slot = batch.value(k);
                    system.reduce(batch);
                    sums[0] += batch[slot];
                  }
                },
                [&](LinearSystem<Types>& system) {
                  ReductionBatch<Types> batch(setting.b->getMap()->getComm());
                  for (int k = 0; k < 4; ++k) {
                    batch.clear();
                    const auto slot = batch.value(10 * k), other = batch.value(1);
                    system.reduce(batch);
                    sums[1] += batch[slot] + batch[other];
                  }
                }});
  const int ranks = setting.b->getMap()->getComm()->getSize();
  EXPECT_EQ((counters() - before).blocking, 4);
  EXPECT_EQ(sums[0], 6.0 * ranks);
  EXPECT_EQ(sums[1], 64.0 * ranks);
}

TEST(Lockstep, ColumnsShareTheReductionsTheyStart) {
  const std::vector<int> depths{1, 3, 2};  // how many reductions a column has in flight
  Setting setting(static_cast<int>(depths.size()));
  Lockstep<Types> lockstep(setting.op, setting.monitor, 0, setting.storage);
  const int steps = 6, ranks = setting.b->getMap()->getComm()->getSize();
  std::vector<double> sums(depths.size());
  std::vector<Lockstep<Types>::Body> bodies;
  for (int c = 0; c < 3; ++c) {
    bodies.push_back([&, c](LinearSystem<Types>& system) {
      const int depth = depths[static_cast<std::size_t>(c)];
      MultiVector v = setting.column(c), w(v.getMap(), 1);
      struct Flight {
        explicit Flight(const RCP<const Teuchos::Comm<int>>& comm) : batch(comm) {}
        ReductionBatch<Types> batch;
        ReductionBatch<Types>::Slot slot;
        PendingReduction<Types> pending;
      };
      std::vector<std::unique_ptr<Flight>> flights;
      for (int k = 0; k < depth; ++k) flights.push_back(std::make_unique<Flight>(v.getMap()->getComm()));
      for (int k = 0; k < steps + depth; ++k) {
        if (k < steps) system.act(Action::Operator, v, w);
        Flight& flight = *flights[static_cast<std::size_t>(k % depth)];
        if (k >= depth) {
          flight.pending.wait();
          sums[static_cast<std::size_t>(c)] += flight.batch[flight.slot];
          flight.batch.clear();
        }
        if (k >= steps) continue;
        flight.slot = flight.batch.value((c + 1) * k);
        flight.pending = system.start(flight.batch);
      }
    });
  }
  const auto before = counters();
  lockstep.run(bodies);
  const auto spent = counters() - before;
  EXPECT_EQ(spent.nonblocking, steps);
  EXPECT_EQ(spent.blocking, 0);
  EXPECT_EQ(setting.op.cost().operatorApplications, steps);
  for (int c = 0; c < 3; ++c) EXPECT_EQ(sums[static_cast<std::size_t>(c)], (c + 1) * 15.0 * ranks);
}

struct Unwound {
  explicit Unwound(int& c) : count(c) {}
  ~Unwound() { ++count; }
  Unwound(const Unwound&) = delete;
  Unwound& operator=(const Unwound&) = delete;
  int& count;
};

TEST(Lockstep, AnExceptionInAColumnUnwindsTheOthers) {
  Setting setting(3);
  Lockstep<Types> lockstep(setting.op, setting.monitor, 0, setting.storage);
  int unwound = 0, finished = 0;
  const auto body = [&](int c) {
    return [&, c](LinearSystem<Types>& system) {
      const Unwound trace(unwound);
      powerIteration(system, setting.column(c), 2);
      if (c == 1) throw std::domain_error("column 1");
      powerIteration(system, setting.column(c), 2);
      ++finished;
    };
  };
  try {
    lockstep.run({body(0), body(1), body(2)});
    FAIL() << "the exception was lost";
  } catch (const std::domain_error& e) {
    EXPECT_STREQ(e.what(), "column 1");
  }
  EXPECT_EQ(unwound, 3);
  EXPECT_EQ(finished, 0);
  lockstep.run({body(0), body(2)});  // usable afterwards
  EXPECT_EQ(finished, 2);
}

/// An operator that throws at its third use.
class Throwing final : public Operator {
 public:
  explicit Throwing(RCP<const Map> map) : map_(std::move(map)) {}
  RCP<const Map> getDomainMap() const override { return map_; }
  RCP<const Map> getRangeMap() const override { return map_; }
  void apply(const MultiVector& v, MultiVector& w, Teuchos::ETransp, Scalar, Scalar) const override {
    if (++uses_ == 3) throw std::range_error("operator");
    Tpetra::deep_copy(w, v);
  }

 private:
  RCP<const Map> map_;
  mutable int uses_ = 0;
};

TEST(Lockstep, AnExceptionOfTheOperatorUnwindsAllColumns) {
  Setting setting(2);
  PreconditionedOperator<Types> op(rcp(new Throwing(setting.a->getDomainMap())), Teuchos::null, Teuchos::null);
  Lockstep<Types> lockstep(op, setting.monitor, 0, setting.storage);
  int unwound = 0;
  const auto body = [&](int c) {
    return [&, c](LinearSystem<Types>& system) {
      const Unwound trace(unwound);
      powerIteration(system, setting.column(c), 5);
    };
  };
  EXPECT_THROW(lockstep.run({body(0), body(1)}), std::range_error);
  EXPECT_EQ(unwound, 2);
}

/// Asks for the update of the solution, and never passes.
class ReadsUpdate final : public Monitor<Types>::Test {
 public:
  Belos::StatusType checkStatus(Belos::Iteration<Scalar, MultiVector, Operator>* iteration) override {
    update = iteration->getCurrentUpdate();
    return Belos::Failed;
  }
  Belos::StatusType getStatus() const override { return Belos::Failed; }
  void reset() override {}
  void print(std::ostream&, int) const override {}

  RCP<MultiVector> update;
};

TEST(Lockstep, AnUpdateMayActAndReduceWhileItsColumnIsPaused) {
  const auto test = rcp(new ReadsUpdate);
  Setting setting(2, test);
  Lockstep<Types> lockstep(setting.op, setting.monitor, 0, setting.storage);
  const auto body = [&](int c) {
    return [&, c](LinearSystem<Types>& system) {
      const MultiVector v = setting.column(c);
      system.boundary(1, 1, [&](MultiVector& out) {
        system.act(Action::Operator, v, out);
        ReductionBatch<Types> batch(v.getMap()->getComm());
        const auto square = batch.norm2(out);
        system.reduce(batch);
        out.scale(1 / std::sqrt(batch[square]));
      });
    };
  };
  lockstep.run({body(0), body(1)});
  ASSERT_FALSE(test->update.is_null());
  for (int c : {0, 1}) {
    MultiVector expected(setting.b->getMap(), 1);
    setting.op.applyA(setting.column(c), expected);
    std::vector<double> norm(1);
    expected.norm2(Teuchos::ArrayView<double>(norm));
    expected.update(-1, *test->update->getVector(static_cast<size_t>(c)), 1 / norm[0]);
    expected.norm2(Teuchos::ArrayView<double>(norm));
    EXPECT_LT(norm[0], 1e-14);
  }
}

/// Passes once it has been asked `limit` times; sees the whole block's residuals.
class StopsAfter final : public Monitor<Types>::Test {
 public:
  explicit StopsAfter(int limit) : limit_(limit) {}
  Belos::StatusType checkStatus(Belos::Iteration<Scalar, MultiVector, Operator>* iteration) override {
    std::vector<double> norms;
    iteration->getNativeResiduals(&norms);
    seen.push_back(norms);
    return status_ = ++asked_ >= limit_ ? Belos::Passed : Belos::Failed;
  }
  Belos::StatusType getStatus() const override { return status_; }
  void reset() override { asked_ = 0; }
  void print(std::ostream&, int) const override {}

  std::vector<std::vector<double>> seen;

 private:
  int limit_, asked_ = 0;
  Belos::StatusType status_ = Belos::Undefined;
};

TEST(Lockstep, StatusTestsSeeAllColumnsAtTheSameBoundary) {
  const auto test = rcp(new StopsAfter(3));
  Setting setting(2, test);
  Lockstep<Types> lockstep(setting.op, setting.monitor, 0, setting.storage);
  int rounds[2] = {0, 0};
  const auto body = [&](int c) {
    return [&, c](LinearSystem<Types>& system) {
      MultiVector v = setting.column(c), w(v.getMap(), 1);
      do {
        system.act(Action::Operator, v, w);
        ++rounds[c];
      } while (system.boundary(rounds[c], 10 * c + rounds[c], {}));
    };
  };
  lockstep.run({body(0), body(1)});
  EXPECT_EQ(rounds[0], 3);
  EXPECT_EQ(rounds[1], 3);
  ASSERT_EQ(test->seen.size(), 3U);  // asked once for both columns
  for (int k = 0; k < 3; ++k) {
    EXPECT_EQ(test->seen[static_cast<std::size_t>(k)], (std::vector<double>{1.0 + k, 11.0 + k}));
  }
}

// The square of a guess of 1e-200 is zero: it was taken for x = 0, and a solve that failed returned that.
TEST(KeptIterate, KeepsAGuessWhoseSquareUnderflows) {
  Setting setting(1);
  Lockstep<Types>(setting.op, setting.monitor, 0, setting.storage).run({[&](LinearSystem<Types>& system) {
    for (const double size : {1e-200, 0.0}) {
      MultiVector x(setting.a->getDomainMap(), 1);
      x.putScalar(size);
      ReductionBatch<Types> batch(x.getMap()->getComm());
      const auto square = batch.norm2(x), sum = batch.sum(x);
      system.reduce(batch);
      EXPECT_EQ(batch[square], 0);
      KeptIterate<Types> guess;
      guess.keepGuess(system, x, batch[square], batch[sum]);
      x.putScalar(7);
      guess.restore(system, x);
      EXPECT_EQ(x.getVector(0)->normInf(), size);
    }
  }});
}

}  // namespace
}  // namespace capstan::testing
