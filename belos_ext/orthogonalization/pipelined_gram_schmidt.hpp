#pragma once
/// \file
/// Orthonormalises the auxiliary basis Z of pipelined GMRES into Q, a block of t vectors at a time, with nonblocking
/// reductions that are waited for d blocks later.
///
/// Source: [pipelined-and-s-step], Fig. 4, lines 8 to 16 and 19; with t = d = 1 [low-sync], section 3. The small
/// matrices are those of pipelined_recurrence.hpp and pipelined_correction.hpp.
///
/// | paper | here       | shape         | meaning                                         |
/// |-------|------------|---------------|-------------------------------------------------|
/// | q_j   | Q: `basis` | n x (m+1)     | orthonormal basis                               |
/// | v_j   | Z: `ahead` | n x (m+1)     | generated L = (d + 1) t - 1 products ahead of Q |
/// | R     | G          | (m+1) x (m+1) | Z = Q G, in pipelined_recurrence.hpp            |
///
/// Cost of a block: 1 nonblocking reduction; two passes over the basis (inner products; Z_block - Q G). One product
/// ahead, z_c waits in Q's column c, so that [Q z]^T [q_{c-1} z] is one pass. Three blocking reductions more for a
/// vector whose implicit norm cannot be trusted.

#include "belos_ext/orthogonalization/block_gram_schmidt.hpp"
#include "belos_ext/orthogonalization/pipelined_correction.hpp"
#include "belos_ext/orthogonalization/vector_orthogonalization.hpp"

namespace capstan {

/// How a block came out. Equal on all ranks.
struct PipelinedBlock {
  int columns = 0;           ///< leading columns of G and H that stand
  int reorthogonalized = 0;  ///< of them, those that took explicit norms
  bool closed = false;       ///< the last of them adds no vector: nothing but rounding is left of it
  double normalizer = 1;     ///< the last vector before the block was divided by it, and so must be what was made of it
};

/// v <- (v / s - W r) / norm for a generated vector v, with W the columns [first, end) of Q or of Z, where column
/// end - 1 is divided by s, too, all in one pass.
template <class Types, class Scalar>
void normalizeAndSubtract(LinearSystem<Types>& system, KrylovBasis<Types>& basis, int first, int end, Scalar s,
                          typename Types::MultiVector& v, SmallMatrix<Scalar> r, Scalar norm) {
  const bool normalizes = s != Scalar(1);
  SmallMatrix<Scalar> u(1, 1), last(normalizes ? 1 : 0, normalizes ? 1 : 0);
  u(0, 0) = norm * s;
  r *= s;
  if (normalizes) last(0, 0) = s;
  const int final = normalizes ? end - 1 : end;
  const auto others = final > first ? basis.columns(first, final) : Teuchos::null;
  system.kernels().orthonormalize(others.get(), normalizes ? &basis[end - 1] : nullptr, last, v, r, u);
}

template <class Types>
class PipelinedGramSchmidt {
 public:
  using Scalar = typename Types::Scalar;
  using Matrix = SmallMatrix<Scalar>;
  using Basis = KrylovBasis<Types>;

  /// Starts a cycle of at most `capacity` columns with q_0 = z_0.
  /// \param block t   \param depth d   \param scheme for t = d = 1; deeper pipelines have CGS1
  void begin(const Teuchos::RCP<const Teuchos::Comm<int>>& comm, int capacity, int block, int depth,
             PipelinedScheme scheme) {
    block_ = block;
    depth_ = depth;
    known_ = 1;
    condition_ = 1;
    recurrence_.begin(capacity, (depth + 1) * block - 1);
    correction_.begin(capacity, scheme);
    explicit_.prepare(comm);
    pending_.clear();
    if (comm.get() != comm_.get()) batches_.clear();
    comm_ = comm;
    while (static_cast<int>(batches_.size()) < depth + 1) {
      batches_.push_back(std::make_unique<ReductionBatch<Types>>(comm));
    }
    slots_.resize(batches_.size());
    pending_.resize(batches_.size());
  }

  PipelinedRecurrence<Scalar>& recurrence() { return recurrence_; }

  /// The worst condition of a vector in this cycle: how much longer z_c was than what was new in it.
  double condition() const { return condition_; }

  /// Starts the inner products of columns first + 1 .. first + count of Z with every q known and the other z.
  void start(LinearSystem<Types>& system, Basis& basis, Basis& ahead, int first, int count) {
    auto& batch = *batches_[slot(first)];
    InnerProducts& inner = slots_[slot(first)];
    batch.clear();
    inner.known = known_;
    if (oneAhead()) {
      const int c = first + 1;
      system.kernels().scale(Scalar(1), ahead[c], basis[c]);
      inner.withQ = batch.trailingGram(*basis.columns(0, c + 1), c + 1 - correction_.columnsNeeded());
    } else {
      inner.withQ = batch.innerProducts(*basis.columns(0, known_), *ahead.columns(first + 1, first + count + 1));
      inner.withZ = batch.trailingGram(*ahead.columns(known_, first + count + 1), first + 1 - known_);
    }
    pending_[slot(first)] = system.start(batch);
  }

