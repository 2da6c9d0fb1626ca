#pragma once
/// \file
/// One way to set up, solve and judge a linear system with any row of methods().

#include <gtest/gtest.h>

#include <BelosLinearProblem.hpp>
#include <BelosSolverManager.hpp>
#include <BelosTpetraAdapter.hpp>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "belos_ext/parameters/method_traits.hpp"
#include "belos_ext/test/support/methods.hpp"
#include "belos_ext/test/support/problems.hpp"
#include "belos_ext/test/support/rank_agreement.hpp"
#include "tpetra_ext/kernels/base/execution.hpp"

namespace capstan {

inline void PrintTo(const MethodTraits& name, std::ostream* out) { *out << name.canonical; }

}  // namespace capstan

namespace capstan::testing {

/// Passes over vectors that recurrences of products take of their own, of so many a product: on devices products are
/// Tpetra's (BlockProduct).
inline double passesApart(double vectors) { return kernels::runsOnHost<Types::ExecutionSpace> ? 0 : vectors; }

using Solver = Belos::SolverManager<Scalar, MultiVector, Operator>;
using Problem = Belos::LinearProblem<Scalar, MultiVector, Operator>;
using Params = Teuchos::ParameterList;

enum class Side { None, Left, Right };
std::string toString(Side side);
inline void PrintTo(Side side, std::ostream* out) { *out << toString(side); }

/// A x = b with a guess in x, and a preconditioner used on the side the test asks for.
struct System {
  RCP<const Operator> a;
  RCP<MultiVector> b, x;
  RCP<const Operator> preconditioner;
  std::function<void()> arm = [] {};  ///< called once the problem is set and before the solve
};

/// out = f(in), for operators that misbehave on purpose. Refuses alpha, beta and transposes.
class FunctionOperator final : public Operator {
 public:
  using Function = std::function<void(const MultiVector&, MultiVector&)>;
  FunctionOperator(RCP<const Map> map, Function f) : map_(std::move(map)), f_(std::move(f)) {}
  RCP<const Map> getDomainMap() const override { return map_; }
  RCP<const Map> getRangeMap() const override { return map_; }
  void apply(const MultiVector& in, MultiVector& out, Teuchos::ETransp mode, Scalar alpha, Scalar beta) const override;

 private:
  RCP<const Map> map_;
  Function f_;
};

/// Multiplies by the inverse diagonal of A; 1 where an entry vanishes. Makes nothing on the heap when applied.
RCP<const Operator> jacobi(const CrsMatrix& a);

/// b with b = A y for y(i) = entry(i), and x = 0, preconditioned by Jacobi.
System systemWithSolution(const RCP<CrsMatrix>& a, const std::function<Scalar(GO)>& entry = wave);
/// b(i) = entry(i) and x = 0, preconditioned by Jacobi. Columns differ.
System systemWithRightHandSide(const RCP<CrsMatrix>& a, const std::function<Scalar(GO)>& entry = wave,
                               size_t columns = 1);

/// The same with a right preconditioner that is not linear: a sweep of Richardson's method, and a second one scaled,
/// for each column, by what minimises the error along it, as multigrid scales its corrections.
System systemWithScaledCorrections(const RCP<CrsMatrix>& a);

/// The same system behind an operator whose rows cannot be read, so that none of them is solved by itself.
System rowsHidden(System system);

/// The same with a preconditioner that is definite, but far from symmetric: M^{-1} = I + N with a skew N.
System withSkewPreconditioner(System system, Scalar skew);

/// D A D, with A the five-point Laplacian on an n x n grid and D = diag(scale(i)).
RCP<CrsMatrix> scaledLaplacian(GO n, const std::function<Scalar(GO)>& scale);

RCP<Problem> problemOf(const System& system, Side side = Side::None);
RCP<Solver> solverOf(const MethodTraits& name, const Params& parameters = Params());
const SolveReport& reportOf(const Solver& solver);

/// Takes new parameters into an existing solver.
void change(Solver& solver, const Params& parameters);

/// Sets the problem and solves.
Outcome solve(Solver& solver, const System& system, Side side = Side::None);
Outcome solve(const MethodTraits& name, const Params& parameters, const System& system, Side side = Side::None);

/// b - A x.
RCP<MultiVector> residualOf(const System& system);
/// The largest 1-norm of a column.
double norm1(const MultiVector& v);
/// || b - A x || per column, computed here without overflow or underflow of squares.
std::vector<double> residualNorms(const System& system, const MultiVector& x);
/// Scaled norms of columns, likewise.
std::vector<double> norms(const MultiVector& v);
/// The largest || b - A x || / || b - A x_0 || over the columns, for the guess given.
double relativeResidual(const System& system, const MultiVector& guess);
/// Row by row, by how much two ways of computing b - A x may differ by rounding where A is a Tpetra::CrsMatrix:
/// Capstan and Tpetra sum the products of a row in other orders. Zero for another operator, which both ask.
RCP<MultiVector> residualRounding(const System& system);

bool allFinite(const MultiVector& v);
/// Every entry equal, NaN equal to NaN.
bool identical(const MultiVector& a, const MultiVector& b);

/// Fails unless all ranks hold the same numbers to the last bit (NaN equal to NaN). Collective.
void expectSameOnAllRanks(const std::vector<double>& values);
/// The same for outcome, counts and residuals of a report.
void expectSameOnAllRanks(const Outcome& outcome);

/// Whether kernels run on CPUs: sums are rounded otherwise on a device.
constexpr bool onCpus = kernels::runsOnHost<Types::ExecutionSpace>;

RCP<MultiVector> copyOf(const MultiVector& v);
int ranks();
int rank();

/// Times that this rank waits for kernels in so many products with a matrix of which every rank needs something of
/// another: on CPUs, where products are Capstan's own, once each if kernels run later than they are launched, for what
/// it packs to send. On devices they are Tpetra's, whose waits nobody counts.
long waitsOfProducts(long products);

/// Events of that kind in the report.
std::vector<ReportEvent> told(const Outcome& outcome, const std::string& kind);
/// Whether one of them has this text in its details.
bool mentions(const std::vector<ReportEvent>& events, const std::string& text);

/// A file of the running test, of the same name on every rank. Only rank 0 writes it.
std::string temporaryFile(const std::string& ending);
/// Has the residuals of every iteration kept.
void keepHistory(Params& parameters);

/// Whether its reductions are hidden behind work instead of being shared by several right-hand sides.
bool isPipelined(const MethodTraits& name);

/// Methods that minimise the residual over any Krylov space, and those that want A and M positive definite.
bool isGmres(const MethodTraits& name);
bool isCg(const MethodTraits& name);
/// The methods of which that is true, for suites that are not run for every solver.
std::vector<MethodTraits> methodsWhere(bool (*is)(const MethodTraits&));
/// Methods with "Step Size", "Basis" and "Shifts".
bool getsStepSize(const MethodTraits& name);
/// Whether "Block Orthogonalization" of that value is no error.
bool takesOrthogonalization(const MethodTraits& name, const std::string& scheme);

/// A parameter's name from a solver's: letters, digits and underscores.
std::string identifier(std::string text);
std::string solverIdentifier(const ::testing::TestParamInfo<MethodTraits>& info);

/// A suite run for every solver.
class EverySolver : public ::testing::TestWithParam<MethodTraits> {};
#define CAPSTAN_FOR_EVERY_SOLVER(Suite) \
  INSTANTIATE_TEST_SUITE_P(Solvers, Suite, ::testing::ValuesIn(methods()), solverIdentifier)

}  // namespace capstan::testing
