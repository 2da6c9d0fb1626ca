#pragma once
/// \file
/// Pipelined GMRES: p(l)-GMRES, and pipelined CA-GMRES, which does the same with blocks of t vectors.
///
/// Source: pipelined-and-s-step, Fig. 2 [Ghysels, Ashby, Meerbergen and Vanroose 2013] and Fig. 4, section III-C. One
/// loop serves both: blocks of t products, d reductions in flight, auxiliary basis Z running L = (d + 1) t - 1 products
/// ahead of the orthonormal basis V. p(l)-GMRES is t = 1, d = l.
///
/// Cost of t iterations: 1 nonblocking reduction, t A, t M^{-1}, three passes over the bases (products, change of
/// basis, orthogonalisation). Storage: 2 m + 7 vectors. Overlap: a block's reduction is waited for d blocks later,
/// after d t applications of A and M^{-1}. Draining: the last d blocks of a cycle only wait.
///
/// | paper          | here        | shape                | meaning                                                    |
/// |----------------|-------------|----------------------|------------------------------------------------------------|
/// | q_j            | V = basis_  | n x (m+1)            | orthonormal basis                                          |
/// | v_j            | Z = ahead_  | n x (m+1)            | auxiliary basis, A M^{-1} Z = Z B                          |
/// | R              | g_          | (m+1) x (m+1)        | Z = V G, upper triangular, replicated                      |
/// | B              | b_          | (m+1) x m            | change of basis: Newton shifts, then columns of H          |
/// | H              | relation_   | (m+1) x m            | H = G B G^{-1}                                             |
/// | l, t           | depth_, t_  | scalars              | reductions in flight, vectors a block                      |
/// | tau            | tau_        | scalar               | entries of B under tau h_{c,a} |lambda|_max are dropped    |

#include "belos_ext/basis/spectrum_estimate.hpp"
#include "belos_ext/solvers/gmres.hpp"

namespace capstan {

template <class Types>
class PipelinedGmres final : public Gmres<Types> {
 public:
  using Base = Gmres<Types>;
  using typename Base::Matrix;
  using typename Base::MultiVector;
  using typename Base::Scalar;

  /// \param blocks false: p(l)-GMRES; true: pipelined CA-GMRES, t = "Step Size"
  explicit PipelinedGmres(bool blocks) : blocks_(blocks) {}

  void configure(const SolverOptions& options) override {
    Base::configure(options);
    options_ = options;
    this->stamp_ = 0;
    t_ = blocks_ ? options.stepSize : 1;
    depth_ = options.pipelineDepth;
    tau_ = options.changeOfBasisDropTolerance;
    bounds_.reset();
    if (!options.eigenvalueBoundsAuto) bounds_ = options.eigenvalueBounds;
    fruitless_ = 0;
  }
  void recall(const SolverState& state) override {
    this->stamp_ = Agreement<Types>::stampOf(state.solves);
    if (options_.eigenvalueBoundsAuto) bounds_ = state.eigenvalueBounds;
  }
  void remember(SolverState& state) const override {
    if (options_.eigenvalueBoundsAuto && bounds_) state.eigenvalueBounds = bounds_;
  }
  int finalStepSize() const override { return blocks_ ? t_ : 0; }

 protected:
  void forget() override { configure(SolverOptions(options_)); }

  CycleOutcome iterate(LinearSystem<Types>& system, Scalar beta, StopTest& stop) override {
    if (fruitless_ > maxFruitless) return Base::iterate(system, beta, stop);
    const CycleOutcome cycle = pipelinedCycle(system, beta, stop);
    const bool whole = cycle.columns == this->restartLength_ || cycle.claimed || cycle.stopped || stop.exhausted();
    if (whole) return cycle;
    shrink(system, stop, cycle);
    const bool gained = cycle.columns > 0 && this->relation_.leastSquares().residual() < progress * beta;
    return gained ? cycle : Base::iterate(system, beta, stop);
  }

 private:
  /// Fig. 4, and Fig. 2 with t = 1.
  CycleOutcome pipelinedCycle(LinearSystem<Types>& system, Scalar beta, StopTest& stop) {
    fitDepth(system, stop);
    begin(system, stop, beta);
    const int m = std::min(this->restartLength_, stop.remaining());
    CycleOutcome cycle;
    for (int first = 0; cycle.columns < m && !cycle.claimed && !cycle.stopped; first += t_) {
      const int ready = first - depth_ * t_;                  // first product of the block to be completed
      generateBlock(system, first, std::min(t_, m - first));  // z_{i+1} = A M^{-1} z_i, corrected by known columns of H
      if (ready >= 0) {
        pending_[slot(ready)].wait();  // its reduction was started d blocks ago
        if (!completeBlock(system, stop, ready, std::min(t_, m - ready), cycle)) break;
        correctLast(system, first, m);  // z_{first+t} by the first column of H just found
      }
      startBlock(first, std::min(t_, m - first));  // [V Z]^T Z_block
    }
    pending_.clear();  // completes what is in flight
    return cycle;
  }

