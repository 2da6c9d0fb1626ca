#pragma once
/// \file
/// What the three forms of enlarged CG share: the block Z of t directions, made A-orthonormal by a Cholesky
/// factorisation ([enlarged-cg], algorithm 3), and directions that are dropped.
///
/// | paper | here      | shape                 | meaning                                                    |
/// |-------|-----------|-----------------------|------------------------------------------------------------|
/// | Z     | z_        | n x t, distributed    | new directions; then P                                     |
/// | P     | z_        | n x t, distributed    | A-orthonormal directions Z C^{-1}                          |
/// | AZ    | of forms  | n x t, distributed    | A Z; then A P = A Z C^{-1}, with no product                |
/// | C     | factor_   | t x t, replicated     | Cholesky factor of Z^T A Z, or of its negative             |
/// | c     | step      | t x 1, replicated     | P^T r: the sum of the columns of the paper's P^T R         |
///
/// x and r are single vectors: of the paper's blocks X and R, whose columns sum to them, only these sums are used.

#include <Tpetra_Vector.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "belos_ext/basis/column_block.hpp"
#include "belos_ext/convergence/predicted_norm.hpp"
#include "belos_ext/dense/cholesky.hpp"
#include "belos_ext/dense/independent_columns.hpp"
#include "belos_ext/problem/constant_null_space.hpp"
#include "belos_ext/problem/vector_like.hpp"
#include "belos_ext/supervision/smoothed_residual.hpp"
#include "tpetra_ext/operators/row_domains.hpp"

namespace capstan {

template <class Types>
class EnlargedDirections {
 public:
  using Scalar = typename Types::Scalar;
  using MultiVector = typename Types::MultiVector;
  using Small = SmallMatrix<Scalar>;

  enum class Outcome { Moved, Indefinite, NotFinite };

  virtual ~EnlargedDirections() = default;

  /// Makes what is missing for t directions and vectors like b. Collective where it allocates.
  virtual void prepare(LinearSystem<Types>& system, const MultiVector& b, int t) = 0;

  /// T_{r,t}, n x t, and its columns: the first is the recursive residual r, which a solve writes before begin(). The
  /// others hold nothing of meaning after that. Local.
  virtual MultiVector& parts() = 0;
  virtual MultiVector& part(int number) = 0;
  MultiVector& r() { return part(0); }

  /// Whether constants are taken out of what M makes, since A annihilates them; null: not. It outlives the solve. To be
  /// said before begin(). Local.
  void project(ConstantNullSpace<Types>* constants) { constants_ = preconditioned_ ? constants : nullptr; }

  /// What smooths the residuals. It outlives the solve. To be said before begin(). Local.
  void smoothBy(SmoothedResidual<Types>& smoothed) { smoothed_ = &smoothed; }

  /// Z = M^{-1} T_{r,t}. 1 reduction where constants are taken out. Collective.
  virtual void begin(LinearSystem<Types>& system) = 0;

  /// One iteration: x += P P^T r, r -= A P P^T r. x stays as it is unless it Moved. Collective.
  virtual Outcome step(LinearSystem<Types>& system, MultiVector& x) = 0;

  /// Z of the next iteration. Collective.
  virtual void next(LinearSystem<Types>& system) = 0;

  /// r() has been replaced by the residual computed from x. Collective.
  virtual void replaced(LinearSystem<Types>& system) = 0;

  /// Whether the first steps have seen that M is not linear and symmetric. False where they are not looked at.
  bool varies() const { return varies_; }
  /// How many directions are in use.
  int width() const { return width_; }
  /// || r || after the last step, predicted; and as measured before it.
  const PredictedNorm& norm() const { return norm_; }
  double measured() const { return measured_; }
  /// || A (x_{k+1} - x_k) || of the last step, (p, A p) of its first direction p, and (r, M^{-1} r); the last two with
  /// the signs that A and M^{-1} had in the first step, so that both are positive where these are definite.
  double image() const { return image_; }
  double curvature() const { return curvature_; }
  double energy() const { return energy_; }

