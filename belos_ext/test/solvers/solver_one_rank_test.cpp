/// \file
/// A parameter that is set on one rank alone: every row of the parameter table, for every method that takes it, ends in
/// the error that names the key, or, where ranks may differ in it, in a normal solve. Never in a hang or in MPI's own
/// error: a watchdog ends the program then, with the name of the case.

#include <fmt/format.h>

#include <Teuchos_oblackholestream.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "belos_ext/guess/guess_order.hpp"
#include "belos_ext/guess/guess_store.hpp"
#include "belos_ext/manager/state_cache.hpp"
#include "belos_ext/parameters/parameter_overlay.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/test/solvers/solver_suite.hpp"
#include "belos_ext/test/support/parameter_values.hpp"
#include "belos_ext/test/support/watchdog.hpp"

namespace capstan::testing {
namespace {

using Teuchos::ParameterEntry;

/// What all ranks have set, beside the key of a case.
struct Common {
  std::string name, key, value;
  int earlier = 1;  ///< solves before the key is set
  int values = 1;   ///< that are tried for each key
};

const std::vector<Common>& commons() {
  static const std::vector<Common> all = {{"plain", "", "", 1, 4},
                                          {"guesses", "Initial Guess", "projection 2", 2},
                                          {"extrapolation", "Initial Guess", "extrapolation 1", 2},
                                          {"1-norm", "Residual Norm", "OneNorm"},
                                          {"polynomial", "Polynomial Degree", "3"},
                                          {"in turn", "Block Size", "1"},
                                          {"node by node", "Communication Strategy", "optimal"},
                                          {"Chebyshev", "Basis", "chebyshev"}};
  return all;
}

class OnOneRank : public EverySolver {
 protected:
  static void SetUpTestSuite() { watchdog = std::make_unique<Watchdog>(rank(), 60, "solver_one_rank_test"); }
  static void TearDownTestSuite() { watchdog.reset(); }
  void SetUp() override {
    if (ranks() == 1) GTEST_SKIP() << "needs several ranks";
    StateCache::instance().clear();
    GuessStore::instance().clear();
    GuessOrders::forget(Tpetra::getDefaultComm());
  }

  static Params base(const Common& common) {
    Params p;
    p.set("Output Stream", RCP<std::ostream>(rcp(new Teuchos::oblackholestream)));
    if (!common.key.empty()) p.set(common.key, common.value);
    if (common.key == "Polynomial Degree" || common.key == "Block Size") p.set(common.key, std::stoi(common.value));
    return p;
  }

  /// Values that are no default for this method, and that it accepts beside the others: some of all there are.
  static std::vector<ParameterEntry> values(const ParameterRow& row, const Common& common) {
    std::vector<ParameterEntry> found;
    Parameters theirs(GetParam());
    theirs.merge(base(common));
    for (const ParameterEntry& entry : valuesToTry(row, folder())) {
      Parameters mine(theirs);
      Params list;
      list.setEntry(row.name, entry);
      try {
        mine.merge(list);
      } catch (const std::invalid_argument&) {
        continue;  // it conflicts with what is set already
      }
      const bool again = std::find(found.begin(), found.end(), entry) != found.end();
      if (!again && (row.mayDiffer || mine.checksum() != theirs.checksum())) found.push_back(entry);
    }
    const auto all = found.size(), most = std::min(all, static_cast<std::size_t>(common.values));
    for (std::size_t i = 0; i < most; ++i) found[i] = found[most > 1 ? i * (all - 1) / (most - 1) : 0];
    found.resize(most);
    return found;
  }

  static const std::string& folder() {
    static const std::string path = ::testing::TempDir();
    return path;
  }

