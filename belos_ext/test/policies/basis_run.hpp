#pragma once
/// \file
/// Builds a Krylov basis panel by panel with a given orthogonalisation, and measures what came out.

#include <Teuchos_LAPACK.hpp>
#include <memory>

#include "belos_ext/basis/basis_recurrence.hpp"
#include "belos_ext/dense/ritz_values.hpp"
#include "belos_ext/orthogonalization/block_gram_schmidt.hpp"
#include "belos_ext/orthogonalization/sketched.hpp"
#include "belos_ext/report/event_text.hpp"
#include "belos_ext/test/support/problems.hpp"
#include "tpetra_ext/compat/local_views.hpp"

namespace capstan::testing {

using Matrix = SmallMatrix<Scalar>;

/// Made before the system that refers to them.
struct OwnKernels {
  BlockKernels<Types> own;
};

/// An operator without a preconditioner, acting at once. Keeps what it is told.
class PlainSystem : private OwnKernels, public LinearSystem<Types> {
 public:
  explicit PlainSystem(RCP<const Operator> a) : LinearSystem<Types>(own), a_(std::move(a)) {}
  void act(Action action, const MultiVector& in, MultiVector& out) override {
    if (action == Action::Preconditioned || action == Action::Operator) {
      compat::handOver<Types::ExecutionSpace>("the operator");
      a_->apply(in, out);
    } else {
      Tpetra::deep_copy(out, in);
    }
  }
  void reduce(ReductionBatch<Types>& batch) override { batch.reduce(); }
  bool boundary(int, double, const std::function<void(MultiVector&)>&) override { return true; }
  void record(int, double recursive) override { residuals.push_back(recursive); }
  void tell(int iteration, Event event) override { told.push_back(reportEvent(iteration, 0, event).kind); }

  std::vector<double> residuals;
  std::vector<std::string> told;

 private:
  RCP<const Operator> a_;
};

/// || a ||_F
inline double frobenius(const Matrix& a) { return a.normFrobenius(); }

/// X^T Y by Tpetra, not by the kernels under test.
inline Matrix inner(const MultiVector& x, const MultiVector& y) {
  const int rows = static_cast<int>(x.getNumVectors()), cols = static_cast<int>(y.getNumVectors());
  const auto local = rcp(new Map(rows, 0, x.getMap()->getComm(), Tpetra::LocallyReplicated));
  MultiVector product(local, static_cast<size_t>(cols));
  product.multiply(Teuchos::TRANS, Teuchos::NO_TRANS, 1, x, y, 0);
  Matrix result(rows, cols);
  const auto view = product.getLocalViewHost(Tpetra::Access::ReadOnly);
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < rows; ++i) result(i, j) = view(static_cast<size_t>(i), static_cast<size_t>(j));
  }
  return result;
}

/// || I - Q^T Q ||_F
inline double orthogonalityLoss(const MultiVector& q) {
  Matrix gram = inner(q, q);
  gram -= identity<Scalar>(gram.numRows());
  return frobenius(gram);
}

/// || I - (Theta Q)^T Theta Q ||_F, Theta of so many rows.
inline double sketchedLoss(const MultiVector& q, int rows) {
  ReductionBatch<Types> batch(q.getMap()->getComm());
  const auto slot = batch.sketch(q, rows);
  batch.reduce();
  const Matrix s = fetched(batch, slot);
  Matrix gram = identity<Scalar>(s.numCols());
  multiply<Scalar>(1, Teuchos::TRANS, s, Teuchos::NO_TRANS, s, -1, gram);
  return frobenius(gram);
}

/// || X - Q C ||_F / || X ||_F, by Tpetra as well.
inline double mismatch(const MultiVector& x, const MultiVector& q, const Matrix& c) {
  MultiVector rest(x, Teuchos::Copy);
  const auto local = rcp(new Map(c.numRows(), 0, x.getMap()->getComm(), Tpetra::LocallyReplicated));
  MultiVector coefficients(local, static_cast<size_t>(c.numCols()));
  for (int j = 0; j < c.numCols(); ++j) {
    for (int i = 0; i < c.numRows(); ++i) coefficients.replaceLocalValue(i, static_cast<size_t>(j), c(i, j));
  }
  rest.multiply(Teuchos::NO_TRANS, Teuchos::NO_TRANS, -1, q, coefficients, 1);
  const auto length = [](const MultiVector& v) {
    std::vector<double> norms(v.getNumVectors());
    v.norm2(Teuchos::ArrayView<double>(norms));
    double all = 0;
    for (const double norm : norms) all = std::hypot(all, norm);
    return all;
  };
  return length(rest) / length(x);
}

/// Condition number of a small matrix after scaling its columns to length 1.
inline double conditionNumber(const Matrix& original) {
  Matrix a = copyOf(original);
  const int m = a.numRows(), n = a.numCols();
  for (int j = 0; j < n; ++j) {
    const double norm = frobenius(copyOf(block(a, 0, j, m, 1)));
    for (int i = 0; i < m; ++i) a(i, j) /= norm;
  }
  std::vector<double> values(static_cast<std::size_t>(std::min(m, n))), work(static_cast<std::size_t>(64 * (m + n)));
  int info = 0;
  Teuchos::LAPACK<int, double>().GESVD('N', 'N', m, n, a.values(), a.stride(), values.data(), nullptr, 1, nullptr, 1,
                                       work.data(), static_cast<int>(work.size()), nullptr, &info);
  return info == 0 ? values.front() / values.back() : std::numeric_limits<double>::infinity();
}

struct BasisPlan {
  int columns = 60;
  int steps = 5;
  Basis basis = Basis::Newton;
  BlockOrthogonalization scheme = BlockOrthogonalization::SingleReduceCgs2;
  IntraOrthogonalization intra = IntraOrthogonalization::CholQr;
};

