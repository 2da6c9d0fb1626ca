#include "belos_ext/test/solvers/solver_suite.hpp"

#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Vector.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>

#include "belos_ext/choice/choosing_manager.hpp"
#include "tpetra_ext/compat/local_views.hpp"

namespace capstan::testing {

using Vector = Types::Vector;

std::string toString(Side side) { return side == Side::None ? "none" : side == Side::Left ? "left" : "right"; }

void FunctionOperator::apply(const MultiVector& in, MultiVector& out, Teuchos::ETransp mode, Scalar alpha,
                             Scalar beta) const {
  if (mode != Teuchos::NO_TRANS || alpha != Scalar(1) || beta != Scalar(0)) {
    throw std::logic_error("FunctionOperator: only out = f(in)");
  }
  f_(in, out);
}

RCP<const Operator> jacobi(const CrsMatrix& a) {
  auto inverse = rcp(new Vector(a.getRowMap()));
  a.getLocalDiagCopy(*inverse);
  for (size_t i = 0; i < inverse->getLocalLength(); ++i) {
    const Scalar d = inverse->getData()[static_cast<Teuchos::Ordinal>(i)];
    inverse->replaceLocalValue(static_cast<int>(i), d == Scalar(0) ? Scalar(1) : Scalar(1) / d);
  }
  return rcp(new FunctionOperator(a.getRowMap(), [inverse](const MultiVector& in, MultiVector& out) {
    out.elementWiseMultiply(Scalar(1), *inverse, in, Scalar(0));
  }));
}

System systemWithSolution(const RCP<CrsMatrix>& a, const std::function<Scalar(GO)>& entry) {
  System system = systemWithRightHandSide(a);
  a->apply(*vectorFrom(a->getRowMap(), entry), *system.b);
  return system;
}

System systemWithScaledCorrections(const RCP<CrsMatrix>& a) {
  System system = systemWithRightHandSide(a);
  system.preconditioner = rcp(new FunctionOperator(system.b->getMap(), [a](const MultiVector& in, MultiVector& out) {
    out.update(0.2, in, 0);
    MultiVector residual(in, Teuchos::Copy), image(in.getMap(), in.getNumVectors());
    a->apply(out, image);
    residual.update(-1, image, 1);
    a->apply(residual, image);
    std::vector<Scalar> along(in.getNumVectors()), curvature(in.getNumVectors());
    residual.dot(residual, along);
    residual.dot(image, curvature);
    for (std::size_t j = 0; j < in.getNumVectors(); ++j) {
      if (curvature[j] > 0) out.getVectorNonConst(j)->update(along[j] / curvature[j], *residual.getVector(j), 1);
    }
  }));
  return system;
}

System systemWithRightHandSide(const RCP<CrsMatrix>& a, const std::function<Scalar(GO)>& entry, size_t columns) {
  System system;
  system.a = a;
  system.b = vectorFrom(a->getRowMap(), entry, columns);
  system.x = rcp(new MultiVector(a->getRowMap(), columns));
  system.preconditioner = jacobi(*a);
  return system;
}

System rowsHidden(System system) {
  const auto a = system.a;
  system.a =
      rcp(new FunctionOperator(a->getDomainMap(), [a](const MultiVector& in, MultiVector& out) { a->apply(in, out); }));
  return system;
}

System withSkewPreconditioner(System system, Scalar skew) {
  const auto n = static_cast<GO>(system.b->getGlobalLength());
  system.preconditioner = matrixFrom(system.b->getMap(), [=](GO g) {
    std::vector<Entry> row{{g, 1.0}};
    if (g > 0) row.push_back({g - 1, -skew});
    if (g + 1 < n) row.push_back({g + 1, skew});
    return row;
  });
  return system;
}

RCP<CrsMatrix> scaledLaplacian(GO n, const std::function<Scalar(GO)>& scale) {
  return matrixFrom(evenMap(n * n), [&](GO g) {
    std::vector<Entry> row{{g, 4 * scale(g) * scale(g)}};
    const auto couple = [&](GO to) { row.push_back({to, -scale(g) * scale(to)}); };
    if (g % n > 0) couple(g - 1);
    if (g % n + 1 < n) couple(g + 1);
    if (g >= n) couple(g - n);
    if (g + n < n * n) couple(g + n);
    return row;
  });
}

RCP<Problem> problemOf(const System& system, Side side) {
  auto problem = rcp(new Problem(system.a, system.x, system.b));
  if (side == Side::Left) problem->setLeftPrec(system.preconditioner);
  if (side == Side::Right) problem->setRightPrec(system.preconditioner);
  problem->setProblem();
  return problem;
}

RCP<Solver> solverOf(const MethodTraits& name, const Params& parameters) {
  auto solver = makeSolver<Types>(name);
  change(*solver, parameters);
  return solver;
}

const SolveReport& reportOf(const Solver& solver) { return dynamic_cast<const ReportingSolver&>(solver).report(); }

void change(Solver& solver, const Params& parameters) { solver.setParameters(rcp(new Params(parameters))); }

Outcome solve(Solver& solver, const System& system, Side side) {
  solver.setProblem(problemOf(system, side));
  system.arm();
  Outcome outcome;
  outcome.converged = solver.solve() == Belos::Converged;
  compat::handOver<Types::ExecutionSpace>("the application, after a solve");
  outcome.report = reportOf(solver);
  outcome.iterations = solver.getNumIters();
  outcome.achieved = solver.achievedTol();
  outcome.lossOfAccuracy = solver.isLOADetected();
  return outcome;
}

Outcome solve(const MethodTraits& name, const Params& parameters, const System& system, Side side) {
  return solve(*solverOf(name, parameters), system, side);
}

long waitsOfProducts(long products) {
  using Execution = Types::ExecutionSpace;
  return kernels::runsOnHost<Execution> && kernels::runsLater<Execution>() && ranks() > 1 ? products : 0;
}

std::vector<double> norms(const MultiVector& v) {
  const size_t columns = v.getNumVectors();
  std::vector<double> largest(columns), result(columns);
  v.normInf(Teuchos::ArrayView<double>(largest));
  for (size_t c = 0; c < columns; ++c) {
    MultiVector scaled(*v.getVector(c), Teuchos::Copy);
    if (!(largest[c] > 0) || !std::isfinite(largest[c])) {
      // A maximum may lose a NaN; a sum does not.
      scaled.norm2(Teuchos::ArrayView<double>(&result[c], 1));
      continue;
    }
    scaled.scale(1 / largest[c]);
    scaled.norm2(Teuchos::ArrayView<double>(&result[c], 1));
    result[c] *= largest[c];
  }
  return result;
}

RCP<MultiVector> residualOf(const System& system) {
  auto r = rcp(new MultiVector(*system.b, Teuchos::Copy));
  auto image = rcp(new MultiVector(system.b->getMap(), system.b->getNumVectors()));
  system.a->apply(*system.x, *image);
  r->update(-1, *image, 1);
  return r;
}

double norm1(const MultiVector& v) {
  std::vector<double> norms(v.getNumVectors());
  v.norm1(Teuchos::ArrayView<double>(norms));
  return *std::max_element(norms.begin(), norms.end());
}

std::vector<double> residualNorms(const System& system, const MultiVector& x) {
  MultiVector r(system.b->getMap(), system.b->getNumVectors());
  system.a->apply(x, r);
  r.update(1, *system.b, -1);
  return norms(r);
}

double relativeResidual(const System& system, const MultiVector& guess) {
  const std::vector<double> now = residualNorms(system, *system.x), then = residualNorms(system, guess);
  double worst = 0;
  for (size_t c = 0; c < now.size(); ++c) {
    const double relative = then[c] > 0 ? now[c] / then[c] : now[c];
    if (!(relative <= worst)) worst = relative;
  }
  return worst;
}

RCP<MultiVector> residualRounding(const System& system) {
  auto bound = rcp(new MultiVector(system.b->getMap(), system.b->getNumVectors()));
  const auto a = Teuchos::rcp_dynamic_cast<const CrsMatrix>(system.a);
  if (a.is_null()) return bound;
  CrsMatrix magnitudes(*a, Teuchos::Copy);
  {
    const auto local = compat::hostMatrix(magnitudes);
    for (size_t k = 0; k < local->values.extent(0); ++k) local->values(k) = std::abs(local->values(k));
  }
  MultiVector x(*system.x, Teuchos::Copy), b(*system.b, Teuchos::Copy);
  x.abs(*system.x);
  b.abs(*system.b);
  magnitudes.apply(x, *bound);
  // The error of a sum of n products is at most n u of the sum of their magnitudes; both have one, and subtract.
  const double unit = std::numeric_limits<Scalar>::epsilon() / 2;
  const double each = static_cast<double>(a->getGlobalMaxNumRowEntries() + 2) * unit;
  bound->update(2 * unit, b, 2 * each);
  return bound;
}

bool allFinite(const MultiVector& v) {
  int mine = 1, all = 1;
  for (size_t c = 0; c < v.getNumVectors(); ++c) {
    for (const Scalar value : v.getData(c)) mine = mine && std::isfinite(value) ? 1 : 0;
  }
  Teuchos::reduceAll(*v.getMap()->getComm(), Teuchos::REDUCE_MIN, mine, Teuchos::outArg(all));
  return all == 1;
}

bool identical(const MultiVector& a, const MultiVector& b) {
  int mine = 1, all = 1;
  for (size_t c = 0; c < a.getNumVectors(); ++c) {
    const auto x = a.getData(c), y = b.getData(c);
    for (Teuchos::Ordinal i = 0; i < x.size(); ++i) {
      if (!(x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])))) mine = 0;
    }
  }
  Teuchos::reduceAll(*a.getMap()->getComm(), Teuchos::REDUCE_MIN, mine, Teuchos::outArg(all));
  return all == 1;
}

