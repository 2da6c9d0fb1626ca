#include <HPDDM.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <vector>

#include "belos_ext/parameters/method_traits.hpp"
#include "perf/solvers/peers.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::perf {
namespace {

using deck::Matrix;
using deck::MultiVector;

/// What HPDDM asks of an operator: blocks stored by columns.
struct TpetraOperator final : HPDDM::EmptyOperator<double> {
  explicit TpetraOperator(const Teuchos::RCP<const Matrix>& a)
      : HPDDM::EmptyOperator<double>(static_cast<int>(compat::localNumElements(*a->getDomainMap()))), a_(a) {}

  int GMV(const double* in, double* out, const int& columns) const {
    const auto map = a_->getDomainMap();
    const auto stride = static_cast<std::size_t>(getDof()), count = static_cast<std::size_t>(columns);
    if (x_.is_null() || x_->getNumVectors() != count) {
      x_ = Teuchos::rcp(new MultiVector(map, count, false));
      y_ = Teuchos::rcp(new MultiVector(map, count, false));
    }
    copyIn(in, stride, count);
    a_->apply(*x_, *y_);
    for (std::size_t j = 0; j < count; ++j) {
      const auto column = y_->getData(j);
      std::copy_n(column.getRawPtr(), stride, out + j * stride);
    }
    products += columns;
    return 0;
  }

  /// No preconditioner.
  template <bool>
  int apply(const double* in, double* out, const unsigned short& columns = 1, double* = nullptr,
            const unsigned short& = 0) const {
    std::copy_n(in, static_cast<std::size_t>(columns) * static_cast<std::size_t>(getDof()), out);
    return 0;
  }

  mutable long products = 0;  ///< of one column

 private:
  void copyIn(const double* in, std::size_t stride, std::size_t count) const {
    for (std::size_t j = 0; j < count; ++j) {
      const auto column = x_->getDataNonConst(j);
      std::copy_n(in + j * stride, stride, column.getRawPtr());
    }
  }

  Teuchos::RCP<const Matrix> a_;
  mutable Teuchos::RCP<MultiVector> x_, y_;
};

struct HpddmOptions {
  int factor = 2;  ///< parts of the residual, "enlarge_krylov_subspace"
  double tolerance = 1e-8;
  int maxIterations = 1000;
};

/// Called "HPDDM bfbcg t=<factor>": breakdown-free block CG, without a preconditioner. The right-hand side is split by
/// contiguous rows, and the columns of x added up, within what is timed, as HPDDM does itself: it gives each rank to
/// one part, so that its own splitting has no more parts than there are ranks.
class HpddmContestant final : public Contestant {
 public:
  HpddmContestant(const Teuchos::RCP<const Matrix>& a, const Teuchos::RCP<const MultiVector>& b,
                  const HpddmOptions& options, MPI_Comm comm)
      : a_(a), b_(b), options_(options), comm_(comm), operator_(a), x_(a->getDomainMap(), 1), r_(a->getDomainMap(), 1) {
    if (options.maxIterations > std::numeric_limits<short>::max()) {
      throw std::runtime_error("HPDDM counts to 32767 iterations");
    }
    description_.name = "HPDDM bfbcg t=" + std::to_string(options.factor);
    description_.method = "bfbcg";
    description_.library = "hpddm";
    description_.group = "CG";
    description_.preconditioner = "none";
    description_.tolerance = options.tolerance;
    description_.parameters = {
        {"tol", options.tolerance}, {"max_it", options.maxIterations}, {"enlarge_krylov_subspace", options.factor}};
  }

  const Description& description() const override { return description_; }

  void prepare() override {
    auto& given = *HPDDM::Option::get();
    given["tol"] = options_.tolerance;
    given["max_it"] = options_.maxIterations;
    given["enlarge_krylov_subspace"] = options_.factor;
    operator_.products = 0;
  }

  Outcome solve() override {
    const auto columns = static_cast<std::size_t>(options_.factor), rows = static_cast<std::size_t>(operator_.getDof());
    split_.assign(columns * rows, 0.0);
    block_.assign(columns * rows, 0.0);
    const auto& map = *a_->getDomainMap();
    const auto all = static_cast<long long>(map.getGlobalNumElements());
    const auto rhs = b_->getData(0);
    for (std::size_t i = 0; i < rows; ++i) {
      const long long row = map.getGlobalElement(static_cast<int>(i)) - map.getIndexBase();
      split_[static_cast<std::size_t>(row * options_.factor / all) * rows + i] = rhs[static_cast<int>(i)];
    }
    const int iterations =
        HPDDM::IterativeMethod::BFBCG<false>(operator_, split_.data(), block_.data(), options_.factor, comm_);
    const auto x = x_.getDataNonConst(0);
    for (std::size_t i = 0; i < rows; ++i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < columns; ++j) sum += block_[j * rows + i];
      x[static_cast<int>(i)] = sum;
    }
    return {iterations >= 0 && iterations < options_.maxIterations, iterations};
  }

  double relativeResidual() override {
    Tpetra::deep_copy(r_, *b_);
    a_->apply(x_, r_, Teuchos::NO_TRANS, -1.0, 1.0);
    return r_.getVector(0)->norm2() / b_->getVector(0)->norm2();
  }

  std::optional<Applications> applications() override { return Applications{operator_.products, 0}; }

 private:
  Teuchos::RCP<const Matrix> a_;
  Teuchos::RCP<const MultiVector> b_;
  HpddmOptions options_;
  MPI_Comm comm_;
  Description description_;
  TpetraOperator operator_;
  MultiVector x_, r_;
  std::vector<double> split_, block_;
};

}  // namespace

std::string hpddmVersion() { return HPDDM_VERSION; }

std::vector<std::string> joinHpddm(const deck::Deck& deck, const deck::SystemOptions& system, Field& field) {
  std::vector<std::string> leftOut;
  std::set<int> known;
  for (const auto index : system.solvers) {
    const auto& solver = deck.linearSolvers[index];
    const MethodTraits* ours = findMethod(solver.method);
    if (ours == nullptr || !ours->is(capstan::Trait::Directions)) continue;
    if (!solver.parameters.isType<int>("Enlarging Factor")) continue;
    HpddmOptions options;
    options.factor = solver.parameters.get<int>("Enlarging Factor");
    if (options.factor < 2 || known.count(options.factor) > 0) continue;
    if (solver.preconditioner.name != "none") {
      leftOut.push_back(system.name + ": no HPDDM peer of " + solver.name + ": it has a preconditioner");
      continue;
    }
    known.insert(options.factor);
    options.tolerance = solver.finalTolerance;
    if (solver.parameters.isType<int>("Maximum Iterations")) {
      options.maxIterations = solver.parameters.get<int>("Maximum Iterations");
    }
    field.contestants.push_back(std::make_unique<HpddmContestant>(field.A, field.b, options, MPI_COMM_WORLD));
  }
  return leftOut;
}

}  // namespace capstan::perf