  int lag() const { return (depth_ + 1) * t_ - 1; }
  std::size_t slot(int first) const { return static_cast<std::size_t>((first / t_) % (depth_ + 1)); }

  /// A pipeline longer than the restart cycle would never fill.
  void fitDepth(LinearSystem<Types>& system, StopTest& stop) {
    const int m = this->restartLength_;
    if (lag() < m) return;
    t_ = std::min(t_, std::max(1, m / 2));
    depth_ = std::max(1, std::min(depth_, m / t_ - 1));
    system.tell(stop.iterations(), "pipeline depth",
                "reduced to " + std::to_string(depth_) + " with blocks of " + std::to_string(t_) +
                    " to fit the restart length " + std::to_string(m));
  }

  void begin(LinearSystem<Types>& system, StopTest& stop, Scalar beta) {
    const int m = this->restartLength_;
    this->start(system, beta);
    const auto map = this->basis_[0].getMap();
    ahead_.resize(map, m + 1);
    known_ = 1;
    while (static_cast<int>(batches_.size()) < depth_ + 1) {
      batches_.push_back(std::make_unique<ReductionBatch<Types>>(map->getComm()));
    }
    slots_.resize(batches_.size());
    pending_.clear();
    pending_.resize(batches_.size());
    for (Matrix* matrix : {&g_, &b_}) matrix->shape(m + 1, m + 1);
    g_(0, 0) = 1;
    chooseShifts(system, stop);
    system.kernels().scale(Scalar(1), this->basis_[0], ahead_[0]);
  }

  /// Products first .. first + count - 1. The last vector of a full block waits for correctLast().
  void generateBlock(LinearSystem<Types>& system, int first, int count) {
    for (int i = first; i < first + count; ++i) {
      system.apply(ahead_[i], ahead_[i + 1]);
      if (i < lag()) {
        b_(i, i) = shifts_[static_cast<std::size_t>(i)];
        b_(i + 1, i) = 1;
        if (b_(i, i) != Scalar(0)) system.kernels().axpby(-b_(i, i), ahead_[i], Scalar(1), ahead_[i + 1]);
      } else if (i - lag() < this->relation_.columns()) {
        correct(system, i);
      }
    }
  }

  void correctLast(LinearSystem<Types>& system, int first, int m) {
    const int i = first + t_ - 1;
    if (i >= lag() && i < m) correct(system, i);
  }

  /// Column i of B from column a = i - L of H, small entries dropped: z_{i+1} = (A z_i - sum_j b_{j,i} z_j) /
  /// b_{i+1,i}.
  void correct(LinearSystem<Types>& system, int i) {
    const int shift = lag(), a = i - shift;
    const Matrix& h = this->relation_.hessenberg();
    const double radius = bounds_ ? std::max(std::abs(bounds_->min), std::abs(bounds_->max)) : 0;
    const Scalar drop = static_cast<Scalar>(tau_ * radius) * h(a + 1, a);
    Scalar norm = h(a + 1, a) * h(a + 1, a);
    Matrix r(a + 1, 1), u(1, 1);
    for (int j = 0; j <= a; ++j) {
      const bool kept = std::abs(h(j, a)) >= drop;
      r(j, 0) = kept ? h(j, a) : Scalar(0);
      if (!kept) norm += h(j, a) * h(j, a);
      b_(j + shift, i) = r(j, 0);
    }
    u(0, 0) = std::sqrt(norm);
    b_(i + 1, i) = u(0, 0);
    const auto q = ahead_.columns(shift, shift + a + 1), v = ahead_.columns(i + 1, i + 2);
    system.kernels().orthonormalize(q.get(), nullptr, Matrix(), *v, r, u);
  }

  /// Starts the products of columns first + 1 .. first + count of Z with every v known and the other z.
  void startBlock(int first, int count) {
    if (count <= 0) return;
    auto& batch = *batches_[slot(first)];
    Products& products = slots_[slot(first)];
    batch.clear();
    const auto block = ahead_.columns(first + 1, first + count + 1);
    products.known = known_;
    products.withV = batch.innerProducts(*this->basis_.columns(0, known_), *block);
    products.withZ = batch.trailingGram(*ahead_.columns(known_, first + count + 1), first + 1 - known_);
    pending_[slot(first)] = batch.start();
  }

  /// Columns first + 1 .. first + count of G and their columns of H, then their vectors of V at once. False when the
  /// implicit norm of a column is not positive: the columns before it stand.
  bool completeBlock(LinearSystem<Types>& system, StopTest& stop, int first, int count, CycleOutcome& cycle) {
    const Products& products = slots_[slot(first)];
    const auto& batch = *batches_[slot(first)];
    const Matrix withV = fetched(batch, products.withV), withZ = fetched(batch, products.withZ);
    int done = 0;
    for (; done < count; ++done) {
      const int c = first + 1 + done;
      for (int j = 0; j < products.known; ++j) g_(j, c) = withV(j, done);
      for (int j = products.known; j <= c; ++j) g_(j, c) = withZ(j - products.known, done);
      if (!orthogonalizeColumn(products.known, c)) break;
    }
    if (done > 0) {
      const int firstNew = first + 1, end = firstNew + done;
      const auto v = this->basis_.columns(firstNew, end);
      Tpetra::deep_copy(*v, *ahead_.columns(firstNew, end));
      const auto q = this->basis_.columns(0, firstNew);
      system.kernels().orthonormalize(q.get(), nullptr, Matrix(), *v, block(g_, 0, firstNew, firstNew, done),
                                      block(g_, firstNew, firstNew, done, done));
      known_ = end;
      for (int a = first; a < first + done && !cycle.claimed; ++a) extendBy(system, stop, a, cycle);
    }
    return done == count;
  }