void expectSameOnAllRanks(const std::vector<double>& values) {
  const auto place = firstDifference(values, *Tpetra::getDefaultComm());
  EXPECT_FALSE(place) << "number " << place.value_or(0) << " differs between ranks";
}

void expectSameOnAllRanks(const Outcome& outcome) { expectSameOnAllRanks(sharedNumbers(outcome)); }

RCP<MultiVector> copyOf(const MultiVector& v) { return rcp(new MultiVector(v, Teuchos::Copy)); }
int ranks() { return Tpetra::getDefaultComm()->getSize(); }
int rank() { return Tpetra::getDefaultComm()->getRank(); }

std::vector<ReportEvent> told(const Outcome& outcome, const std::string& kind) {
  std::vector<ReportEvent> events;
  for (const ReportEvent& event : outcome.report.events) {
    if (event.kind == kind) events.push_back(event);
  }
  return events;
}

bool mentions(const std::vector<ReportEvent>& events, const std::string& text) {
  return std::any_of(events.begin(), events.end(),
                     [&](const ReportEvent& event) { return event.detail.find(text) != std::string::npos; });
}

std::string temporaryFile(const std::string& ending) {
  const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
  return ::testing::TempDir() + "capstan_" + identifier(std::string(test.test_suite_name()) + "_" + test.name()) +
         "_np" + std::to_string(ranks()) + ending;
}

void keepHistory(Params& parameters) { parameters.set("History File", temporaryFile("_history.csv")); }

bool isGmres(const MethodTraits& name) { return name.family == Family::Gmres; }

bool isCg(const MethodTraits& name) { return name.family == Family::ConjugateGradients; }

bool isPipelined(const MethodTraits& name) { return name.pipelined; }

std::vector<MethodTraits> methodsWhere(bool (*is)(const MethodTraits&)) {
  std::vector<MethodTraits> found;
  for (const MethodTraits& method : methods()) {
    if (is(method)) found.push_back(method);
  }
  return found;
}

bool getsStepSize(const MethodTraits& name) { return name.takes("Step Size"); }

bool takesOrthogonalization(const MethodTraits& name, const std::string& scheme) {
  return name.takes("Block Orthogonalization") &&
         (name.canonical != id::PipelinedGmres || (scheme != "pip2" && scheme != "two-stage" && scheme != "sketched"));
}

std::string identifier(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

std::string solverIdentifier(const ::testing::TestParamInfo<MethodTraits>& info) {
  return identifier(info.param.canonical);
}

}  // namespace capstan::testing
