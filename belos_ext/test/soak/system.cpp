#include "belos_ext/test/soak/system.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "belos_ext/test/soak/nested_solve.hpp"
#include "belos_ext/test/soak/random.hpp"
#include "belos_ext/test/support/watchdog.hpp"

namespace capstan::soak {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::uint64_t u(int i) { return static_cast<std::uint64_t>(i); }

RCP<const Map> makeMap(const SystemRecipe& recipe, const RCP<const Comm>& comm) {
  const int n = recipe.rows, ranks = comm->getSize(), rank = comm->getRank();
  const auto global = static_cast<Tpetra::global_size_t>(n);
  if (recipe.map == "even") return Teuchos::rcp(new Map(global, 0, comm));
  std::vector<GO> mine;
  for (int i = 0; i < n; ++i) {
    int owner = 0;  // "first"
    if (recipe.map == "last") owner = ranks - 1;
    if (recipe.map == "cyclic") owner = i % ranks;
    if (recipe.map == "uneven") owner = static_cast<int>(kernels::mixed(recipe.seed + u(i / 7)) % u(ranks));
    if (owner == rank) mine.push_back(i);
  }
  return Teuchos::rcp(new Map(global, Teuchos::ArrayView<const GO>(mine), 0, comm));
}

void scale(const SystemRecipe& recipe, HostMatrix& a) {
  const double factor = std::pow(10.0, recipe.matrixExponent);
  const auto weight = [&](int i) { return std::pow(10.0, recipe.scatter * noise(recipe.seed + 1, u(i))); };
  for (int i = 0; i < a.size(); ++i) {
    for (auto& [j, value] : a.rows[static_cast<std::size_t>(i)]) {
      value *= factor;
      if (recipe.scatter > 0) value *= weight(i) * (recipe.scatterColumns ? weight(j) : 1);
    }
  }
}

HostBlock drawBlock(const SystemRecipe& recipe, std::uint64_t stream, double factor) {
  HostBlock v(recipe.rows, recipe.columns);
  for (int j = 0; j < v.columns; ++j) {
    for (int i = 0; i < v.rows; ++i) v(i, j) = factor * noise(recipe.seed + stream, u(i), u(j));
  }
  return v;
}

HostBlock product(const HostMatrix& a, const HostBlock& x) {
  HostBlock y(x.rows, x.columns);
  for (int c = 0; c < x.columns; ++c) {
    for (int i = 0; i < x.rows; ++i) {
      long double sum = 0;
      for (const auto& [j, value] : a.rows[static_cast<std::size_t>(i)]) {
        sum += static_cast<long double>(value) * static_cast<long double>(x(j, c));
      }
      y(i, c) = static_cast<double>(sum);
    }
  }
  return y;
}

/// x with A x = b where such an x is wanted.
HostBlock solution(const SystemRecipe& recipe) { return drawBlock(recipe, 2, 1); }

HostBlock makeRhs(const SystemRecipe& recipe, const HostMatrix& a) {
  const double factor = std::pow(10.0, recipe.rhsExponent);
  if (recipe.rhs == "range" || recipe.guess == "exact" || recipe.guess == "nearly exact") {
    return product(a, solution(recipe));
  }
  HostBlock b = drawBlock(recipe, 3, recipe.rhs == "huge" ? 1e300 : factor);
  for (int j = 0; j < b.columns; ++j) {
    for (int i = 0; i < b.rows; ++i) {
      if (recipe.rhs == "zero" || (recipe.rhs == "one zero column" && j == 0)) b(i, j) = 0;
      if (recipe.rhs == "unit") b(i, j) = i == j % b.rows ? factor : 0;
      if (recipe.rhs == "constant") b(i, j) = factor;
    }
  }
  return b;
}

HostBlock makeGuess(const SystemRecipe& recipe) {
  if (recipe.guess == "exact") return solution(recipe);
  if (recipe.guess == "random") return drawBlock(recipe, 4, 1);
  if (recipe.guess == "huge") return drawBlock(recipe, 4, recipe.seed % 2 == 0 ? 1e200 : 1e308);
  if (recipe.guess == "tiny") return drawBlock(recipe, 4, recipe.seed % 2 == 0 ? 1e-200 : 1e-310);
  HostBlock x(recipe.rows, recipe.columns);
  if (recipe.guess == "nearly exact") {
    x = solution(recipe);
    for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] *= 1 + 1e-13 * noise(recipe.seed, i);
  }
  return x;
}

void spoil(const SystemRecipe& recipe, HostMatrix& a, HostBlock& b, HostBlock& x) {
  if (recipe.rows == 0 || recipe.columns == 0) return;
  const int i = static_cast<int>(kernels::mixed(recipe.seed) % u(recipe.rows));
  const int c = static_cast<int>(kernels::mixed(recipe.seed + 1) % u(recipe.columns));
  auto& row = a.rows[static_cast<std::size_t>(i)];
  if (recipe.spoil == "nan in A") row[i] = nan;
  if (recipe.spoil == "inf in A") row[i] = infinity;
  if (recipe.spoil == "nan in b") b(i, c) = nan;
  if (recipe.spoil == "inf in b") b(i, c) = -infinity;
  if (recipe.spoil == "nan in x0") x(i, c) = nan;
  if (recipe.spoil == "inf in x0") x(i, c) = infinity;
  if (recipe.spoil == "nan in x0 that no equation reads") {
    for (auto& others : a.rows) others.erase(i);
    x(i, c) = nan;
  }
}