  /// Waits for the reduction of the block that starts with product `first`, and completes its columns of G and vectors
  /// of Q. Fewer than `count` where a vector breaks down for good; those before it stand. Collective.
  /// \param again how many vectors may be orthogonalised again, with explicit norms
  PipelinedBlock complete(LinearSystem<Types>& system, Basis& basis, Basis& ahead, int first, int count, int again) {
    pending_[slot(first)].wait();
    PipelinedBlock outcome;
    if (oneAhead()) {
      completeOne(system, basis, first + 1, again, outcome);
    } else {
      completeBlock(system, basis, ahead, first, count, again, outcome);
    }
    const int vectors = outcome.columns - (outcome.closed ? 1 : 0);
    for (int c = first + 1; c <= first + vectors; ++c) condition_ = std::max(condition_, recurrence_.condition(c));
    known_ = first + 1 + vectors;
    return outcome;
  }

  /// Completes what is in flight at the end of a cycle.
  void drain() { pending_.clear(); }

 private:
  struct InnerProducts {
    int known = 0;  ///< vectors of Q that were known
    typename ReductionBatch<Types>::Slot withQ, withZ;
  };

  bool oneAhead() const { return recurrence_.lag() == 1; }
  std::size_t slot(int first) const { return static_cast<std::size_t>((first / block_) % (depth_ + 1)); }

  /// One vector, one product ahead; z_c stands in Q's column c.
  void completeOne(LinearSystem<Types>& system, Basis& basis, int c, int again, PipelinedBlock& outcome) {
    const auto column = correction_.orthogonalize(c, fetched(*batches_[slot(c - 1)], slots_[slot(c - 1)].withQ));
    const Scalar s = column.normalizer;
    outcome.normalizer = static_cast<double>(s);
    if (!column.usable) {
      for (int j : {c - 1, c}) system.kernels().scale(1 / s, basis[j], basis[j]);
      reorthogonalize(system, basis, c, again, outcome);
      return;
    }
    recurrence_.set(c, column.r.values());
    normalizeAndSubtract(system, basis, 0, c, s, basis[c], copyOf(block(column.r, 0, 0, c, 1)), column.r(c, 0));
    outcome.columns = 1;
  }

  void completeBlock(LinearSystem<Types>& system, Basis& basis, Basis& ahead, int first, int count, int again,
                     PipelinedBlock& outcome) {
    const InnerProducts& inner = slots_[slot(first)];
    const Matrix withQ = fetched(*batches_[slot(first)], inner.withQ);
    const Matrix withZ = fetched(*batches_[slot(first)], inner.withZ);
    while (outcome.columns < count && !outcome.closed) {
      const int begin = outcome.columns;
      int end = begin;
      while (end < count && recurrence_.orthogonalize(first + 1 + end, inner.known, withQ[end], withZ[end])) ++end;
      if (end > begin) {
        orthonormalize(system, basis, ahead, first + 1 + begin, end - begin);
        outcome.columns = end;
      }
      if (end == count) return;
      const int c = first + 1 + end;
      system.kernels().scale(Scalar(1), ahead[c], basis[c]);
      if (!reorthogonalize(system, basis, c, again, outcome)) return;
    }
  }

  /// Vectors first .. first + count - 1 of Q from those of Z, at once.
  void orthonormalize(LinearSystem<Types>& system, Basis& basis, Basis& ahead, int first, int count) {
    const auto panel = basis.columns(first, first + count);
    // Without the fence of Tpetra::deep_copy.
    for (int c = first; c < first + count; ++c) system.kernels().scale(Scalar(1), ahead[c], basis[c]);
    system.kernels().orthonormalize(basis.columns(0, first).get(), nullptr, Matrix(), *panel,
                                    recurrence_.above(first, count), recurrence_.within(first, count));
  }

  /// The first fallback after a breakdown at z_c, which stands in Q's column c. False when it may not be taken, or
  /// leads nowhere: NaN, or several products ahead so little is new in z_c that its column of H would be rounding.
  bool reorthogonalize(LinearSystem<Types>& system, Basis& basis, int c, int again, PipelinedBlock& outcome) {
    if (outcome.reorthogonalized == again) return false;
    Matrix coefficients;
    const VectorOutcome vector = explicit_.orthonormalize(basis, c, system, coefficients);
    if (!vector.finite) return false;
    recurrence_.set(c, coefficients[1]);
    const double digits = std::sqrt(static_cast<double>(std::numeric_limits<Scalar>::epsilon()));
    if (!oneAhead() && !(recurrence_.condition(c) < 1 / digits)) return false;
    outcome.closed = !vector.independent;
    ++outcome.reorthogonalized;
    ++outcome.columns;
    return true;
  }

  int block_ = 1, depth_ = 1, known_ = 1;
  double condition_ = 1;
  PipelinedRecurrence<Scalar> recurrence_;
  PipelinedCorrection<Scalar> correction_;
  VectorOrthogonalization<Types> explicit_;
  Teuchos::RCP<const Teuchos::Comm<int>> comm_;  ///< of the batches; a solver may be used again on another one
  std::vector<std::unique_ptr<ReductionBatch<Types>>> batches_;
  std::vector<InnerProducts> slots_;
  std::vector<PendingReduction<Types>> pending_;
};

}  // namespace capstan