  /// What the solve throws on this rank, or nothing.
  std::string complaint(Solver& solver) const {
    system_.x->putScalar(0);
    try {
      EXPECT_TRUE(solve(solver, system_, side_).converged);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }

  /// \param fresh whether the solver has not solved before
  void expectNamed(const ParameterRow& row, const ParameterEntry& entry, const Common& common, bool fresh) const {
    const int differs = number_ % ranks();
    const auto solver = solverOf(GetParam(), base(common));
    for (int k = 0; k < common.earlier && !fresh; ++k) EXPECT_EQ(complaint(*solver), "");
    if (rank() == differs) {
      Params list;
      list.setEntry(row.name, entry);
      change(*solver, list);
    }
    const std::string text = complaint(*solver);
    if (row.mayDiffer) {
      EXPECT_EQ(text, "");
    } else {
      EXPECT_NE(text.find('"' + row.name + '"'), std::string::npos) << text;
    }
  }

  /// The method refuses every value but the default: the user's options of one rank alone are misuse on all. Or none
  /// has an effect: one rank alone may have it.
  void expectRefusalNamed(const ParameterRow& row) const {
    SCOPED_TRACE(row.name);
    Watchdog::announce(fmt::format("  {}: \"{}\" in the options of one rank", GetParam().canonical, row.name));
    bool refused = false, hasEffect = false;
    for (const ParameterEntry& entry : valuesToTry(row, folder())) {
      hasEffect = hasEffect || !row.remark || row.remark(entry, GetParam()).empty();
      setParameterOverlay([&](const SolveFacts&) -> RCP<const Teuchos::ParameterList> {
        const auto list = rcp(new Params);
        if (rank() == ranks() - 1) list->setEntry(row.name, entry);
        return list;
      });
      const std::string text = complaint(*solverOf(GetParam(), base({})));
      refused = refused || text.find('"' + row.name + '"') != std::string::npos;
    }
    setParameterOverlay({});
    EXPECT_EQ(refused, hasEffect) << "no value but the default";
  }

  /// All rows for one set of common parameters.
  void check(const Common& common, Side side, size_t columns) {
    side_ = side;
    system_ = systemWithRightHandSide(grid2d(5, 4), wave, columns);
    for (const ParameterRow& row : parameterRows()) {
      if (!row.appliesTo(GetParam()) || row.name == common.key) continue;
      const auto entries = values(row, common);
      if (!entries.empty()) tried_.insert(row.name);
      for (const ParameterEntry& entry : entries) {
        for (const bool fresh : {true, false}) {
          ++number_;
          std::ostringstream value;
          value << entry;
          const std::string name =
              fmt::format("{}, {}, {} preconditioner, {} right-hand sides, {} solver: \"{}\" = {} on rank {} alone",
                          GetParam().canonical, common.name, toString(side), columns, fresh ? "a new" : "a used",
                          row.name, value.str(), number_ % ranks());
          Watchdog::announce("  " + name);
          SCOPED_TRACE(name);
          expectNamed(row, entry, common, fresh);
        }
      }
    }
  }

  static std::unique_ptr<Watchdog> watchdog;
  System system_;
  Side side_ = Side::None;
  int number_ = 0;
  std::set<std::string> tried_;
};

std::unique_ptr<Watchdog> OnOneRank::watchdog;

TEST_P(OnOneRank, EveryParameterIsNamed) {
  for (const Common& common : commons()) {
    const ParameterRow* const row = common.key.empty() ? nullptr : findParameter(common.key);
    if (row != nullptr && !row->appliesTo(GetParam())) continue;
    for (const Side side : {Side::None, Side::Left, Side::Right}) {
      const bool plain = common.key.empty(), preconditioned = side != Side::None;
      // What a preconditioner adds to these, and several right-hand sides, are seen on two ranks.
      if (ranks() > 2 && !plain && preconditioned) continue;
      for (const size_t columns : {1, 3}) {
        if (common.key == "Block Size" && columns == 1) continue;
        if (columns > 1 && common.key != "Block Size" && (ranks() > 2 || (!plain && preconditioned))) continue;
        check(common, side, columns);
      }
    }
  }
  for (const ParameterRow& row : parameterRows()) {
    if (row.appliesTo(GetParam()) && tried_.count(row.name) == 0) expectRefusalNamed(row);
  }
}

/// The error leaves x as it was, also where earlier solves began at zero, and this one was taken to.
TEST_P(OnOneRank, AParameterCostsNoSolution) {
  Params p = base({});
  for (const bool differs : {false, true}) {
    system_ = systemWithRightHandSide(grid2d(7, 6), wave);
    const auto solver = solverOf(GetParam(), p);
    if (!differs) {
      EXPECT_TRUE(solve(*solver, system_).converged);
      continue;
    }
    system_.x->putScalar(3);
    p.set("Convergence Tolerance", rank() == 0 ? 1e-3 : 1e-4);
    change(*solver, p);
    EXPECT_THROW(solve(*solver, system_), std::invalid_argument);
    MultiVector three(system_.x->getMap(), 1);
    three.putScalar(3);
    EXPECT_TRUE(identical(*system_.x, three));
  }
}

/// The user's options of one rank alone may go by the symmetry of the matrix, which takes messages to find out.
TEST_P(OnOneRank, OptionsMayAskForTheSymmetry) {
  const auto world = Tpetra::getDefaultComm();
  for (const bool sets : {false, true}) {
    const auto comm = world->split(0, rank());  // on which nobody has asked
    for (int k = 0; k < 3; ++k) {
      const bool mine = rank() == ranks() - 1 && k > 0;
      std::optional<bool> symmetric;
      setParameterOverlay([&](const SolveFacts& facts) -> RCP<const Teuchos::ParameterList> {
        if (!mine) return Teuchos::null;
        symmetric = facts.symmetric();
        const auto list = rcp(new Params);
        if (sets && symmetric.value_or(false)) list->set("Maximum Iterations", 321);
        return list;
      });
      Watchdog::announce(fmt::format("  {}: symmetry, {}, solve {}", GetParam().canonical, sets, k));
      system_ = systemWithRightHandSide(grid2d(6, 6, 0, evenMap(36, comm)), wave);
      const auto solver = solverOf(GetParam(), base({}));
      const std::string text = complaint(*solver);
      EXPECT_EQ(text.find("\"Maximum Iterations\" differs") != std::string::npos, sets && k > 0) << text;
      EXPECT_EQ(text.empty(), !sets || k == 0) << text;
      EXPECT_EQ(symmetric, mine ? std::optional<bool>(true) : std::nullopt);
    }
  }
  setParameterOverlay({});
}

CAPSTAN_FOR_EVERY_SOLVER(OnOneRank);

}  // namespace
}  // namespace capstan::testing