  /// Column c of G from products with z_j: g_{j,c} = (. - sum_{k<j} g_{k,j} g_{k,c}) / g_{j,j}, then the implicit norm.
  bool orthogonalizeColumn(int known, int c) {
    const Scalar square = g_(c, c);
    for (int j = known; j <= c; ++j) {
      Scalar sum = g_(j, c);
      for (int k = 0; k < j; ++k) sum -= g_(k, j) * g_(k, c);
      if (j < c) {
        g_(j, c) = sum / g_(j, j);
      } else if (!(sum > 10 * std::numeric_limits<Scalar>::epsilon() * square) || !std::isfinite(sum)) {
        g_(c, c) = sum;
        return false;
      } else {
        g_(c, c) = std::sqrt(sum);
      }
    }
    return true;
  }

  /// h_{:,a} = (G b_{:,a} - H_{:,0:a} g_{0:a,a}) / g_{a,a}.
  void extendBy(LinearSystem<Types>& system, StopTest& stop, int a, CycleOutcome& cycle) {
    const Matrix& h = this->relation_.hessenberg();
    Matrix coefficients(a + 2, 2), plain(2, 1);
    plain(1, 0) = 1;
    coefficients(a, 0) = 1;
    for (int j = 0; j <= a + 1; ++j) {
      Scalar sum = 0;
      for (int k = j; k <= a + 1; ++k) sum += g_(j, k) * b_(k, a);
      for (int k = std::max(0, j - 1); k < a; ++k) sum -= h(j, k) * g_(k, a);
      coefficients(j, 1) = sum / g_(a, a);
    }
    this->extend(system, stop, a, 1, plain, coefficients, cycle);
  }

  /// The breakdown ladder: fewer products ahead, and the classical method when that does not help.
  void shrink(LinearSystem<Types>& system, StopTest& stop, const CycleOutcome& cycle) {
    fruitless_ = cycle.columns > lag() ? 0 : fruitless_ + 1;
    if (depth_ > 1) {
      depth_ = depth_ / 2;
    } else if (t_ > 1) {
      t_ = t_ / 2;
    }
    system.tell(stop.iterations(), "restart",
                "the implicit norm of a basis vector is not positive; going on with depth " + std::to_string(depth_) +
                    ", blocks of " + std::to_string(t_) +
                    (cycle.columns == 0 || fruitless_ > maxFruitless ? ", first with a classical cycle" : ""));
  }

  /// The user's shifts (real parts, in turn), else Chebyshev points of the interval. It is estimated where it is
  /// needed: for those points, or for tau.
  void chooseShifts(LinearSystem<Types>& system, StopTest& stop) {
    if (!bounds_ && (options_.shiftsAuto || tau_ > 0)) {
      bounds_ = estimate_(system, this->basis_[0].getMap(),
                          [&](const MultiVector& v, MultiVector& w) { system.apply(v, w); });
      if (!bounds_) bounds_ = EigenvalueBounds{0, 0};
      system.tell(stop.iterations(), "eigenvalue bounds",
                  std::to_string(bounds_->min) + " to " + std::to_string(bounds_->max));
    }
    if (options_.shiftsAuto) {
      shifts_ = chebyshevPoints<Scalar>(*bounds_, std::max(1, lag()));
      return;
    }
    shifts_.resize(static_cast<std::size_t>(std::max(1, lag())));
    for (std::size_t k = 0; k < shifts_.size(); ++k) {
      shifts_[k] = static_cast<Scalar>(options_.shifts[k % options_.shifts.size()].real());
    }
  }

  struct Products {
    int known = 0;  ///< vectors of V that were known
    typename ReductionBatch<Types>::Slot withV, withZ;
  };

  static constexpr int maxFruitless = 3;
  /// A broken cycle that reduced the residual less than this is not worth a restart.
  static constexpr Scalar progress = static_cast<Scalar>(0.9);

  bool blocks_;
  SolverOptions options_;
  int t_ = 1, depth_ = 1, known_ = 1, fruitless_ = 0;
  double tau_ = 0;
  std::optional<EigenvalueBounds> bounds_;
  std::vector<Scalar> shifts_;
  KrylovBasis<Types> ahead_;
  Matrix g_, b_;
  std::vector<std::unique_ptr<ReductionBatch<Types>>> batches_;
  std::vector<Products> slots_;
  std::vector<PendingReduction<Types>> pending_;
  SpectrumEstimate<Types> estimate_;
};

}  // namespace capstan
