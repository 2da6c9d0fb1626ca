#include "belos_ext/test/soak/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

namespace capstan::soak {
namespace {

using Real = long double;
static_assert(LDBL_MAX_EXP > 2 * DBL_MAX_EXP, "squares of doubles must not overflow");
using Vector = std::vector<Real>;

constexpr Real eps = std::numeric_limits<double>::epsilon();
/// Relative error granted to norms computed in double.
constexpr Real generous = 1 + 1e-6L;
/// Below, squares of entries underflow in double and the solvers work with upper bounds of norms; above, they overflow.
constexpr Real smallest = 1e-140L, largest = 1e140L;

Real norm(const Vector& v, ResidualNorm kind = ResidualNorm::Two) {
  Real sum = 0;
  for (const Real entry : v) sum += kind == ResidualNorm::One ? std::abs(entry) : entry * entry;
  return kind == ResidualNorm::One ? sum : std::sqrt(sum);
}

/// b - A x, and an entrywise bound of what rounding may make of it in double.
struct Residual {
  Vector r, rounding;
};

/// \param zeroIsZero an entry of A that is no number, times 0, is 0: b - A x of a solve that begins at 0 is b by
/// definition
Residual residual(const HostMatrix& a, const HostBlock& b, const HostBlock& x, int column, bool zeroIsZero = false) {
  Residual result;
  for (int i = 0; i < b.rows; ++i) {
    const auto& row = a.rows[static_cast<std::size_t>(i)];
    Real sum = b(i, column), size = std::abs(sum);
    for (const auto& [j, value] : row) {
      if (zeroIsZero && x(j, column) == 0) continue;
      const Real term = static_cast<Real>(value) * static_cast<Real>(x(j, column));
      sum -= term;
      size += std::abs(term);
    }
    const auto terms = static_cast<Real>(row.size() + 4);
    result.r.push_back(sum);
    result.rounding.push_back(terms * (eps * size + std::numeric_limits<double>::denorm_min()));
  }
  return result;
}

/// M v, or a bound of |M| |v| that counts underflow.
Vector applied(const HostMatrix& m, const Vector& v, bool absolute) {
  Vector result;
  for (const auto& row : m.rows) {
    Real sum = 0;
    for (const auto& [j, value] : row) {
      const Real term = static_cast<Real>(value) * v[static_cast<std::size_t>(j)];
      sum += absolute ? std::abs(term) : term;
    }
    if (absolute) sum += static_cast<Real>(row.size()) * std::numeric_limits<double>::denorm_min();
    result.push_back(sum);
  }
  return result;
}

/// A norm and how far rounding in double may take it off.
struct Norm {
  Real value = 0, rounding = 0;
};

bool isOrdinary(Real value) { return value == 0 || (value > smallest && value < largest); }

class ColumnJudge {
 public:
  ColumnJudge(const System& system, const HostBlock& guess, const HostBlock& x, const Question& question, int column)
      : question_(question), nativeKnown_(!system.hasLeft() || system.left.has_value()) {
    const bool zeroIsZero = question.options.initialResidual == InitialResidual::ZeroGuess;
    const Residual before = residual(system.a, system.b, guess, column, zeroIsZero);
    const Residual after = residual(system.a, system.b, x, column, zeroIsZero);
    const ResidualNorm kind = question.options.residualNorm;
    const bool one = kind == ResidualNorm::One;
    plainBefore_ = {norm(before.r, kind), norm(before.rounding, kind)};
    plainAfter_ = {norm(after.r, kind), norm(after.rounding, kind)};
    twoAfter_ = {norm(after.r), norm(after.rounding)};
    // In the 1-norm b - A x alone is judged.
    nativeBefore_ = one ? plainBefore_ : nativeOf(system, before, plainBefore_);
    nativeAfter_ = one ? plainAfter_ : nativeOf(system, after, plainAfter_);
    for (int i = 0; i < system.b.rows; ++i) {
      rhs_ += static_cast<Real>(system.b(i, column)) * static_cast<Real>(system.b(i, column));
    }
    rhs_ = std::sqrt(rhs_);
    const SolverOptions& o = question.options;
    // As the README has it: the explicit scaling is that of the computed residual. Where the implicit one alone is
    // given, either is taken.
    const bool isGmres = methodOf(question.method).family == Family::Gmres;
    if (o.explicitScalingGiven || !o.implicitScalingGiven || (isGmres && system.hasLeft())) {
      limits_.push_back({plainAfter_, {o.explicitScaling}});
    } else {
      limits_.push_back({plainAfter_, {o.explicitScaling, o.implicitScaling}});
    }
    if (isGmres && nativeKnown_ && !one) limits_.push_back({nativeAfter_, {o.implicitScaling}});
    testsExplicit_ = o.explicitScalingGiven || (isGmres && system.hasLeft());
  }