 protected:
  using Slot = typename ReductionBatch<Types>::Slot;

  void prepareShared(LinearSystem<Types>& system, const MultiVector& b, int t) {
    preconditioned_ = system.preconditioned();
    hasTwo_ = system.hasLeft() && system.hasRight();
    if (hasTwo_) between_.prepare(b, t);
    if (!batch_ || map_ != b.getMap().get()) batch_ = std::make_unique<ReductionBatch<Types>>(b.getMap()->getComm());
    map_ = b.getMap().get();
    width_ = t;
    varies_ = false;
    sign_ = 0;
    energySign_ = 0;
    energy_ = 0;
    constants_ = nullptr;
    z_.prepare(b, t);
    previous_.prepare(b, t);
  }

  /// A result of the last reduction, on the host: rows x columns.
  Small matrix(const Slot& slot) const {
    Small result(slot.rows, slot.cols, false);
    batch_->read(slot, result.values(), result.stride());
    return result;
  }

  /// Factors Z^T A Z = C^T C, or -C^T C where the first product of a solve says that A is negative definite: sign_ then
  /// is -1, and P^T A P = -I. Of dependent columns as many are dropped as it takes: kept_ has those that stay.
  Outcome factorize(Small gram) {
    if (sign_ == Scalar(0)) sign_ = gram(0, 0) < Scalar(0) ? -1 : 1;
    gram.scale(sign_);
    curvature_ = static_cast<double>(gram(0, 0));
    kept_ = independentColumns<Scalar>(gram, tuning::orthogonalization::rounding);
    if (kept_.empty()) return std::isfinite(gram(0, 0)) && allFinite(gram) ? Outcome::Indefinite : Outcome::NotFinite;
    factor_.shape(static_cast<int>(kept_.size()), static_cast<int>(kept_.size()));
    const auto result = cholesky<Scalar>(chosen(gram, kept_, kept_), factor_, nullptr, Scalar(0));
    if (result.succeeded(static_cast<int>(kept_.size()))) return Outcome::Moved;
    return result.rank == 0 ? Outcome::Indefinite : dropAfter(result.rank);
  }
  bool drops() const { return static_cast<int>(kept_.size()) < width_; }

  /// Notes (r, M^{-1} r).
  void noteEnergy(Scalar product) {
    if (energySign_ == 0) energySign_ = product < Scalar(0) ? -1 : 1;
    energy_ = energySign_ * static_cast<double>(product);
  }
  /// Of M^{-1}, as the first of these products had it.
  Scalar energySign() const { return static_cast<Scalar>(energySign_); }

  /// Enters what smoothing r takes besides the products of predict().
  void enterSmoothing(const MultiVector& images) { smoothed_->enter(*batch_, r(), images); }

  /// P = Z C^{-1}, x += P step, in one pass.
  void move(LinearSystem<Types>& system, const Small& step, MultiVector& x) {
    Small minus = copyOf(step);
    minus.scale(-1);
    system.kernels().orthonormalize(nullptr, &z_.columns(width_), factor_, x, minus, identity<Scalar>(1));
  }

  /// to = M^{-1} from, for as many columns as are in use; a copy without M. Collective.
  void precondition(LinearSystem<Types>& system, const MultiVector& from, MultiVector& to) {
    if (!preconditioned_) return copy(system, from, to);
    system.precondition(from, hasTwo_ ? &between_.columns(width_) : nullptr, to);
  }
  void copy(LinearSystem<Types>& system, const MultiVector& from, MultiVector& to) {
    for (int j = 0; j < width_; ++j) system.kernels().scale(Scalar(1), *from.getVector(j), *to.getVectorNonConst(j));
  }

