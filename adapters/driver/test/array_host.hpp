#pragma once
/// \file
/// A host of the driver as small as it can be: a Laplacian in one dimension, in arrays. It shows all that an
/// application has to bring.

#include <mpi.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "adapters/driver/host.hpp"
#include "adapters/driver/row_sums.hpp"

namespace capstan::driver {

/// The preconditioners of the host, by number.
enum OwnPreconditioner { Diagonal = 1, NotANumber, Exact };

/// sign (tridiagonal(-1, 2 + shift, -1)) x = b; the 1-norm decides. The last of several ranks has no rows.
class ArrayHost final : public HostSystem, private HostActions {
 public:
  ArrayHost(HostFacts known, int rows, double sign, double tolerance, MPI_Comm comm = MPI_COMM_WORLD)
      : HostSystem(std::move(known)), comm_(comm), signOfA_(sign), tolerance_(tolerance) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
    const int full = ranks_ == 1 ? 1 : ranks_ - 1;
    for (int r = 0; r <= ranks_; ++r) first_.push_back(std::min(r, full) * rows);
    b.assign(static_cast<std::size_t>(this->rows()), sign);
  }

  static HostFacts facts(int maxIterations, int minIterations = 0) {
    HostFacts known;
    known.label = "p";
    known.symmetric = true;
    known.minIterations = minIterations;
    known.maxIterations = maxIterations;
    known.application = "a test";
    known.limit = "the limit";
    known.unknowns = "x";
    return known;
  }

  std::int64_t rows() const override { return first_[at(rank_ + 1)] - first_[at(rank_)]; }
  MPI_Comm communicator() const override { return comm_; }
  MPI_Comm startedCommunicator() const override { return comm_; }
  Agreement agree(Shares& shares) override {
    sumOverRanks(shares, comm_);
    return {signOfA_, static_cast<double>(first_.back()), ranks_, hasMultigrid};
  }
  Norms firstResidual(double* r) override {
    ++firstResiduals;
    multiply(guess.data(), r);
    auto sums = sumsOverRows<2>(rows(), [&](std::int64_t i, auto& sum) {
      r[i] = b[at(i)] - r[i];
      sum[0] += std::abs(r[i]);
      sum[1] += r[i] * r[i];
    });
    sumOverRanks(sums, comm_);
    return {sums[0], std::sqrt(sums[1])};
  }
  double scale() const override { return 1; }
  bool isMet(double norm) override { return strict ? norm < tolerance_ : norm <= tolerance_; }
  double target() const override { return tolerance_; }
  bool wantsResidual() const override { return true; }
  void lastResidual(const double* r) override { shown.assign(r, r + rows()); }

  void multiply(const double* x, double* y) override {
    const auto all = everywhere(x);
    for (std::int64_t i = 0; i < rows(); ++i) {
      const auto row = at(first_[at(rank_)] + i);
      const double left = row > 0 ? all[row - 1] : 0, right = row + 1 < all.size() ? all[row + 1] : 0;
      y[i] = signOfA_ * (diagonal() * all[row] - (1 + skew) * left - (1 - skew) * right);
    }
  }
  HostActions& actions(const PreconditionerChoice& preconditioner, bool eitherSign) override {
    own_ = preconditioner.own;
    signNow_ = eitherSign ? 1 : signOfA_;
    return *this;
  }

  OwnEnd solveOwn(double* x, std::optional<double> target, int maxIterations) override {
    ++ownSolves;
    const double asked = target.value_or(tolerance_);
    double initial = 0;
    std::vector<double> image(b.size());
    for (int sweep = 0;; ++sweep) {  // Richardson's iteration
      multiply(x, image.data());
      std::array<double, 1> norm{};
      for (std::size_t i = 0; i < b.size(); ++i) norm[0] += std::abs(b[i] - image[i]);
      sumOverRanks(norm, comm_);
      if (sweep == 0) initial = norm[0];
      if (!(norm[0] > ownSolverStopsAt * asked) || sweep == maxIterations) {
        return {sweep, isMet(norm[0]), initial, norm[0], asked};
      }
      for (std::size_t i = 0; i < b.size(); ++i) x[i] += ownSolverFactor * signOfA_ * (b[i] - image[i]) / diagonal();
    }
  }

