#pragma once
/// \file
/// How many steps the panels of a cycle of s-step GMRES may have, and how many of them are used, for H to stay as exact
/// as the solve needs. The estimates stand in relation_error.hpp.
///
/// An eigenvalue far away makes all products nearly parallel to the vectors that are found first: what is new in a
/// product is small beside it, and inherits the errors of the first columns of H. So the first columns are made in
/// single steps there. Nothing is communicated; n does not matter.

#include <algorithm>
#include <cmath>
#include <limits>

#include "belos_ext/basis/basis_recurrence.hpp"
#include "belos_ext/dense/relation_error.hpp"
#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/solvers/gmres/exact_steps.hpp"
#include "belos_ext/solvers/gmres/gmres_cycle.hpp"

namespace capstan {

/// Replicated: fed with reduced numbers only, so it decides alike on all ranks. Local.
template <class Types>
class PanelErrors {
 public:
  using Scalar = typename Types::Scalar;
  using Matrix = SmallMatrix<Scalar>;
  using Cycle = GmresCycle<Types>;

  void configure(const SolverOptions& options) {
    byCholesky_ = options.intraOrthogonalization == IntraOrthogonalization::CholQr;
  }

  /// A cycle begins. \param earlier what panels have shown so far, in this solve and in earlier ones
  void begin(const Cycle& cycle, const StopTest& stop, const ExactSteps& earlier) {
    estimates_.begin();
    startsExactly_ = earlier.most() <= tuning::step_size::fewExact && cycle.bearableError(stop) < least();
  }
  /// It goes on with fewer columns.
  void truncate() { estimates_.begin(); }

  /// The estimates of the columns of H.
  RelationError<Scalar>& estimates() { return estimates_; }

  /// The error of a column of H, relative to H, that this solve bears.
  static Scalar most(const Cycle& cycle, const StopTest& stop) { return std::max(cycle.bearableError(stop), least()); }

  /// Whether the panel that starts with that column has a single step.
  bool single(int first) const { return startsExactly_ && first < tuning::step_size::exactStart; }

  /// H has the columns of the first panel: whether its first is far longer than its last.
  void sawFirst(const Cycle& cycle) {
    const auto& h = cycle.relation().hessenberg();
    const int last = cycle.relation().columns() - 1;
    if (last < 1) return;
    const auto length = [&h](int column) {
      Scalar norm = 0;
      for (int i = 0; i <= column + 1; ++i) norm = std::hypot(norm, h(i, column));
      return norm;
    };
    if (length(0) > static_cast<Scalar>(tuning::step_size::dominant) * length(last)) startsExactly_ = true;
  }

  /// As many of s steps as panels that ended with one of the last columns would have kept: a step that is cut is paid
  /// for. \param first column of the panel to come
  int foreseen(const Cycle& cycle, const StopTest& stop, int first, int s, const BasisRecurrence& recurrence) const {
    const auto& h = cycle.relation().hessenberg();
    for (int columns = first; columns > first - tuning::step_size::lookedBack; --columns) {
      s = estimates_.foreseen(h, columns, recurrence.template changeOfBasis<Scalar>(s), most(cycle, stop), byCholesky_);
    }
    return s;
  }

  /// How many of `found` steps of a panel H can take. \see RelationError::add()
  int add(const Cycle& cycle, const StopTest& stop, int first, int found, const Matrix& changeOfBasis,
          const Matrix& r) {
    const auto leading = [&](int count) { return block(r, 0, 0, first + count + 1, count + 1); };
    const int known = byCholesky_ ? RelationError<Scalar>::knownSteps(first, leading(found)) : found;
    return estimates_.add(first, block(changeOfBasis, 0, 0, known + 1, known), leading(known), most(cycle, stop));
  }

 private:
  /// Below, errors are borne in any case.
  static constexpr Scalar least() { return tuning::gmres::leastError * std::numeric_limits<Scalar>::epsilon(); }

  bool byCholesky_ = true;
  bool startsExactly_ = false;
  RelationError<Scalar> estimates_;
};

}  // namespace capstan