  /// Whether constants are taken out of what M makes.
  bool projects() const { return constants_ != nullptr; }
  /// Enters the sums of columns first, first + 1, ... of a block, as many as directions are in use, where constants are
  /// taken out; none otherwise.
  std::vector<Slot> enterSums(ColumnBlock<Types>& columns, int first = 0) {
    std::vector<Slot> sums;
    for (int j = 0; constants_ != nullptr && j < width_; ++j) {
      sums.push_back(constants_->enter(*batch_, columns.column(first + j)));
    }
    return sums;
  }
  /// Takes the constants with these sums, reduced, out of them. Local.
  void removeConstants(LinearSystem<Types>& system, const std::vector<Slot>& sums, ColumnBlock<Types>& columns,
                       int first = 0) {
    for (std::size_t j = 0; j < sums.size(); ++j) {
      constants_->remove(system, constants_->meanOf((*batch_)[sums[j]]), columns.column(first + static_cast<int>(j)));
    }
  }
  /// The same with a reduction of their sums. Collective.
  void removeConstants(LinearSystem<Types>& system, ColumnBlock<Types>& columns) {
    if (constants_ == nullptr) return;
    batch_->clear();
    const auto sums = enterSums(columns);
    system.reduce(*batch_);
    removeConstants(system, sums, columns);
  }

  /// Smooths r with the directions of this step, before that is made; the products are those of predict(). Local.
  void smooth(LinearSystem<Types>& system, const MultiVector& x, const MultiVector& z, const MultiVector& images,
              Scalar square, const Small& gram, const Small& along) {
    smoothed_->follow(system, *batch_, {x, r(), z, images, square, gram, along}, kept_);
  }

  /// Notes || r || and predicts || r - Y g || from (r, r), Y^T Y and Y^T r. Local.
  void predict(Scalar square, const Small& gram, const Small& along, const Small& g) {
    Scalar rs = 0, ss = 0;
    for (int i = 0; i < width_; ++i) {
      rs += g(i, 0) * along(i, 0);
      for (int j = 0; j < width_; ++j) ss += g(i, 0) * gram(i, j) * g(j, 0);
    }
    measured_ = std::sqrt(static_cast<double>(square));
    image_ = std::sqrt(static_cast<double>(std::max(ss, Scalar(0))));
    norm_ = predictNorm(square, rs, ss, Scalar(1));
  }

  /// C^{-T} a.
  Small solvedTransposed(const Small& a) const {
    Small result = copyOf(a);  // a may be a view
    solveLeftTransposed(factor_, result);
    return result;
  }
  /// C^{-1} a.
  Small solved(const Small& a) const {
    Small result = copyOf(a);
    solveLeft(factor_, result);
    return result;
  }

  /// Rows and columns of a.
  static Small chosen(const Small& a, const std::vector<int>& rows, const std::vector<int>& columns) {
    Small those(static_cast<int>(rows.size()), static_cast<int>(columns.size()));
    for (int j = 0; j < those.numCols(); ++j) {
      for (int i = 0; i < those.numRows(); ++i) those(i, j) = a(rows[i], columns[j]);
    }
    return those;
  }

  int width_ = 0;
  bool preconditioned_ = false;
  bool varies_ = false;              ///< varies()
  ColumnBlock<Types> z_, previous_;  ///< Z, then P; P of the step before
  Small factor_;
  Scalar sign_ = 0;  ///< of A; 0: not known yet
  std::vector<int> kept_;
  PredictedNorm norm_{};
  double measured_ = 0;
  std::unique_ptr<ReductionBatch<Types>> batch_;

 private:
  /// What selection let through and rounding in the factorisation did not.
  Outcome dropAfter(int rank) {
    kept_.resize(static_cast<std::size_t>(rank));
    factor_.reshape(rank, rank);
    return Outcome::Moved;
  }

  double image_ = 0, curvature_ = 0, energy_ = 0, energySign_ = 0;
  ConstantNullSpace<Types>* constants_ = nullptr;
  SmoothedResidual<Types>* smoothed_ = nullptr;
  bool hasTwo_ = false;  ///< a left and a right preconditioner
  ColumnBlock<Types> between_;
  const void* map_ = nullptr;
};

}  // namespace capstan