  std::string whyNoRows() const override { return ""; }
  std::int64_t entries() const override { return 3 * rows(); }
  std::uint64_t fingerprint() const override { return static_cast<std::uint64_t>(first_.back()); }
  std::shared_ptr<const HostRows> makeRows() const override;
  void values(const HostRows& rows, double sign, std::vector<double>& out) const override {
    ++valuesTaken;
    const auto& pattern = rows.pattern();
    out.assign(pattern.columns.size(), 0);
    for (std::int64_t i = 0; i < this->rows(); ++i) {
      for (auto k = pattern.rowStart[at(i)]; k < pattern.rowStart[at(i + 1)]; ++k) {
        out[at(k)] = sign * signOfA_ * (pattern.columns[at(k)] == pattern.firstRow + i ? diagonal() : -1);
      }
    }
  }
  const double* rightHandSide() const override { return b.data(); }
  PreconditionerChoice nearestInDeck(const PreconditionerChoice& /*own*/) const override {
    PreconditionerChoice choice;
    choice.name = "jacobi";
    return choice;
  }
  void warn(const std::string& message) const override { warnings.push_back(message); }
  void note(const std::string& message) const override { notes.push_back(message); }

  std::vector<double> b, guess, shown;
  double shift = 0;
  double skew = 0;  ///< of the product alone
  bool hasMultigrid = false;
  bool strict = false;          ///< a tolerance is met below it alone, as OpenFOAM has it
  double ownSolverStopsAt = 1;  ///< times the target
  double ownSolverFactor = 1;   ///< of a correction; one that is large makes it diverge
  int ownSolves = 0, firstResiduals = 0;
  mutable std::vector<std::string> warnings, notes;
  mutable int valuesTaken = 0;

 private:
  template <class Index>
  static std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
  }
  double diagonal() const { return 2 + shift; }
  std::vector<double> everywhere(const double* x) const {
    std::vector<int> counts, starts;
    for (int r = 0; r < ranks_; ++r) {
      counts.push_back(static_cast<int>(first_[at(r + 1)] - first_[at(r)]));
      starts.push_back(static_cast<int>(first_[at(r)]));
    }
    std::vector<double> all(at(first_.back()));
    MPI_Allgatherv(x, static_cast<int>(rows()), MPI_DOUBLE, all.data(), counts.data(), starts.data(), MPI_DOUBLE,
                   comm_);
    return all;
  }
  /// Thomas' algorithm, on every rank.
  void solveExactly(const double* r, double* z) const {
    auto all = everywhere(r);
    std::vector<double> upper(all.size());
    double pivot = diagonal();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) {
        pivot = diagonal() + upper[i - 1];
        all[i] += all[i - 1];
      }
      upper[i] = -1 / pivot;
      all[i] /= pivot;
    }
    for (std::size_t i = all.size(); i-- > 1;) all[i - 1] -= upper[i - 1] * all[i];
    for (std::int64_t i = 0; i < rows(); ++i) z[i] = all[at(first_[at(rank_)] + i)];
  }

  void apply(const double* x, double* y) override {
    multiply(x, y);
    for (std::int64_t i = 0; i < rows(); ++i) y[i] *= signNow_;
  }
  void precondition(const double* r, double* z) override {
    if (own_ == Exact) solveExactly(r, z);
    const double sign = signNow_ * signOfA_;  // M has the sign of A
    for (std::int64_t i = 0; i < rows(); ++i) {
      z[i] = own_ == NotANumber ? std::numeric_limits<double>::quiet_NaN() : own_ == Exact ? z[i] : r[i] / diagonal();
      z[i] *= sign;
    }
  }
  std::string preconditionerName() const override { return std::to_string(own_); }
  double sign() const override { return signNow_; }

  MPI_Comm comm_;
  double signOfA_, tolerance_;
  int rank_ = 0, ranks_ = 1;
  std::vector<std::int64_t> first_;
  int own_ = 0;
  double signNow_ = 1;
};

/// The pattern of the tridiagonal matrix.
class ArrayRows final : public HostRows {
 public:
  ArrayRows(MPI_Comm comm, std::int64_t first, std::int64_t rows, std::int64_t all) {
    pattern_.comm = comm;
    pattern_.firstRow = first;
    pattern_.globalRows = all;
    pattern_.rowStart.push_back(0);
    for (auto row = first; row < first + rows; ++row) {
      for (auto column = std::max<std::int64_t>(row - 1, 0); column <= std::min(row + 1, all - 1); ++column) {
        pattern_.columns.push_back(column);
      }
      pattern_.rowStart.push_back(static_cast<std::int64_t>(pattern_.columns.size()));
    }
  }
  const CsrPattern& pattern() const override { return pattern_; }

 private:
  CsrPattern pattern_;
};

inline std::shared_ptr<const HostRows> ArrayHost::makeRows() const {
  return std::make_shared<ArrayRows>(comm_, first_[at(rank_)], rows(), first_.back());
}

}  // namespace capstan::driver