  /// Empty if the tolerance is met.
  std::string missed() const {
    // "Absolute Tolerance" is of b - A x, and enough.
    const Real absolute = question_.options.absoluteTolerance;
    if (absolute > 0 && plainAfter_.value <= absolute * generous + plainAfter_.rounding) return {};
    for (const Limit& limit : limits_) {
      bool met = false;
      Real scale = 0;
      for (const ResidualScaling scaling : limit.scalings) {
        scale = scaleOf(scaling);
        const Real tolerance = question_.options.tolerance;  // 0 of a scale that is not known is 0
        const Real asked = std::max(tolerance > 0 ? tolerance * scale : 0, absoluteLimit(scale));
        const Real allowed = asked * generous + limit.norm.rounding;
        met = met || limit.norm.value <= allowed;  // false for NaN
      }
      if (!met) {
        return fmt::format("residual norm {:.6e} (b - A x: {:.6e}, rounding {:.1e}) over {:.6e} = {:.6e}, tolerance {}",
                           static_cast<double>(limit.norm.value), static_cast<double>(plainAfter_.value),
                           static_cast<double>(limit.norm.rounding), static_cast<double>(scale),
                           static_cast<double>(limit.norm.value / scale), question_.options.tolerance);
      }
    }
    return {};
  }

  /// What "Absolute Tolerance" allows of a norm with this scale: it is of b - A x, and where two norms are tested, the
  /// other one may be as large a part of its own scale.
  Real absoluteLimit(Real scale) const {
    const Real absolute = question_.options.absoluteTolerance;
    if (!testsExplicit_ || absolute == 0) return absolute;
    const Real explicitly = scaleOf(question_.options.explicitScaling);
    return explicitly > 0 ? absolute * scale / explicitly : absolute * scale;
  }

  /// Whether `attained` is a scaled residual of this x, by any scaling.
  bool describes(double attained) const {
    if (!nativeKnown_ || !std::isfinite(attained)) return true;
    for (const Norm* n : {&plainBefore_, &plainAfter_, &nativeBefore_, &nativeAfter_}) {
      if (!isOrdinary(n->value)) return true;
    }
    // A scale that is all rounding.
    if (plainBefore_.value <= 100 * plainBefore_.rounding || nativeBefore_.value <= 100 * nativeBefore_.rounding) {
      return true;
    }
    for (const ResidualScaling scaling : {question_.options.explicitScaling, question_.options.implicitScaling,
                                          ResidualScaling::NormOfInitRes, ResidualScaling::NormOfPrecInitRes}) {
      for (const Norm* n : {&plainAfter_, &nativeAfter_}) {
        const Real scale = scaleOf(scaling), attainedNorm = attained * scale;
        if (!isOrdinary(scale)) return true;
        // The scale is subject to rounding as well.
        const Real scaleError =
            plainBefore_.rounding / plainBefore_.value + nativeBefore_.rounding / nativeBefore_.value;
        const Real allowed = 1e-6L * n->value + 2 * n->rounding + 2 * scaleError * attainedNorm;
        if (std::abs(attainedNorm - n->value) <= allowed) return true;
      }
    }
    return false;
  }

  Real plain() const { return plainAfter_.value; }

  /// || b - A x ||_2 <= tolerance || b - A x_0 ||_2, or no program that sums squares can tell.
  bool fallenBelow(double tolerance, const Norm& initial) const {
    if (!isOrdinary(initial.value) || !isOrdinary(twoAfter_.value)) return true;
    return twoAfter_.value <= tolerance * (initial.value + initial.rounding) * generous + twoAfter_.rounding;
  }

 private:
  struct Limit {
    Norm norm;
    std::vector<ResidualScaling> scalings;
  };

  static Norm nativeOf(const System& system, const Residual& residual, const Norm& plain) {
    if (!system.left) return plain;
    return {norm(applied(*system.left, residual.r, false)), norm(applied(*system.left, residual.rounding, true))};
  }