struct BasisResult {
  int columns = 0;           ///< of H; columns + 1 basis vectors
  bool brokeDown = false;    ///< a panel gave nothing new
  double orthogonality = 0;  ///< || I - Q^T Q ||_F, as a sketch sees it where the scheme has one
  double settled = 0;        ///< the same without the last panel, which lagged schemes have not normalised again
  double relation = 0;       ///< || A Q - Q H ||_F / || A Q ||_F
  double kappa = 1;          ///< condition of all vectors as generated
  double panelKappa = 1;     ///< the largest || v || / r of one panel
  Matrix hessenberg;         ///< (columns + 1) x columns
  RCP<MultiVector> q;        ///< n x (columns + 1)
};

/// The Krylov basis of (a, start) as the s-step methods build it, in one cycle.
class BasisRun {
 public:
  BasisRun(RCP<const Operator> a, RCP<const MultiVector> start, BasisPlan plan)
      : plan_(plan), system_(a), start_(std::move(start)) {
    recurrence_.reset(plan.basis);
    basis_.resize(start_->getMap(), plan.columns + 1);
  }

  void useShifts(const std::vector<std::complex<double>>& shifts) { recurrence_.setShifts(shifts); }

  BasisResult operator()() {
    auto scheme = makeBlockGramSchmidt<Types>(plan_.scheme, plan_.intra, start_->getMap()->getComm());
    Tpetra::deep_copy(basis_[0], *start_);
    const double beta = std::sqrt(inner(*start_, *start_)(0, 0));
    basis_[0].scale(1 / beta);
    relation_.begin(plan_.columns, beta, false);
    scheme->begin(plan_.columns);

    BasisResult result;
    Matrix generated(plan_.columns + 1, plan_.columns + 1), r;
    generated(0, 0) = 1;
    while (result.columns < plan_.columns && !result.brokeDown) {
      const int first = result.columns, steps = std::min(plan_.steps, plan_.columns - first);
      const Matrix changeOfBasis = generate(first, steps);
      const PanelOutcome panel = scheme->orthonormalize(basis_, first, steps, system_, relation_, r);
      const int gained = panel.rank - 1;
      result.brokeDown = gained < steps;
      if (gained < 1) break;
      relation_.addPanel(first, block(changeOfBasis, 0, 0, gained + 1, gained),
                         block(r, 0, 0, first + gained + 1, gained + 1));
      block(generated, 0, first + 1, first + gained + 1, gained).assign(block(r, 0, 1, first + gained + 1, gained));
      result.panelKappa = std::max(result.panelKappa, panelKappa(first, gained, r));
      result.columns += gained;
    }
    const int usable = scheme->finish(basis_, result.columns + 1, system_, relation_);
    relation_.refresh();
    result.brokeDown = result.brokeDown || usable < result.columns + 1;
    result.columns = usable - 1;
    const int m = result.columns;
    result.kappa = conditionNumber(block(generated, 0, 0, m + 1, m + 1));
    result.hessenberg = copyOf(block(relation_.hessenberg(), 0, 0, m + 1, m));
    result.q = basis_.columns(0, m + 1);
    const bool sketched = plan_.scheme == BlockOrthogonalization::Sketched;
    result.orthogonality =
        sketched ? sketchedLoss(*result.q, tuning::sketch::rowsFor(plan_.columns + 1)) : orthogonalityLoss(*result.q);
    const int lastPanel = std::max(1, (m - 1) / plan_.steps * plan_.steps);
    const auto settled = basis_.columns(0, lastPanel);
    result.settled =
        sketched ? sketchedLoss(*settled, tuning::sketch::rowsFor(plan_.columns + 1)) : orthogonalityLoss(*settled);
    MultiVector aq(start_->getMap(), static_cast<size_t>(m));
    system_.act(Action::Operator, *basis_.columns(0, m), aq);
    result.relation = mismatch(aq, *result.q, result.hessenberg);
    return result;
  }

 private:
  /// max_k || v_k || / r_kk, from V = Q R.
  static double panelKappa(int first, int steps, const Matrix& r) {
    double worst = 1;
    for (int k = 0; k <= steps; ++k) {
      worst = std::max(worst, frobenius(copyOf(block(r, 0, k, first + k + 1, 1))) / r(first + k, k));
    }
    return worst;
  }

  Matrix generate(int first, int steps) {
    for (int k = 0; k < steps; ++k) {
      system_.apply(basis_[first + k], basis_[first + k + 1]);
      const RecurrenceStep step = recurrence_.step(k);
      auto& next = basis_[first + k + 1];
      next.update(-step.alpha / step.gamma, basis_[first + k], 1 / step.gamma);
      if (step.beta != 0) next.update(-step.beta / step.gamma, basis_[first + k - 1], 1);
    }
    return recurrence_.changeOfBasis<Scalar>(steps);
  }

  BasisPlan plan_;
  PlainSystem system_;
  RCP<const MultiVector> start_;
  BasisRecurrence recurrence_;
  KrylovBasis<Types> basis_;
  ArnoldiRelation<Scalar> relation_;
};

/// Ritz values of `steps` classical Arnoldi steps, as the solvers learn their shifts.
inline std::vector<std::complex<double>> ritzShifts(RCP<const Operator> a, RCP<const MultiVector> start, int steps) {
  BasisPlan plan;
  plan.columns = steps;
  plan.steps = 1;
  plan.basis = Basis::Monomial;
  plan.scheme = BlockOrthogonalization::Cgs2;
  const BasisResult result = BasisRun(a, start, plan)();
  return hessenbergEigenvalues(result.hessenberg, result.columns);
}

}  // namespace capstan::testing
