/// \file
/// capstan.h: systems as functions and as entries, outcomes, and what becomes
/// of wrong arguments.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "adapters/c/capstan.h"
#include "tpetra_ext/test/support/counted_mpi.hpp"

namespace {

int rankOf(MPI_Comm comm = MPI_COMM_WORLD) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
int ranksOf(MPI_Comm comm = MPI_COMM_WORLD) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}
double sum(double mine) {
  MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return mine;
}

/// tridiagonal(-1 - c, 2 + d, -1 + c) on all ranks; the last rank has no rows
/// where there is more than one.
class Line {
 public:
  explicit Line(std::int64_t perRank = 40, double shift = 0.01, double convection = 0)
      : below_(-1 - convection), diagonal_(2 + shift), above_(-1 + convection) {
    const int ranks = ranksOf(), rank = rankOf();
    const int owners = ranks > 1 ? ranks - 1 : 1;
    rows = rank < owners ? perRank : 0;
    first_ = static_cast<std::int64_t>(std::min(rank, owners)) * perRank;
    global_ = owners * perRank;
    hasBefore_ = rows > 0 && rank > 0;
    hasAfter_ = rows > 0 && rank + 1 < owners;
    build();
  }

  std::int64_t rows = 0;

  static int apply(void* context, const double* x, double* y) {
    static_cast<Line*>(context)->multiply(x, y);
    return 0;
  }
  static int jacobi(void* context, const double* r, double* z) {
    const auto* const line = static_cast<Line*>(context);
    for (std::int64_t i = 0; i < line->rows; ++i) z[i] = r[i] / line->diagonal_;
    return 0;
  }
  static int fails(void* context, const double* x, double* y) {
    apply(context, x, y);
    return rankOf() == 0 ? 1 : 0;
  }
  static int makesNaN(void* context, const double* /*x*/, double* y) {
    const auto* const line = static_cast<Line*>(context);
    for (std::int64_t i = 0; i < line->rows; ++i) y[i] = std::nan("");
    return 0;
  }
  static int throws(void* /*context*/, const double* /*x*/, double* /*y*/) { throw std::runtime_error("of C++"); }

