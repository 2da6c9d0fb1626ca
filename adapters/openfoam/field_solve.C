// SPDX-License-Identifier: GPL-3.0-or-later
#include <array>
#include <cfenv>
#include <cmath>
#include <limits>
#include <set>

#include "PrecisionAdaptor.H"
#include "adapters/openfoam/field_solve.H"
#include "sigFpe.H"

namespace capstan::foam {
namespace {

// Trilinos divides by zero where it knows what it does; NaN and Inf are looked for in reduced norms instead.
class QuietFloatingPoint {
 public:
  QuietFloatingPoint() = default;
  QuietFloatingPoint(const QuietFloatingPoint&) = delete;
  QuietFloatingPoint& operator=(const QuietFloatingPoint&) = delete;
  ~QuietFloatingPoint() { std::feclearexcept(FE_ALL_EXCEPT); }

 private:
  Foam::sigFpe::ignore ignore_;
};

template <std::size_t N>
void sumOverRanks(std::array<double, N>& values, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(N), MPI_DOUBLE, MPI_SUM, comm);
}

// OpenFOAM prints one word: the method as a deck would write it.
Foam::word printedName(const std::string& method) {
  std::string name = method;
  std::replace(name.begin(), name.end(), ' ', '_');
  return Foam::word(name);
}

}  // namespace

bool FieldSolve::Norms::finite() const { return std::isfinite(one) && std::isfinite(two); }

FieldSolve::FieldSolve(LduSystem system, const Foam::word& field, Foam::direction component,
                       const SolverControls& controls, const Limits& limits)
    : system_(system),
      field_(field),
      component_(component),
      controls_(controls),
      limits_(limits),
      comm_(meshCommunicator(system.matrix)),
      context_(fieldContext(system.matrix, field)) {
  cost_.field = field;
  cost_.method = controls.solver.method;
  cost_.preconditioner = controls.preconditioner.name;
}

Foam::solverPerformance FieldSolve::run(Foam::scalarField& psi, const Foam::scalarField& source) {
  const QuietFloatingPoint quiet;
  const double start = MPI_Wtime();
  Foam::solverPerformance performance(printedName(controls_.solver.method), field_);
  prepare(psi);
  norms_ = firstResidual(psi, source);
  performance.initialResidual() = norms_.one / normFactor_;
  performance.finalResidual() = performance.initialResidual();
  system_.matrix.setResidualField(Foam::ConstPrecisionAdaptor<Foam::scalar, Foam::solveScalar>(residual_)(), field_,
                                  true);
  if (!norms_.finite() || !std::isfinite(normFactor_)) {
    warn("the matrix, the source or the field holds NaN or Inf; the field is left as it is");
  } else if (!performance.checkConvergence(limits_.tolerance, limits_.relTol) || limits_.minIter > 0) {
    const double setup = MPI_Wtime();
    cost_.builds = context_->update(system_, component_, sign_, controls_) ? 1 : 0;
    cost_.setupSeconds += MPI_Wtime() - setup;
    iterate(psi, source, performance);
  }
  system_.matrix.setResidualField(Foam::ConstPrecisionAdaptor<Foam::scalar, Foam::solveScalar>(residual_)(), field_,
                                  false);
  cost_.solveSeconds = MPI_Wtime() - start - cost_.setupSeconds;
  record(performance);
  return performance;
}

// One message: what the residual norm needs, which sign the matrix has, whether some rank's mesh has changed.
void FieldSolve::prepare(const Foam::scalarField& psi) {
  std::array<double, 4> sums{};
  for (const auto value : system_.matrix.diag()) {
    sums[0] += value;
  }
  for (const auto value : psi) {
    sums[1] += value;
  }
  sums[2] = psi.size();
  sums[3] = context_->fits(system_) ? 0 : 1;
  sumOverRanks(sums, comm_);
  ++cost_.checks;
  sign_ = sums[0] < 0 ? -1 : 1;
  cells_ = sums[2];
  mean_ = cells_ > 0 ? sums[1] / cells_ : 0;
  if (sums[3] > 0) {
    const double start = MPI_Wtime();
    context_->adopt(system_);
    cost_.setupSeconds += MPI_Wtime() - start;
  }
}

// OpenFOAM's normFactor and both norms of the residual, in one message.
FieldSolve::Norms FieldSolve::firstResidual(const Foam::scalarField& psi, const Foam::scalarField& source) {
  Foam::solveScalarField product(psi.size());
  Foam::solveScalarField rowSums(psi.size());
  system_.matrix.Amul(product, psi, system_.interfaceBouCoeffs, system_.interfaces, component_);
  system_.matrix.sumA(rowSums, system_.interfaceBouCoeffs, system_.interfaces);
  residual_ = source - product;
  correction_.setSize(psi.size());
  std::array<double, 4> sums{};
  forAll(product, cell) {
    const double reference = mean_ * rowSums[cell];
    sums[0] += std::abs(product[cell] - reference) + std::abs(source[cell] - reference);
    sums[1] += std::abs(residual_[cell]);
    sums[2] += residual_[cell] * residual_[cell];
    sums[3] += std::abs(product[cell]) + std::abs(source[cell]);
  }
  sumOverRanks(sums, comm_);
  ++cost_.checks;
  roundingFloor_ = 8 * std::numeric_limits<double>::epsilon() * sums[3];
  normFactor_ = sums[0] + Foam::solverPerformance::small_;
  return {sums[1], std::sqrt(sums[2])};
}