  /// The largest scale the solver may have computed.
  Real scaleOf(ResidualScaling scaling) const {
    const auto initial = [](const Norm& n) {
      // Rounding alone: the solver may have found 0, and a vanishing scale means an absolute test.
      return n.value <= 2 * n.rounding ? std::max(Real(1), n.value + n.rounding) : n.value + n.rounding;
    };
    constexpr Real least = std::numeric_limits<double>::min();  // of what LinearSystem::norm() tells, but for 0
    Real scale = 1;
    if (scaling == ResidualScaling::NormOfInitRes) scale = initial(plainBefore_);
    if (scaling == ResidualScaling::NormOfPrecInitRes) {
      scale = nativeKnown_ ? initial(nativeBefore_) : std::numeric_limits<Real>::infinity();
    }
    if (scaling == ResidualScaling::NormOfRHS) scale = rhs_;
    if (scaling == ResidualScaling::UserProvided) scale = question_.options.userScale;
    return scale > 0 ? std::max(scale, least) : 1;
  }

  const Question& question_;
  bool nativeKnown_;
  Norm plainBefore_, plainAfter_, nativeBefore_, nativeAfter_;  ///< in the norm that is asked for
  Norm twoAfter_;
  Real rhs_ = 0;
  bool testsExplicit_ = false;
  std::vector<Limit> limits_;
};

Norm plainNorm(const System& system, const HostBlock& x, int column) {
  const Residual r = residual(system.a, system.b, x, column);
  return {norm(r.r), norm(r.rounding)};
}

bool isFinite(const HostBlock& v, int column) {
  for (int i = 0; i < v.rows; ++i) {
    if (!std::isfinite(v(i, column))) return false;
  }
  return true;
}

void judgeRightHandSide(const System& system, const HostBlock& guess, const HostBlock& x, const Question& question,
                        const RightHandSideReport& report, int c, std::vector<Failure>& failures) {
  const bool finite = isFinite(x, c);
  if (!finite && isFinite(guess, c)) {
    failures.push_back({"x not finite", fmt::format("column {} ended as {}", c, toString(report.reason))});
  } else if (!finite && report.converged) {
    failures.push_back({"converged with x not finite", fmt::format("column {}", c)});
  }
  if (!finite) return;
  const ColumnJudge judge(system, guess, x, question, c);
  if (const std::string missed = judge.missed(); report.converged && !missed.empty()) {
    failures.push_back({"false converged", fmt::format("column {}, reported {}: {}", c, report.trueResidual, missed)});
  }
  if (report.reason == StopReason::UserTest && question.userTestTolerance > 0 &&
      !judge.fallenBelow(question.userTestTolerance, plainNorm(system, question.problemGuess, c))) {
    failures.push_back(
        {"the user's test passed for another x", fmt::format("column {}, reported {}, || b - A x || = {:.6e}", c,
                                                             report.trueResidual, static_cast<double>(judge.plain()))});
  }
  if (!question.operatorFails && !judge.describes(report.trueResidual)) {
    failures.push_back(
        {"residual of another x",
         fmt::format("column {} ({}): reported {} (scale {}), but || b - A x || = {:.6e}", c, toString(report.reason),
                     report.trueResidual, report.scale, static_cast<double>(judge.plain()))});
  }
}

}  // namespace

std::vector<Failure> judge(const System& system, const HostBlock& guess, const HostBlock& x, const Question& question,
                           const Observation& seen) {
  std::vector<Failure> failures;
  judgeReport(system, question, seen, failures);
  const auto columns = static_cast<std::size_t>(system.b.columns);
  for (std::size_t c = 0; c < std::min(columns, seen.report.rightHandSides.size()); ++c) {
    judgeRightHandSide(system, guess, x, question, seen.report.rightHandSides[c], static_cast<int>(c), failures);
  }
  if (question.mustConverge && !seen.converged) {
    failures.push_back({"an easy system is not solved",
                        fmt::format("{} after {} iterations, residual {}", toString(seen.report.reason),
                                    seen.report.iterations, seen.report.trueResidual)});
  }
  const HostBlock after = gathered(*system.rhs);
  for (std::size_t i = 0; i < after.values.size(); ++i) {
    const double was = system.b.values[i], is = after.values[i];
    if (was == is || (std::isnan(was) && std::isnan(is))) continue;
    failures.push_back({"b has changed", fmt::format("entry {}: {} was {}", i, is, was)});
    break;
  }
  return failures;
}

}  // namespace capstan::soak