/// Puts a NaN into one entry from the k-th application on.
SoakOperator::Afterwards failingFrom(int k) {
  return [k](int application, const MultiVector&, MultiVector& out) {
    if (application >= k && out.getLocalLength() > 0) out.replaceLocalValue(0, 0, nan);
  };
}

RCP<const SoakOperator> makePreconditioner(const std::string& kind, const SystemRecipe& recipe, const System& system) {
  const auto map = system.matrix->getRowMap();
  HostMatrix m;
  if (makePreconditioner(kind, system.a, recipe.seed, m)) return Teuchos::rcp(new SoakOperator(distributed(m, map)));
  makePreconditioner("jacobi", system.a, recipe.seed, m);
  SoakOperator::Afterwards afterwards;
  if (kind == "nan later") afterwards = failingFrom(static_cast<int>(recipe.seed % 30));
  if (kind == "nested") afterwards = NestedSolve::asPreconditioner(map->getComm(), recipe.seed);
  if (kind == "varying") {
    afterwards = [seed = recipe.seed](int application, const MultiVector&, MultiVector& out) {
      out.scale(1 + 0.3 * noise(seed, u(application)));
    };
  }
  return Teuchos::rcp(new SoakOperator(distributed(m, map), afterwards));
}

void precondition(const SystemRecipe& recipe, bool leftIsRight, System& system) {
  if (recipe.preconditioner == "none") return;
  const bool left = recipe.side != "right" && !leftIsRight;
  if (left) {
    HostMatrix m;
    if (makePreconditioner(recipe.preconditioner, system.a, recipe.seed, m)) system.left = m;
    system.leftOperator = makePreconditioner(recipe.preconditioner, recipe, system);
  }
  if (!left || recipe.side == "both") {
    system.rightOperator = makePreconditioner(left ? "jacobi" : recipe.preconditioner, recipe, system);
  }
  system.bare = recipe.bare;
  for (const auto& side : {system.leftOperator, system.rightOperator}) {
    system.bare = system.bare && (side.is_null() || !side->matrix().is_null());
  }
}

}  // namespace

void SoakOperator::apply(const MultiVector& in, MultiVector& out, Teuchos::ETransp mode, Scalar alpha,
                         Scalar beta) const {
  if (mode != Teuchos::NO_TRANS || alpha != Scalar(1) || beta != Scalar(0)) {
    throw std::logic_error("SoakOperator: only out = A in");
  }
  const int number = applications_++;
  if (number > 100000) throw std::logic_error("soak: a solve does not end");
  testing::Watchdog::beat();
  matrix_->apply(in, out);
  if (afterwards_) afterwards_(number, in, out);
}

RCP<CrsMatrix> distributed(const HostMatrix& matrix, const RCP<const Map>& map) {
  return testing::matrixFrom(map, [&matrix](GO i) {
    std::vector<testing::Entry> row;
    for (const auto& [j, value] : matrix.rows[static_cast<std::size_t>(i)]) row.push_back({j, value});
    return row;
  });
}

RCP<MultiVector> distributed(const HostBlock& block, const RCP<const Map>& map) {
  auto v = Teuchos::rcp(new MultiVector(map, static_cast<std::size_t>(block.columns)));
  for (int c = 0; c < block.columns; ++c) {
    for (std::size_t i = 0; i < compat::localNumElements(*map); ++i) {
      const auto local = static_cast<int>(i);
      v->replaceLocalValue(local, static_cast<std::size_t>(c),
                           block(static_cast<int>(map->getGlobalElement(local)), c));
    }
  }
  return v;
}

HostBlock gathered(const MultiVector& v) {
  const int n = static_cast<int>(v.getGlobalLength()), columns = static_cast<int>(v.getNumVectors());
  HostBlock mine(n, columns), all(n, columns);
  for (int c = 0; c < columns; ++c) {
    const auto data = v.getData(static_cast<std::size_t>(c));
    for (Teuchos::Ordinal i = 0; i < data.size(); ++i) {
      mine(static_cast<int>(v.getMap()->getGlobalElement(static_cast<int>(i))), c) = data[i];
    }
  }
  Teuchos::reduceAll(*v.getMap()->getComm(), Teuchos::REDUCE_SUM, static_cast<int>(mine.values.size()),
                     mine.values.data(), all.values.data());
  return all;
}

System makeSystem(const SystemRecipe& recipe, const RCP<const Comm>& comm, bool leftIsRight) {
  System system;
  system.a = makeMatrix(recipe.matrix, recipe.rows, recipe.seed);
  scale(recipe, system.a);
  system.b = makeRhs(recipe, system.a);
  HostBlock guess = makeGuess(recipe);
  spoil(recipe, system.a, system.b, guess);
  const auto map = makeMap(recipe, comm);
  system.matrix = distributed(system.a, map);
  system.rhs = distributed(system.b, map);
  system.x = distributed(guess, map);
  system.op = system.matrix;
  if (recipe.wrapper != "matrix") {
    SoakOperator::Afterwards afterwards;
    if (recipe.wrapper == "nan later") afterwards = failingFrom(static_cast<int>(recipe.seed % 40));
    if (recipe.wrapper == "nested") afterwards = NestedSolve::onTheSide(comm, recipe.seed);
    system.counted = Teuchos::rcp(new SoakOperator(system.matrix, afterwards));
    system.op = system.counted;
  }
  precondition(recipe, leftIsRight, system);
  return system;
}

}  // namespace capstan::soak