FieldSolve::Norms FieldSolve::nextResidual(const Foam::scalarField& psi, const Foam::scalarField& source) {
  system_.matrix.Amul(residual_, psi, system_.interfaceBouCoeffs, system_.interfaces, component_);
  std::array<double, 2> sums{};
  forAll(residual_, cell) {
    residual_[cell] = source[cell] - residual_[cell];
    sums[0] += std::abs(residual_[cell]);
    sums[1] += residual_[cell] * residual_[cell];
  }
  sumOverRanks(sums, comm_);
  ++cost_.checks;
  return {sums[0], std::sqrt(sums[1])};
}

// OpenFOAM's test is on ||r||_1, the Krylov solver's on ||r||_2. ||r||_1 <= sqrt(n) ||r||_2 always; residuals at the
// end of a solve are spread nearly as evenly as that, so the bound costs little, and what the last solve showed costs
// less.
double FieldSolve::passTolerance(const Norms& norms, const Foam::solverPerformance& performance) const {
  const double target =
      normFactor_ * std::max(limits_.tolerance, limits_.relTol * static_cast<double>(performance.initialResidual()));
  const double bound = std::sqrt(cells_);
  const double spread = context_->spread > 0 && cost_.passes == 0 ? std::min(bound, 1.1 * context_->spread) : bound;
  return std::min(0.9, 0.99 * target / (spread * norms.two));
}

void FieldSolve::pass(double tolerance, int maxIterations, Foam::scalarField& psi) {
  if (sign_ < 0) {
    residual_.negate();
  }
  const auto result =
      context_->solver().solve(controls_.solver, tolerance, maxIterations, residual_.cdata(), correction_.data());
  cost_.iterations += result.iterations;
  cost_.hasReductions = result.hasReductions;
  cost_.reductions += result.reductions;
  cost_.applications += result.applications;
  ++cost_.passes;
  forAll(psi, cell) { psi[cell] += correction_[cell]; }
}

void FieldSolve::iterate(Foam::scalarField& psi, const Foam::scalarField& source,
                         Foam::solverPerformance& performance) {
  constexpr double tiny = 1e-30;  // a tolerance no solver reaches: runs to the iteration limit
  const Norms first = norms_;
  bool stalled = false;
  while (!stalled) {
    const bool converged = performance.checkConvergence(limits_.tolerance, limits_.relTol);
    const Foam::label limit = converged ? limits_.minIter : limits_.maxIter;
    if (cost_.iterations >= limit || norms_.two == 0) {
      break;
    }
    const double tolerance = converged ? tiny : passTolerance(norms_, performance);
    const Foam::scalarField before(psi);
    const int iterationsBefore = cost_.iterations;
    pass(tolerance, limit - cost_.iterations, psi);
    const Norms norms = nextResidual(psi, source);
    if (!norms.finite()) {
      warn("the solution would hold NaN or Inf; the field is left as it was");
      psi = before;
      nextResidual(psi, source);
      break;
    }
    // Less than a tenth gained, and not for want of iterations: another pass would gain no more.
    stalled = norms.two > 0.9 * norms_.two || cost_.iterations == iterationsBefore;
    norms_ = norms;
    performance.finalResidual() = norms.one / normFactor_;
    if (norms.one <= roundingFloor_) {
      break;  // normFactor itself is rounding error: no residual can meet the tolerance
    }
  }
  performance.nIterations() = cost_.iterations;
  const bool converged = performance.checkConvergence(limits_.tolerance, limits_.relTol);
  if (norms_.two > 0) {
    context_->spread = norms_.one / norms_.two;
    context_->learn(cost_.iterations, std::log10(first.two / norms_.two));
  }
  if (!converged && stalled && norms_.one > roundingFloor_ && cost_.iterations < limits_.maxIter) {
    warn("the residual does not fall any further; the solve is left unconverged");
  }
}

void FieldSolve::warn(const std::string& message) const {
  static std::set<std::string> told;
  if (told.insert(field_ + message).second) {
    WarningInFunction << "solver capstan, field " << field_ << ": " << message.c_str() << " (told once a field)"
                      << Foam::endl;
  }
}

void FieldSolve::record(const Foam::solverPerformance& performance) {
  cost_.converged = performance.converged();
  recordSolve(cost_, controls_.summary);
}

}  // namespace capstan::foam