  void multiply(const double* x, double* y) const {
    double before = 0, after = 0;
    const double none = 0;
    const double *const head = rows > 0 ? x : &none, *const tail = rows > 0 ? x + rows - 1 : &none;
    const int rank = rankOf();
    const int down = hasBefore_ ? rank - 1 : MPI_PROC_NULL, up = hasAfter_ ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(head, 1, MPI_DOUBLE, down, 1, &after, 1, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(tail, 1, MPI_DOUBLE, up, 2, &before, 1, MPI_DOUBLE, down, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (std::int64_t i = 0; i < rows; ++i) {
      y[i] = diagonal_ * x[i] + below_ * (i > 0 ? x[i - 1] : before) + above_ * (i + 1 < rows ? x[i + 1] : after);
    }
  }

  double residual(const double* b, const double* x) const {
    std::vector<double> r(static_cast<std::size_t>(rows) + 1);
    multiply(x, r.data());
    double mine = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      mine += (b[i] - r[static_cast<std::size_t>(i)]) * (b[i] - r[static_cast<std::size_t>(i)]);
    return std::sqrt(sum(mine));
  }

  std::vector<double> rightHandSide(int column = 0) const {
    std::vector<double> b(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < b.size(); ++i) {
      const auto g = static_cast<double>(first_ + static_cast<std::int64_t>(i));
      b[i] = std::sin(1e3 * (g * g + 1) + column);
    }
    return b;
  }

  capstan_csr csr(int bits = 64) const {
    const bool wide = bits == 64;
    return {sizeof(capstan_csr),
            rows,
            bits,
            wide ? static_cast<const void*>(start64_.data()) : start32_.data(),
            wide ? static_cast<const void*>(columns64_.data()) : columns32_.data(),
            values.data()};
  }

  std::vector<double> values;

 private:
  void build() {
    start64_.push_back(0);
    for (std::int64_t row = first_; row < first_ + rows; ++row) {
      const auto entry = [&](std::int64_t column, double value) {
        if (column < 0 || column >= global_) return;
        columns64_.push_back(column);
        values.push_back(value);
      };
      entry(row, diagonal_);
      entry(row + 1, above_);
      entry(row - 1, below_);
      start64_.push_back(static_cast<std::int64_t>(columns64_.size()));
    }
    start32_.assign(start64_.begin(), start64_.end());
    columns32_.assign(columns64_.begin(), columns64_.end());
  }

  double below_, diagonal_, above_;
  std::int64_t first_ = 0, global_ = 0;
  bool hasBefore_ = false, hasAfter_ = false;
  std::vector<std::int64_t> start64_, columns64_;
  std::vector<std::int32_t> start32_, columns32_;
};

struct Destroy {
  void operator()(capstan_solver* solver) const { capstan_destroy(&solver); }
};
using Handle = std::unique_ptr<capstan_solver, Destroy>;

Handle make(const std::string& text) {
  capstan_solver* solver = nullptr;
  EXPECT_EQ(capstan_create(MPI_COMM_WORLD, text.c_str(), &solver), CAPSTAN_SUCCESS) << capstan_error_text(nullptr);
  return Handle(solver);
}

capstan_outcome empty() {
  capstan_outcome outcome{};
  outcome.size = sizeof outcome;
  return outcome;
}

struct Solved {
  int status;
  capstan_outcome outcome;
  std::vector<double> x;
};

Solved solve(capstan_solver* solver, const Line& line) {
  Solved solved{0, empty(), std::vector<double>(static_cast<std::size_t>(line.rows))};
  const auto b = line.rightHandSide();
  solved.status = capstan_solve(solver, b.data(), solved.x.data(), &solved.outcome);
  return solved;
}

void expectSameOnAllRanks(int value) {
  std::array<int, 2> extremes{value, -value};
  MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  EXPECT_EQ(extremes[0], -extremes[1]);
}

/// The status, the same on all ranks, and the text.
void expectError(int status, capstan_status expected, const capstan_solver* solver, const std::string& text) {
  EXPECT_EQ(status, expected) << capstan_error_text(solver);
  expectSameOnAllRanks(status);
  if (status == CAPSTAN_SUCCESS) return;
  EXPECT_NE(std::string(capstan_error_text(solver)).find(text), std::string::npos) << capstan_error_text(solver);
}

// What programs were compiled with stays.
static_assert(sizeof(void*) != 8 ||
              (sizeof(capstan_outcome) == 104 && sizeof(capstan_csr) == 48 && sizeof(capstan_row) == 48));
static_assert(CAPSTAN_ERROR_INTERNAL == 9 && CAPSTAN_ERROR_LONE == 8 && CAPSTAN_USER_TEST == 9 &&
              CAPSTAN_BREAKDOWN == 7);

const char* const cg = "{method: capstan_cg, tolerance: 1e-9, max_iterations: 400}";

class EveryMethod : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryMethod, SolvesBothAFunctionAndEntries) {
  Line line;
  const auto b = line.rightHandSide();
  const double first = line.residual(b.data(), std::vector<double>(b.size() + 1).data());
  std::vector<double> ofFunction;
  for (const int bits : {0, 32, 64}) {
    SCOPED_TRACE(bits);
    const auto solver = make(std::string("{tolerance: 1e-9, max_iterations: 400, method: ") + GetParam() + "}");
    ASSERT_NE(solver, nullptr);
    const auto csr = line.csr(bits);
    ASSERT_EQ(bits == 0 ? capstan_set_operator(solver.get(), line.rows, Line::apply, &line)
                        : capstan_set_matrix(solver.get(), &csr),
              CAPSTAN_SUCCESS)
        << capstan_error_text(solver.get());
    const Solved solved = solve(solver.get(), line);
    EXPECT_EQ(solved.status, CAPSTAN_SUCCESS) << capstan_error_text(solver.get());
    EXPECT_EQ(solved.outcome.converged, 1) << capstan_reason_text(solved.outcome.reason);
    EXPECT_EQ(solved.outcome.reason, CAPSTAN_CONVERGED);
    EXPECT_GT(solved.outcome.iterations, 0);
    EXPECT_GT(solved.outcome.operator_applications, 0);
    EXPECT_GT(solved.outcome.reductions_blocking + solved.outcome.reductions_nonblocking, 0);
    EXPECT_LE(line.residual(b.data(), solved.x.data()), 1e-9 * first * (1 + 1e-6));
    EXPECT_NEAR(solved.outcome.residual, line.residual(b.data(), solved.x.data()) / first, 1e-12);
    EXPECT_NEAR(solved.outcome.scale, first, 1e-10 * first);
  }
}

INSTANTIATE_TEST_SUITE_P(CInterface, EveryMethod,
                         ::testing::Values("capstan_cg", "capstan_cg_pipeline", "capstan_cg_enlarged",
                                           "capstan_cg_embedded", "capstan_cr", "capstan_gmres", "capstan_sstep_gmres",
                                           "capstan_gmres_pipeline", "capstan_bicgstab", "capstan_idr", "CAPSTAN"));

TEST(CInterface, TakesPreconditionersOfTheApplicationAndByName) {
  Line line(60, 1e-4);
  int plain = 0;
  for (const std::string name : {"none", "riluk", "muelu", "own"}) {
    SCOPED_TRACE(name);
    const std::string row = name == "none" || name == "own" ? "" : ", preconditioner: " + name;
    const std::string file = name == "muelu" ? ", muelu_xml_file_name: pressure_poisson" : "";
    const auto solver = make("{method: capstan_cg, tolerance: 1e-8, max_iterations: 900" + row + file + "}");
    ASSERT_NE(solver, nullptr);
    const auto csr = line.csr();
    ASSERT_EQ(capstan_set_matrix(solver.get(), &csr), CAPSTAN_SUCCESS) << capstan_error_text(solver.get());
    if (name == "own") {
      ASSERT_EQ(capstan_set_preconditioner(solver.get(), Line::jacobi, &line), CAPSTAN_SUCCESS);
    }
    const Solved solved = solve(solver.get(), line);
    EXPECT_EQ(solved.status, CAPSTAN_SUCCESS) << capstan_error_text(solver.get());
    EXPECT_EQ(solved.outcome.converged, 1);
    EXPECT_EQ(solved.outcome.preconditioner_builds, row.empty() ? 0 : 1);
    if (name == "none") {
      plain = solved.outcome.iterations;
      EXPECT_EQ(solved.outcome.preconditioner_applications, 0);
    } else {
      EXPECT_GT(solved.outcome.preconditioner_applications, 0);
      EXPECT_LE(solved.outcome.iterations, name == "own" ? plain + 1 : plain / 2);
    }
  }
}

TEST(CInterface, SolvesColumnsThatLieApart) {
  Line line;
  const std::int64_t ldb = line.rows + 3, ldx = line.rows + 1;
  constexpr int columns = 3;
  const double untouched = 77;
  std::vector<double> b(static_cast<std::size_t>(columns * ldb), untouched),
      x(static_cast<std::size_t>(columns * ldx), untouched);
  for (int j = 0; j < columns; ++j) {
    const auto column = line.rightHandSide(j);
    std::copy(column.begin(), column.end(), b.begin() + j * ldb);
    std::fill_n(x.begin() + j * ldx, line.rows, 0.0);
  }
  const auto solver = make(cg);
  ASSERT_EQ(capstan_set_operator(solver.get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  capstan_outcome outcome = empty();
  ASSERT_EQ(capstan_solve_columns(solver.get(), columns, b.data(), ldb, x.data(), ldx, &outcome), CAPSTAN_SUCCESS)
      << capstan_error_text(solver.get());
  EXPECT_EQ(outcome.converged, 1);
  for (int j = 0; j < columns; ++j) {
    capstan_outcome own = empty();
    ASSERT_EQ(capstan_column_outcome(solver.get(), j, &own), CAPSTAN_SUCCESS);
    EXPECT_EQ(own.reason, CAPSTAN_CONVERGED);
    EXPECT_LE(own.iterations, outcome.iterations);
    EXPECT_LE(line.residual(b.data() + j * ldb, x.data() + j * ldx), 1e-9 * own.scale * (1 + 1e-6));
    EXPECT_EQ(x[static_cast<std::size_t>(j * ldx + line.rows)], untouched) << "between the columns";
  }
  expectError(capstan_column_outcome(solver.get(), columns, &outcome), CAPSTAN_ERROR_ARGUMENT, solver.get(), "0 to 2");
}

TEST(CInterface, ReadsValuesAgainWhereTheyHaveChanged) {
  Line line(40, 0.5);
  const auto solver = make(
      "{method: capstan_cg, tolerance: 1e-9, "
      "max_iterations: 400, preconditioner: riluk}");
  const auto csr = line.csr();
  ASSERT_EQ(capstan_set_matrix(solver.get(), &csr), CAPSTAN_SUCCESS);
  const Solved before = solve(solver.get(), line);
  EXPECT_EQ(solve(solver.get(), line).outcome.preconditioner_builds, 1) << "the same values";
  for (double& value : line.values) value *= 4;
  EXPECT_EQ(solve(solver.get(), line).x, before.x) << "nobody has said so";
  ASSERT_EQ(capstan_matrix_changed(solver.get()), CAPSTAN_SUCCESS);
  const Solved after = solve(solver.get(), line);
  EXPECT_EQ(after.outcome.preconditioner_builds, 2);
  for (std::size_t i = 0; i < after.x.size(); ++i) EXPECT_NEAR(4 * after.x[i], before.x[i], 1e-7);
}

TEST(CInterface, TakesTheGuessAndLimits) {
  Line line(40, 0.2, 0.3);
  const auto solver = make("{method: capstan_gmres, tolerance: 1e-9, max_iterations: 400}");
  ASSERT_EQ(capstan_set_operator(solver.get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  ASSERT_EQ(capstan_set_limits(solver.get(), 1e-9, 0, 3), CAPSTAN_SUCCESS);
  Solved solved = solve(solver.get(), line);
  EXPECT_EQ(solved.status, CAPSTAN_SUCCESS);
  EXPECT_EQ(solved.outcome.converged, 0);
  EXPECT_EQ(solved.outcome.reason, CAPSTAN_MAX_ITERATIONS);
  EXPECT_EQ(solved.outcome.iterations, 3);
  ASSERT_EQ(capstan_set_limits(solver.get(), 1e-9, 0, 400), CAPSTAN_SUCCESS);
  const auto b = line.rightHandSide();
  ASSERT_EQ(capstan_solve(solver.get(), b.data(), solved.x.data(), &solved.outcome), CAPSTAN_SUCCESS);
  EXPECT_EQ(solved.outcome.converged, 1);
  EXPECT_LT(solved.outcome.scale, line.residual(b.data(), std::vector<double>(b.size() + 1).data())) << "of the guess";
}

/// A, and how often it was asked for.
struct Counted {
  const Line* line;
  int calls = 0;
  static int apply(void* context, const double* x, double* y) {
    auto* const counted = static_cast<Counted*>(context);
    ++counted->calls;
    return Line::apply(const_cast<Line*>(counted->line), x, y);
  }
};

TEST(CInterface, NeitherReadsNorMultipliesAGuessThatIsSaidToBeZero) {
  const Line line(40, 0.2, 0.3);
  Counted a{&line};
  const auto solver = make("{method: capstan_gmres, tolerance: 1e-9, max_iterations: 400}");
  ASSERT_EQ(capstan_set_operator(solver.get(), line.rows, Counted::apply, &a), CAPSTAN_SUCCESS);
  const auto b = line.rightHandSide();
  std::array<capstan_outcome, 2> outcomes{empty(), empty()};
  std::array<std::vector<double>, 2> x{std::vector<double>(b.size()),
                                       std::vector<double>(b.size(), std::numeric_limits<double>::quiet_NaN())};
  std::array<int, 2> calls{};
  solve(solver.get(), line);  // the first one looks at A
  for (const int zero : {0, 1}) {
    a.calls = 0;
    ASSERT_EQ(capstan_set_zero_guess(solver.get(), zero), CAPSTAN_SUCCESS);
    ASSERT_EQ(capstan_solve(solver.get(), b.data(), x[zero].data(), &outcomes[zero]), CAPSTAN_SUCCESS);
    EXPECT_EQ(outcomes[zero].converged, 1);
    calls[zero] = a.calls;
  }
  EXPECT_EQ(calls[1], calls[0] - 1);
  EXPECT_EQ(outcomes[1].iterations, outcomes[0].iterations);
  EXPECT_EQ(x[1], x[0]);
}

/// Writes down what it sees, and ends the solve after so many iterations.
struct Watch {
  int last = 0;
  std::vector<int> iterations;
  std::vector<double> residuals;
  static int test(void* context, int iteration, const double* residuals, int columns) {
    auto* const watch = static_cast<Watch*>(context);
    watch->iterations.push_back(iteration);
    watch->residuals.push_back(columns == 1 ? residuals[0] : -1);
    return watch->last > 0 && iteration >= watch->last ? 1 : 0;
  }
};

TEST(CInterface, AsksTheApplicationAfterEachIteration) {
  Line line(40, 0.5);
  const auto solver = make(cg);
  ASSERT_EQ(capstan_set_operator(solver.get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  Watch watch;
  ASSERT_EQ(capstan_set_test(solver.get(), Watch::test, &watch), CAPSTAN_SUCCESS);
  const Solved whole = solve(solver.get(), line);
  EXPECT_EQ(whole.outcome.reason, CAPSTAN_CONVERGED);
  ASSERT_FALSE(watch.iterations.empty());
  EXPECT_LE(watch.iterations.front(), 1);
  EXPECT_GE(watch.iterations.back(), whole.outcome.iterations - 1);
  EXPECT_GT(watch.residuals.front(), watch.residuals.back());
  watch = {5, {}, {}};
  const Solved part = solve(solver.get(), line);
  EXPECT_EQ(part.status, CAPSTAN_SUCCESS);
  EXPECT_EQ(part.outcome.reason, CAPSTAN_USER_TEST);
  EXPECT_EQ(part.outcome.converged, 0) << "the tolerance is not met";
  EXPECT_EQ(part.outcome.iterations, 5);
  const auto b = line.rightHandSide();
  EXPECT_NEAR(line.residual(b.data(), part.x.data()), watch.residuals.back(), 1e-10 * watch.residuals.front());
  ASSERT_EQ(capstan_set_test(solver.get(), nullptr, nullptr), CAPSTAN_SUCCESS);
  EXPECT_EQ(solve(solver.get(), line).outcome.converged, 1);
}

/// The largest weight is at the first row of all; counts its calls.
struct Weighted {
  const Line* line;
  int calls = 0;
  bool fails = false;
  static double weight(std::int64_t i) { return i == 0 ? 100 : 1; }
  static int part(void* context, const double* r, double* part) {
    auto* const own = static_cast<Weighted*>(context);
    ++own->calls;
    *part = 0;
    for (std::int64_t i = 0; i < own->line->rows; ++i) *part += weight(i) * r[i] * r[i];
    return own->fails && rankOf() == 0 ? 1 : 0;
  }
  double norm(const double* b, const double* x) const {
    std::vector<double> image(static_cast<std::size_t>(line->rows) + 1);
    line->multiply(x, image.data());
    double mine = 0;
    for (std::int64_t i = 0; i < line->rows; ++i) {
      const double r = b[i] - image[static_cast<std::size_t>(i)];
      mine += weight(i) * r * r;
    }
    return std::sqrt(sum(mine));
  }
};

TEST(CInterface, JudgesByTheApplicationsNorm) {
  Line line(40, 0.3);
  const auto b = line.rightHandSide();
  const std::vector<double> zero(b.size() + 1);
  Weighted weighted{&line};
  const double first = weighted.norm(b.data(), zero.data());
  for (const char* const method : {"capstan_cg", "capstan_cg_pipeline", "capstan_gmres", "capstan_sstep_gmres",
                                   "capstan_idr", "capstan_bicgstab", "CAPSTAN"}) {
    SCOPED_TRACE(method);
    for (const bool absolute : {false, true}) {
      const auto solver = make(std::string("{max_iterations: 400, method: ") + method +
                               (absolute ? ", parameters: {Residual Scaling: None}}" : "}"));
      ASSERT_EQ(capstan_set_operator(solver.get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
      ASSERT_EQ(capstan_set_norm(solver.get(), Weighted::part, 2, &weighted), CAPSTAN_SUCCESS);
      const double target = 1e-7 * first;
      ASSERT_EQ(capstan_set_limits(solver.get(), absolute ? target : 1e-7, 0, 400), CAPSTAN_SUCCESS);
      weighted.calls = 0;
      for (int k = 0; k < 2; ++k) {
        const Solved solved = solve(solver.get(), line);
        EXPECT_EQ(solved.outcome.converged, 1) << capstan_error_text(solver.get());
        const double found = weighted.norm(b.data(), solved.x.data());
        EXPECT_LE(found, target * (1 + 1e-6));
        EXPECT_GT(found, 1e-4 * target) << "not much more than was asked for";
        EXPECT_NEAR(solved.outcome.residual * solved.outcome.scale, found, 1e-3 * found);
      }
      EXPECT_GT(weighted.calls, 2);
      expectSameOnAllRanks(weighted.calls);
    }
  }
  const auto solver = make("{max_iterations: 400, method: capstan_cg}");
  ASSERT_EQ(capstan_set_operator(solver.get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  expectError(capstan_set_norm(solver.get(), Weighted::part, 3, &weighted), CAPSTAN_ERROR_ARGUMENT, solver.get(),
              "1 or 2");
  ASSERT_EQ(capstan_set_norm(solver.get(), Weighted::part, 2, &weighted), CAPSTAN_SUCCESS);
  weighted.fails = true;
  const Solved failed = solve(solver.get(), line);
  EXPECT_EQ(failed.outcome.reason, CAPSTAN_NON_FINITE);
  ASSERT_EQ(capstan_set_norm(solver.get(), nullptr, 1, nullptr), CAPSTAN_SUCCESS);
  EXPECT_EQ(solve(solver.get(), line).outcome.converged, 1);
  const auto scaled = make("{method: capstan_cg, parameters: {Residual Scaling: Norm of RHS}}");
  ASSERT_EQ(capstan_set_operator(scaled.get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  ASSERT_EQ(capstan_set_norm(scaled.get(), Weighted::part, 2, &weighted), CAPSTAN_SUCCESS);
  expectError(solve(scaled.get(), line).status, CAPSTAN_ERROR_INPUT, scaled.get(), "scalings");
}

/// (r, r), by way of an array that is larger than the stacks on which several
/// right-hand sides advance.
int squaresByALargeArray(void* context, const double* r, double* part) {
  std::array<double, 1 << 18> copy;  // 2 MB
  const auto rows = static_cast<std::size_t>(static_cast<const Line*>(context)->rows);
  std::copy_n(r, rows, copy.begin());
  *part = std::inner_product(copy.begin(), copy.begin() + static_cast<std::ptrdiff_t>(rows), copy.begin(), 0.0);
  return 0;
}

TEST(CInterface, CallsTheNormOnTheCallersStack) {
  Line line(40, 0.3);
  const auto solver = make("{max_iterations: 400, method: capstan_cg}");
  ASSERT_EQ(capstan_set_operator(solver.get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  ASSERT_EQ(capstan_set_norm(solver.get(), squaresByALargeArray, 2, &line), CAPSTAN_SUCCESS);
  const std::vector<double> one = line.rightHandSide();
  std::vector<double> b(one), x(2 * one.size());
  for (const double value : one) b.push_back(-0.5 * value);
  capstan_outcome outcome = empty();
  const auto rows = std::max(static_cast<std::int64_t>(one.size()), std::int64_t{1});
  ASSERT_EQ(capstan_solve_columns(solver.get(), 2, b.data(), rows, x.data(), rows, &outcome), CAPSTAN_SUCCESS)
      << capstan_error_text(solver.get());
  EXPECT_EQ(outcome.converged, 1);
}

TEST(CInterface, TakesAnAbsoluteTolerance) {
  Line line(40, 0.5);
  const auto solver = make(cg);
  ASSERT_EQ(capstan_set_operator(solver.get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  const double norm = solve(solver.get(), line).outcome.scale;
  ASSERT_EQ(capstan_set_limits(solver.get(), 1e-12, 1e-3 * norm, 400), CAPSTAN_SUCCESS);
  const Solved solved = solve(solver.get(), line);
  EXPECT_EQ(solved.outcome.converged, 1);
  EXPECT_LE(solved.outcome.residual, 1e-3 * (1 + 1e-6));
  EXPECT_GT(solved.outcome.residual, 1e-6);
  // A whole number in the text; limits take its place.
  const auto whole = make(
      "{method: capstan_cg, tolerance: 1e-9, max_iterations: 400, "
      "parameters: {Absolute Tolerance: 1}}");
  ASSERT_EQ(capstan_set_operator(whole.get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  const Solved loose = solve(whole.get(), line);
  EXPECT_EQ(loose.outcome.converged, 1);
  EXPECT_GT(loose.outcome.residual, 1e-9);
  ASSERT_EQ(capstan_set_limits(whole.get(), 1e-9, 0, 400), CAPSTAN_SUCCESS) << capstan_error_text(whole.get());
  EXPECT_LE(solve(whole.get(), line).outcome.residual, 1e-9);
}

TEST(CInterface, TakesTheApplicationsWordOnSymmetry) {
  Line line(40, 0.5, 0.4);
  const auto solver = make("{method: CAPSTAN, tolerance: 1e-9, max_iterations: 400}");
  ASSERT_EQ(capstan_set_operator(solver.get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  ASSERT_EQ(capstan_set_symmetric(solver.get(), 0), CAPSTAN_SUCCESS);
  const Solved solved = solve(solver.get(), line);
  EXPECT_EQ(solved.outcome.reason, CAPSTAN_CONVERGED);
  const auto b = line.rightHandSide();
  EXPECT_LE(line.residual(b.data(), solved.x.data()), 1e-9 * solved.outcome.scale * (1 + 1e-6));
  expectError(capstan_set_symmetric(solver.get(), 2), CAPSTAN_ERROR_ARGUMENT, solver.get(), "symmetric");
  const auto early = make(cg);
  expectError(capstan_set_symmetric(early.get(), 1), CAPSTAN_ERROR_ORDER, early.get(), "A comes first");
}

TEST(CInterface, TakesTheApplicationsWordOnADiagonal) {
  Line line;
  const auto solver = make("{method: CAPSTAN CG, tolerance: 1e-9, max_iterations: 400}");
  ASSERT_EQ(capstan_set_operator(solver.get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  expectError(capstan_set_diagonal(solver.get(), 1), CAPSTAN_ERROR_ORDER, solver.get(), "M comes first");
  ASSERT_EQ(capstan_set_preconditioner(solver.get(), Line::jacobi, &line), CAPSTAN_SUCCESS);
  expectError(capstan_set_diagonal(solver.get(), 2), CAPSTAN_ERROR_ARGUMENT, solver.get(), "diagonal");
  const Solved before = solve(solver.get(), line);
  ASSERT_EQ(capstan_set_diagonal(solver.get(), 1), CAPSTAN_SUCCESS) << capstan_error_text(solver.get());
  const Solved told = solve(solver.get(), line);
  EXPECT_EQ(told.outcome.reason, CAPSTAN_CONVERGED);
  EXPECT_EQ(told.outcome.preconditioner_applications, 1);
  EXPECT_NEAR(told.outcome.iterations, before.outcome.iterations, 1);
  ASSERT_EQ(capstan_set_preconditioner(solver.get(), Line::jacobi, &line), CAPSTAN_SUCCESS);
  EXPECT_GT(solve(solver.get(), line).outcome.preconditioner_applications, 1) << "another one";
}

TEST(CInterface, ListsMethodsAndTheirParameters) {
  capstan_row row{};
  row.size = sizeof row;
  std::vector<std::string> aliases;
  for (int i = 0; capstan_method_row(i, &row) == CAPSTAN_SUCCESS; ++i) {
    aliases.emplace_back(row.alias);
    EXPECT_GT(std::string(row.summary).size(), 10U);
    int steps = 0, parameters = 0;
    capstan_row parameter{};
    parameter.size = sizeof parameter;
    const std::string method = row.name;
    for (; capstan_parameter_row(method.c_str(), parameters, &parameter) == CAPSTAN_SUCCESS; ++parameters) {
      steps += std::string(parameter.name) == "Step Size" ? 1 : 0;
    }
    EXPECT_GT(parameters, 10);
    EXPECT_EQ(steps, method == "CAPSTAN" || method.find("S-STEP") != std::string::npos ? 1 : 0) << method;
  }
  EXPECT_NE(std::find(aliases.begin(), aliases.end(), "capstan_sstep_gmres"), aliases.end());
  EXPECT_EQ(capstan_method_row(0, nullptr), CAPSTAN_ERROR_ARGUMENT);
  EXPECT_EQ(capstan_parameter_row("no method", 0, &row), CAPSTAN_ERROR_INPUT);
  row.size = 1;
  EXPECT_EQ(capstan_method_row(0, &row), CAPSTAN_ERROR_ARGUMENT);
}

TEST(CInterface, CostsOneReductionBeyondThoseOfTheMethodWhereSomethingWasSet) {
  Line line;
  for (const bool entries : {false, true}) {
    SCOPED_TRACE(entries);
    const auto solver = make(cg);
    const auto csr = line.csr();
    ASSERT_EQ(entries ? capstan_set_matrix(solver.get(), &csr)
                      : capstan_set_operator(solver.get(), line.rows, Line::apply, &line),
              CAPSTAN_SUCCESS);
    solve(solver.get(), line);
    for (const bool sets : {true, false}) {
      capstan::test::resetMpiCalls();
      ASSERT_EQ(capstan_set_limits(solver.get(), sets ? 1e-8 : 1e-7, 0, 300), CAPSTAN_SUCCESS);
      if (sets) {
        ASSERT_EQ(capstan_set_symmetric(solver.get(), 1), CAPSTAN_SUCCESS);
        ASSERT_EQ(capstan_set_preconditioner(solver.get(), Line::jacobi, &line), CAPSTAN_SUCCESS);
        ASSERT_EQ(capstan_set_zero_guess(solver.get(), 1), CAPSTAN_SUCCESS);
      }
      const Solved solved = solve(solver.get(), line);
      const auto calls = capstan::test::mpiCalls();
      const auto ofMethod = solved.outcome.reductions_blocking + solved.outcome.reductions_nonblocking;
      EXPECT_EQ(calls.allreduce + calls.iallreduce, ranksOf() == 1 ? 0 : ofMethod + (sets ? 1 : 0));
      EXPECT_EQ(calls.otherCollectives, 0);
    }
  }
}

TEST(CInterface, KeepsAHistoryWhereItIsAskedTo) {
  Line line(40, 0.5);
  const auto solver = make(cg);
  ASSERT_EQ(capstan_set_operator(solver.get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  std::int64_t length = 0;
  expectError(capstan_history(solver.get(), 0, nullptr, nullptr, &length), CAPSTAN_ERROR_ORDER, solver.get(),
              "no solve");
  solve(solver.get(), line);
  ASSERT_EQ(capstan_history(solver.get(), 0, nullptr, nullptr, &length), CAPSTAN_SUCCESS);
  EXPECT_EQ(length, 0);
  ASSERT_EQ(capstan_keep_history(solver.get(), 1), CAPSTAN_SUCCESS);
  const Solved solved = solve(solver.get(), line);
  ASSERT_EQ(capstan_history(solver.get(), 0, nullptr, nullptr, &length), CAPSTAN_SUCCESS);
  ASSERT_EQ(length, solved.outcome.iterations);
  std::vector<int> iterations(static_cast<std::size_t>(length), -1);
  std::vector<double> residuals(static_cast<std::size_t>(length), -1);
  std::int64_t room = 2;
  ASSERT_EQ(capstan_history(solver.get(), 0, iterations.data(), residuals.data(), &room), CAPSTAN_SUCCESS);
  EXPECT_EQ(room, length);
  EXPECT_EQ(iterations[2], -1) << "beyond the room";
  ASSERT_EQ(capstan_history(solver.get(), 0, iterations.data(), residuals.data(), &room), CAPSTAN_SUCCESS);
  EXPECT_EQ(iterations.back(), solved.outcome.iterations);
  EXPECT_EQ(iterations.front(), 1);
  EXPECT_GT(residuals.front(), residuals.back());
  EXPECT_LE(residuals.back(), 1e-9);
}

TEST(CInterface, EndsOnAllRanksWhereAFunctionFailsOnOne) {
  Line line;
  const auto solver = make(cg);
  for (const auto& [name, apply] : {std::pair{"a number", Line::fails}, std::pair{"an exception", Line::throws}}) {
    SCOPED_TRACE(name);
    ASSERT_EQ(capstan_set_operator(solver.get(), line.rows, apply, &line), CAPSTAN_SUCCESS);
    const Solved solved = solve(solver.get(), line);
    expectError(solved.status, CAPSTAN_ERROR_CALLBACK, solver.get(), "A has failed");
    EXPECT_EQ(solved.outcome.converged, 0);
    EXPECT_EQ(solved.outcome.reason, CAPSTAN_NON_FINITE);
    for (const double value : solved.x) EXPECT_EQ(value, 0) << "the guess";
  }
  ASSERT_EQ(capstan_set_operator(solver.get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  ASSERT_EQ(capstan_set_preconditioner(solver.get(), Line::fails, &line), CAPSTAN_SUCCESS);
  expectError(solve(solver.get(), line).status, CAPSTAN_ERROR_CALLBACK, solver.get(), "M has failed");
  ASSERT_EQ(capstan_set_preconditioner(solver.get(), Line::makesNaN, &line), CAPSTAN_SUCCESS);
  const Solved nan = solve(solver.get(), line);
  EXPECT_EQ(nan.status, CAPSTAN_SUCCESS) << "it has not said that it failed";
  EXPECT_EQ(nan.outcome.reason, CAPSTAN_NON_FINITE);
  ASSERT_EQ(capstan_set_preconditioner(solver.get(), nullptr, nullptr), CAPSTAN_SUCCESS);
  EXPECT_EQ(solve(solver.get(), line).outcome.converged, 1) << "the solver is none the worse for it";
}

/// M is a few iterations of another solver, or of the same one, which is
/// refused.
struct Inner {
  capstan_solver* solver;
  std::int64_t rows;
  int status = 0;
  static int apply(void* context, const double* r, double* z) {
    auto* const inner = static_cast<Inner*>(context);
    std::fill_n(z, inner->rows, 0.0);
    inner->status = capstan_solve(inner->solver, r, z, nullptr);
    return inner->status == CAPSTAN_SUCCESS ? 0 : 1;
  }
};

TEST(CInterface, SolvesWithinASolve) {
  Line line;
  const auto outer = make(
      "{method: capstan_gmres, tolerance: 1e-9, max_iterations: 400, "
      "parameters: {Flexible Gmres: yes}}");
  const auto inner = make("{method: capstan_cg, tolerance: 1e-2, max_iterations: 20}");
  for (auto* const each : {outer.get(), inner.get()}) {
    ASSERT_EQ(capstan_set_operator(each, line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  }
  Inner context{inner.get(), line.rows};
  ASSERT_EQ(capstan_set_preconditioner(outer.get(), Inner::apply, &context), CAPSTAN_SUCCESS);
  const Solved solved = solve(outer.get(), line);
  EXPECT_EQ(solved.status, CAPSTAN_SUCCESS) << capstan_error_text(outer.get());
  EXPECT_EQ(solved.outcome.converged, 1);
  context.solver = outer.get();
  expectError(solve(outer.get(), line).status, CAPSTAN_ERROR_CALLBACK, outer.get(), "M has failed");
  EXPECT_EQ(context.status, CAPSTAN_ERROR_ORDER);
}

/// What three solves of a system took.
using Took = std::vector<std::array<std::int64_t, 3>>;
void solveOnce(capstan_solver* solver, const Line& line, Took& took) {
  const auto outcome = solve(solver, line).outcome;
  EXPECT_EQ(outcome.converged, 1) << capstan_reason_text(outcome.reason);
  took.push_back({outcome.iterations, outcome.operator_applications,
                  outcome.reductions_blocking + outcome.reductions_nonblocking});
}

TEST(CInterface, KeepsApartWhatItLearnsOfSystemsThatAreAliveTogether) {
  for (const std::string method : {"capstan_sstep_gmres", "capstan_cg, parameters: {Polynomial Degree: 4}"}) {
    SCOPED_TRACE(method);
    std::array<Line, 2> lines{Line(53, 1.0), Line(53, 0.005)};
    std::array<Handle, 4> solvers;
    for (std::size_t i = 0; i < solvers.size(); ++i) {
      Line& line = lines[i % 2];
      solvers[i] = make("{tolerance: 1e-9, max_iterations: 400, method: " + method + "}");
      ASSERT_EQ(capstan_set_operator(solvers[i].get(), line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
    }
    std::array<Took, 2> oneByOne, inTurn;
    for (std::size_t i = 0; i < 2; ++i) {
      for (int k = 0; k < 3; ++k) solveOnce(solvers[i].get(), lines[i], oneByOne[i]);
    }
    for (int k = 0; k < 3; ++k) {
      for (std::size_t i = 0; i < 2; ++i) solveOnce(solvers[2 + i].get(), lines[i], inTurn[i]);
    }
    EXPECT_EQ(inTurn, oneByOne);
  }
}

TEST(CInterface, SaysWhatIsWrongInTheText) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"method: capstan_gc", "did you mean"},
      {"method: BLOCK GMRES", "none of Capstan's"},
      {"method: [", "malformed YAML"},
      {"[1, 2]", "allowed: a map"},
      {"{method: capstan_cg, tolerence: 1e-3}", "tolerance"},
      {"{method: capstan_cg, tolerance: x}", "tolerance"},
      {"{method: capstan_cg, parameters: {Step Size: 4}}", "no effect"},
      {"{method: capstan_cg, preconditioner: mulu}", "muelu"},
      {"{method: capstan_cg, preconditioner_parameters: {a: 1}}", "without preconditioner"},
      {"{tolerance: 1e-3}", "method: missing"},
      {"{linear_solvers: []}", "a list of solvers"},
      {"{linear_solvers: [{name: a, method: capstan_cg}, {name: b, method: "
       "capstan_cg}]}",
       "allowed: a or b"},
  };
  for (const auto& [text, says] : cases) {
    SCOPED_TRACE(text);
    capstan_solver* solver = nullptr;
    expectError(capstan_create(MPI_COMM_WORLD, text.c_str(), &solver), CAPSTAN_ERROR_INPUT, nullptr, says);
    EXPECT_EQ(solver, nullptr);
  }
}

TEST(CInterface, TakesTheTextOfRankZero) {
  capstan_solver* solver = nullptr;
  const std::string text = rankOf() == 0 ? "method: capstan_gmres" : "nonsense";
  ASSERT_EQ(capstan_create(MPI_COMM_WORLD, text.c_str(), &solver), CAPSTAN_SUCCESS) << capstan_error_text(nullptr);
  EXPECT_STREQ(capstan_method(solver), "CAPSTAN GMRES");
  capstan_destroy(&solver);
  EXPECT_EQ(solver, nullptr);
  for (const char* nothing : {static_cast<const char*>(nullptr), ""}) {
    ASSERT_EQ(capstan_create_f(MPI_Comm_c2f(MPI_COMM_WORLD), nothing, &solver), CAPSTAN_SUCCESS);
    EXPECT_STREQ(capstan_method(solver), "CAPSTAN CG");
    capstan_destroy(&solver);
  }
}

TEST(CInterface, ReadsFilesAndDecks) {
  const std::string folder = ::testing::TempDir() + "capstan_c_" + std::to_string(ranksOf());
  const std::string entry = folder + "_entry.yaml", deck = folder + "_deck.yaml";
  if (rankOf() == 0) {
    std::ofstream(entry) << "method: capstan_bicgstab\n";
    std::ofstream(deck) << "linear_solvers:\n  - {name: u, type: tpetra, "
                           "method: capstan_gmres}\n"
                           "  - {name: p, type: tpetra, method: "
                           "capstan_cr}\nsystems: anything\n";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  capstan_solver* solver = nullptr;
  ASSERT_EQ(capstan_create_from_file(MPI_COMM_WORLD, entry.c_str(), nullptr, &solver), CAPSTAN_SUCCESS)
      << capstan_error_text(nullptr);
  EXPECT_STREQ(capstan_method(solver), "CAPSTAN BICGSTAB");
  capstan_destroy(&solver);
  ASSERT_EQ(capstan_create_from_file(MPI_COMM_WORLD, deck.c_str(), "p", &solver), CAPSTAN_SUCCESS)
      << capstan_error_text(nullptr);
  EXPECT_STREQ(capstan_method(solver), "CAPSTAN CR");
  capstan_destroy(&solver);
  const auto create = [&](const char* file, const char* name) {
    return capstan_create_from_file(MPI_COMM_WORLD, file, name, &solver);
  };
  expectError(create(deck.c_str(), "q"), CAPSTAN_ERROR_INPUT, nullptr, "allowed: u or p");
  expectError(create(deck.c_str(), nullptr), CAPSTAN_ERROR_INPUT, nullptr, "allowed: u or p");
  expectError(create("/no/such/file", nullptr), CAPSTAN_ERROR_INPUT, nullptr, "/no/such/file");
  expectError(create(nullptr, nullptr), CAPSTAN_ERROR_ARGUMENT, nullptr, "file");
}

TEST(CInterface, RefusesCommunicatorsThatAreNone) {
  capstan_solver* solver = nullptr;
  expectError(capstan_create(MPI_COMM_NULL, cg, &solver), CAPSTAN_ERROR_MPI, nullptr, "MPI_COMM_NULL");
  expectError(capstan_create(MPI_COMM_WORLD, cg, nullptr), CAPSTAN_ERROR_ARGUMENT, nullptr, "NULL");
  if (ranksOf() < 2) return;
  MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
  const int mine = rankOf() == 0 ? 0 : 1;
  MPI_Comm_split(MPI_COMM_WORLD, mine, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - mine, 5, &between);
  expectError(capstan_create(between, cg, &solver), CAPSTAN_ERROR_MPI, nullptr, "between groups");
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/// Wrong on one rank alone, the first with rows, or on all.
TEST(CInterface, RefusesWrongArgumentsOnAllRanks) {
  Line line;
  const auto good = line.csr();
  for (const bool alone : {true, false}) {
    SCOPED_TRACE(alone);
    const bool here = !alone || rankOf() == 0;
    const auto solver = make(cg);
    auto* const s = solver.get();
    const auto b = line.rightHandSide();
    std::vector<double> x(b.size() + 1);
    expectError(capstan_solve(s, b.data(), x.data(), nullptr), CAPSTAN_ERROR_ORDER, s, "no A yet");
    expectError(capstan_matrix_changed(s), CAPSTAN_ERROR_ORDER, s, "capstan_set_matrix() first");
    expectError(capstan_set_preconditioner(s, Line::jacobi, &line), CAPSTAN_ERROR_ORDER, s, "A comes first");
    expectError(capstan_set_operator(s, here ? -1 : line.rows, Line::apply, &line), CAPSTAN_ERROR_ARGUMENT, s, "rows");
    expectError(capstan_set_operator(s, line.rows, here ? nullptr : Line::apply, &line), CAPSTAN_ERROR_ARGUMENT, s,
                "NULL");
    expectError(capstan_set_operator(s, here ? std::int64_t{1} << 31 : line.rows, Line::apply, &line),
                CAPSTAN_ERROR_ARGUMENT, s, "2147483647");
    const auto refuses = [&](const std::function<void(capstan_csr&)>& change, const std::string& text) {
      SCOPED_TRACE(text);
      capstan_csr wrong = good;
      if (here) change(wrong);
      expectError(capstan_set_matrix(s, &wrong), CAPSTAN_ERROR_ARGUMENT, s, text);
    };
    refuses([](capstan_csr& m) { m.size = 8; }, "sizeof(capstan_csr)");
    refuses([](capstan_csr& m) { m.rows = -2; }, "rows: found -2");
    refuses([](capstan_csr& m) { m.index_bits = 16; }, "32 or 64");
    refuses([](capstan_csr& m) { m.row_start = nullptr; }, "row_start = NULL");
    const std::int64_t from1[] = {1, 2}, falls[] = {0, 2, 1}, one[] = {0, 1}, two[] = {0, 2};
    const std::int64_t negative[] = {-1}, far[] = {100000}, twice[] = {0, 0};
    const double ones[] = {1, 1};
    const auto rows = [&](capstan_csr& m, int count, const std::int64_t* starts, const std::int64_t* columns) {
      m.rows = count;
      m.row_start = starts;
      m.columns = columns;
      m.values = ones;
    };
    refuses([&](capstan_csr& m) { rows(m, 1, from1, one); }, "row_start[0] = 1");
    refuses([&](capstan_csr& m) { rows(m, 2, falls, one); }, "row_start[2] = 1");
    refuses([&](capstan_csr& m) { rows(m, 1, one, negative); }, "column -1");
    refuses([&](capstan_csr& m) { rows(m, 1, one, far); }, "column 100000");
    refuses([&](capstan_csr& m) { rows(m, 1, two, twice); }, "twice");
    refuses([&](capstan_csr& m) { rows(m, 1, one, nullptr); }, "no columns");
    refuses([&](capstan_csr& m) { rows(m, 1, one, twice), m.values = nullptr; }, "no values");
    expectError(capstan_set_matrix(s, here ? nullptr : &good), CAPSTAN_ERROR_ARGUMENT, s, "NULL");

    ASSERT_EQ(capstan_set_operator(s, line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
    for (int again = 0; again < 2; ++again) {
      expectError(capstan_solve(s, here ? nullptr : b.data(), x.data(), nullptr), CAPSTAN_ERROR_ARGUMENT, s,
                  "b: found NULL");
      EXPECT_EQ(solve(s, line).outcome.converged, 1) << "the next one is told in the method's first reduction";
    }
    expectError(capstan_solve(s, b.data(), here ? nullptr : x.data(), nullptr), CAPSTAN_ERROR_ARGUMENT, s,
                "x: found NULL");
    capstan_outcome small = empty();
    if (here) small.size = 4;
    expectError(capstan_solve(s, b.data(), x.data(), &small), CAPSTAN_ERROR_ARGUMENT, s, "sizeof(capstan_outcome)");
    if (ranksOf() > 1 || !alone) {
      expectError(capstan_solve_columns(s, here ? 0 : 1, b.data(), line.rows, x.data(), line.rows, nullptr),
                  CAPSTAN_ERROR_ARGUMENT, s, "columns: found");
    }
    std::vector<double> wide(2 * b.size() + 2);
    expectError(capstan_solve_columns(s, 2, wide.data(), here ? 1 : line.rows + 1, wide.data(), line.rows + 1, nullptr),
                CAPSTAN_ERROR_ARGUMENT, s, "ldb");
    EXPECT_EQ(solve(s, line).outcome.converged, 1) << "the solver is none the worse for it";
  }
  EXPECT_EQ(capstan_solve(nullptr, nullptr, nullptr, nullptr), CAPSTAN_ERROR_ARGUMENT);
  EXPECT_STREQ(capstan_error_text(nullptr), "solver: found NULL");
  EXPECT_STREQ(capstan_method(nullptr), "");
  EXPECT_EQ(capstan_version(), CAPSTAN_C_VERSION);
  EXPECT_STREQ(capstan_reason_text(CAPSTAN_CONVERGED), "converged");
  EXPECT_STREQ(capstan_reason_text(static_cast<capstan_reason>(1000)), "unknown");
  capstan_destroy(nullptr);
}

class Settings : public ::testing::TestWithParam<const char*> {};

/// Wrong, or another value, on rank 0 alone.
TEST_P(Settings, ThatRanksDifferInAreFoundInTheNextSolve) {
  Line line;
  const auto b = line.rightHandSide();
  std::vector<double> x(b.size() + 1);
  const auto solver = make(GetParam());
  auto* const s = solver.get();
  ASSERT_EQ(capstan_set_operator(s, line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(solve(s, line).outcome.converged, 1);
  Watch watch;
  const bool here = rankOf() == 0;
  struct Setting {
    std::function<int(bool wrong)> set;
    std::string wrong, apart;
  };
  const std::vector<Setting> settings = {
      {[&](bool wrong) { return capstan_set_limits(s, wrong ? -1.0 : 1e-3, 0, 400); }, "tolerance", "differ"},
      {[&](bool wrong) { return capstan_set_limits(s, 1e-4, wrong ? std::nan("") : 1e-30, 400); }, "absolute_tolerance",
       "differ"},
      {[&](bool wrong) { return capstan_set_limits(s, 1e-4, 1e-30, wrong ? -1 : 300); }, "max_iterations", "differ"},
      {[&](bool wrong) { return capstan_keep_history(s, wrong ? 2 : 1); }, "0 or 1", "keep"},
      {[&](bool wrong) { return capstan_set_zero_guess(s, wrong ? 2 : 1); }, "0 or 1", "zero"},
      {[&](bool wrong) { return capstan_set_symmetric(s, wrong ? -2 : 1); }, "1, 0, or -1", "symmetric"},
      {[&](bool wrong) { return capstan_set_norm(s, squaresByALargeArray, wrong ? 3 : 2, &line); }, "1 or 2", "norm"},
      {[&](bool wrong) { return capstan_set_test(s, wrong ? nullptr : Watch::test, &watch); }, "", "test"},
      {[&](bool wrong) { return capstan_set_preconditioner(s, wrong ? nullptr : Line::jacobi, &line); }, "",
       "preconditioner"},
      {[&](bool wrong) { return capstan_set_diagonal(s, wrong ? 2 : 1); }, "0 or 1", "diagonal"}};
  for (const auto& setting : settings) {
    for (const bool mended : {false, true}) {
      SCOPED_TRACE(setting.apart + ", " + setting.wrong);
      const bool fails = here && !setting.wrong.empty();
      const int status = setting.set(here);
      EXPECT_EQ(status, fails ? CAPSTAN_ERROR_ARGUMENT : CAPSTAN_SUCCESS);
      if (fails) {
        EXPECT_NE(std::string(capstan_error_text(s)).find(setting.wrong), std::string::npos) << capstan_error_text(s);
      }
      if (mended) {
        EXPECT_EQ(setting.set(false), CAPSTAN_SUCCESS) << capstan_error_text(s);
      }
      const int solved = capstan_solve(s, b.data(), x.data(), nullptr);
      if (mended || ranksOf() == 1) {
        EXPECT_EQ(solved, CAPSTAN_SUCCESS) << capstan_error_text(s);
      } else {
        const bool limits = setting.apart == "differ";
        expectError(solved, limits ? CAPSTAN_ERROR_INPUT : CAPSTAN_ERROR_ARGUMENT, s, setting.apart);
        EXPECT_EQ(capstan_solve(s, b.data(), x.data(), nullptr), limits ? CAPSTAN_ERROR_INPUT : CAPSTAN_SUCCESS);
      }
      EXPECT_EQ(setting.set(false), CAPSTAN_SUCCESS) << capstan_error_text(s);
      EXPECT_EQ(solve(s, line).outcome.converged, 1) << capstan_error_text(s);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Settings,
                         ::testing::Values(cg, "{method: CAPSTAN, tolerance: 1e-9, max_iterations: 400}"),
                         [](const auto& text) { return text.index == 0 ? "CG" : "CAPSTAN"; });

/// Calls in any order, wrong on any of the ranks, or right: each ends alike on
/// all ranks, in an error exactly where a rank was wrong; after all of them the
/// solver solves.
TEST(CInterface, EndsAlikeOnAllRanksWhateverIsCalledInWhateverOrder) {
  Line line(12, 0.5);
  const auto csr = line.csr();
  const auto b = line.rightHandSide();
  std::vector<double> x(2 * b.size() + 2), wide(2 * b.size() + 2, 1.0);
  std::mt19937 together(7), alone(100 + static_cast<unsigned>(rankOf()));
  for (int sequence = 0; sequence < 40; ++sequence) {
    SCOPED_TRACE(sequence);
    const auto solver = make(cg);
    auto* const s = solver.get();
    const auto pitch = line.rows + 1;
    for (int call = 0; call < 6; ++call) {
      const bool wrongHere = together() % 2 == 0 && alone() % 2 == 0;
      int wrong = wrongHere ? 1 : 0;
      MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      capstan_csr matrix = csr;
      matrix.index_bits = wrongHere ? 7 : 64;
      const double* const given = wrongHere ? nullptr : b.data();
      const unsigned kind = together() % 8;
      int status = -1;
      bool mayBeEarly = false;
      switch (kind) {
        case 0:
          status = capstan_set_operator(s, wrongHere ? -3 : line.rows, Line::apply, &line);
          break;
        case 1:
          status = capstan_set_matrix(s, &matrix);
          break;
        case 2:
          status = capstan_set_operator(s, line.rows, wrongHere ? nullptr : Line::apply, &line);
          break;
        case 3:
          EXPECT_EQ(capstan_set_limits(s, wrongHere ? -1 : 1e-8, 0, 200) == CAPSTAN_SUCCESS, !wrongHere);
          EXPECT_EQ(capstan_set_limits(s, 1e-8, 0, 200), CAPSTAN_SUCCESS);
          continue;
        case 4:
          EXPECT_EQ(capstan_keep_history(s, wrongHere ? 3 : 1) == CAPSTAN_SUCCESS, !wrongHere);
          EXPECT_EQ(capstan_keep_history(s, 1), CAPSTAN_SUCCESS);
          continue;
        case 5:
          mayBeEarly = true;
          status = capstan_solve_columns(s, wrongHere ? -1 : 1, b.data(), pitch, x.data(), pitch, nullptr);
          break;
        case 6:
          mayBeEarly = true;
          status = capstan_solve_columns(s, 2, wide.data(), wrongHere ? -1 : pitch, x.data(), pitch, nullptr);
          break;
        default:
          mayBeEarly = true;
          status = capstan_solve(s, given, x.data(), nullptr);
      }
      expectSameOnAllRanks(status);
      if (kind == 7) continue;  // whether a rank without rows was the wrong one decides
      if (wrong != 0) {
        EXPECT_NE(status, CAPSTAN_SUCCESS) << kind;
        EXPECT_NE(std::string(capstan_error_text(s)), "");
      } else if (status != CAPSTAN_SUCCESS) {
        EXPECT_TRUE(mayBeEarly && status == CAPSTAN_ERROR_ORDER) << kind << ": " << capstan_error_text(s);
      }
      std::fill(x.begin(), x.end(), 0.0);
    }
    ASSERT_EQ(capstan_set_operator(s, line.rows, Line::apply, &line), CAPSTAN_SUCCESS);
    EXPECT_EQ(solve(s, line).outcome.converged, 1);
  }
}

TEST(CInterface, AsksForEntriesWhereAPreconditionerNeedsThem) {
  Line line;
  const auto solver = make("{method: capstan_cg, preconditioner: riluk}");
  expectError(capstan_set_operator(solver.get(), line.rows, Line::apply, &line), CAPSTAN_ERROR_INPUT, solver.get(),
              "needs the entries of A");
}

}  // namespace
