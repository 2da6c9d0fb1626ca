#include "belos_ext/test/soak/matrices.hpp"

#include <cmath>
#include <functional>
#include <stdexcept>

#include "belos_ext/test/soak/random.hpp"

namespace capstan::soak {
namespace {

using Row = std::map<int, double>;
/// Row i of an n x n matrix.
using RowMaker = std::function<Row(int i, int n, std::uint64_t seed)>;

std::uint64_t u(int i) { return static_cast<std::uint64_t>(i); }

int width(int n) { return std::max(1, static_cast<int>(std::sqrt(static_cast<double>(n)))); }

/// The couplings of a grid of width w, its last row incomplete where w does not divide n.
Row grid(int i, int n, double centre, double west, double east, double across) {
  const int w = width(n);
  Row row{{i, centre}};
  if (i % w > 0) row[i - 1] = west;
  if (i % w + 1 < w && i + 1 < n) row[i + 1] = east;
  if (i >= w) row[i - w] = across;
  if (i + w < n) row[i + w] = across;
  return row;
}

Row laplace2d(int i, int n, std::uint64_t) { return grid(i, n, 4, -1, -1, -1); }

Row neumann2d(int i, int n, std::uint64_t) {
  Row row = grid(i, n, 0, -1, -1, -1);
  row[i] = static_cast<double>(row.size()) - 1;
  return row;
}

/// As CFD codes pin the pressure: the row of one cell is its diagonal alone, its column is not.
Row pinned2d(int i, int n, std::uint64_t seed) {
  const Row row = neumann2d(i, n, seed);
  return i == static_cast<int>(seed % u(n)) ? Row{{i, std::max(row.at(i), 1.0)}} : row;
}

/// Some rows hold their diagonal alone.
Row diagonalRows(int i, int n, std::uint64_t seed) {
  return noise(seed, u(i)) > 0.3 ? Row{{i, 1 + noise(seed, u(i), 1) / 2}} : laplace2d(i, n, seed);
}

Row laplace1d(int i, int n, std::uint64_t) {
  Row row{{i, 2}};
  if (i > 0) row[i - 1] = -1;
  if (i + 1 < n) row[i + 1] = -1;
  return row;
}

Row neumann1d(int i, int n, std::uint64_t seed) {
  Row row = laplace1d(i, n, seed);
  row[i] = static_cast<double>(row.size()) - 1;
  return row;
}

/// \param diagonal 0: none beyond what is drawn
Row randomRow(int i, int n, std::uint64_t seed, double diagonal) {
  Row row;
  for (int k = 0; k < 4; ++k)
    row[static_cast<int>(kernels::mixed(seed ^ u(7 * i + k)) % u(n))] += noise(seed, u(i), u(k));
  row[i] += diagonal;
  return row;
}

Row skew(int i, int n, std::uint64_t) {
  Row row;
  if (i > 0) row[i - 1] = -1;
  if (i + 1 < n) row[i + 1] = 1;
  return row;
}

Row jordan(int i, int n, std::uint64_t) { return i + 1 < n ? Row{{i, 0.5}, {i + 1, 1}} : Row{{i, 0.5}}; }

/// Few distinct eigenvalues, the space is exhausted early.
Row repeated(int i, int, std::uint64_t seed) { return {{i, 1 + static_cast<double>(kernels::mixed(seed ^ u(i)) % 3)}}; }

Row spread(int i, int n, std::uint64_t) { return {{i, std::pow(10.0, -12.0 * i / std::max(1, n - 1))}}; }

/// c I plus a matrix of ones: two distinct eigenvalues, dense.
Row rankOne(int i, int n, std::uint64_t seed) {
  Row row;
  for (int j = 0; j < std::min(n, 20); ++j) row[j] = i < 20 ? 0.1 : 0;
  row[i] += 1 + unit(seed);
  return row;
}

struct Kind {
  std::string name;
  bool benign;
  RowMaker row;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> table = {
      {"laplace1d", false, laplace1d},
      {"laplace2d", true, laplace2d},
      {"convection2d", false,
       [](int i, int n, std::uint64_t seed) {
         const double wind = 3 * unit(seed);
         return grid(i, n, 4, -1 - wind, -1 + wind, -1);
       }},
      {"neumann1d", false, neumann1d},
      {"neumann2d", false, neumann2d},
      {"pinned2d", false, pinned2d},
      {"diagonal rows", false, diagonalRows},
      {"indefinite2d", false, [](int i, int n, std::uint64_t seed) { return grid(i, n, 4 * unit(seed), -1, -1, -1); }},
      {"diagonal", true,
       [](int i, int, std::uint64_t) {
         return Row{{i, 1 + i % 50}};
       }},
      {"indefinite diagonal", false,
       [](int i, int, std::uint64_t seed) {
         return Row{{i, 5 * noise(seed, u(i))}};
       }},
      {"spread diagonal", false, spread},
      {"repeated", true, repeated},
      {"rank one", false, rankOne},
      {"identity", true,
       [](int i, int, std::uint64_t) {
         return Row{{i, 1}};
       }},
      {"zero", false, [](int, int, std::uint64_t) { return Row{}; }},
      {"zero but one", false,
       [](int i, int, std::uint64_t) {
         return i == 0 ? Row{{0, 2}} : Row{};
       }},
      {"cyclic shift", false,
       [](int i, int n, std::uint64_t) {
         return Row{{(i + n - 1) % n, 1}};
       }},
      {"jordan", false, jordan},
      {"skew", false, skew},
      {"dominant", false, [](int i, int n, std::uint64_t seed) { return randomRow(i, n, seed, 5); }},
      {"wild", false, [](int i, int n, std::uint64_t seed) { return randomRow(i, n, seed, 0); }},
  };
  return table;
}

const Kind& kindOf(const std::string& name) {
  for (const Kind& kind : kinds()) {
    if (kind.name == name) return kind;
  }
  throw std::logic_error("soak: no matrix '" + name + "'");
}

HostMatrix diagonal(int n, const std::function<double(int)>& entry) {
  HostMatrix m;
  for (int i = 0; i < n; ++i) m.rows.push_back({{i, entry(i)}});
  return m;
}

double inverseDiagonal(const HostMatrix& a, int i) {
  const auto& row = a.rows[static_cast<std::size_t>(i)];
  const auto d = row.find(i);
  return d == row.end() || d->second == 0 ? 1.0 : 1 / d->second;
}

}  // namespace

const std::vector<std::string>& matrixKinds() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Kind& kind : kinds()) all.push_back(kind.name);
    return all;
  }();
  return names;
}

bool isBenign(const std::string& kind) { return kindOf(kind).benign; }

HostMatrix makeMatrix(const std::string& kind, int n, std::uint64_t seed) {
  const RowMaker& row = kindOf(kind).row;
  HostMatrix a;
  for (int i = 0; i < n; ++i) a.rows.push_back(row(i, n, seed));
  return a;
}

bool makePreconditioner(const std::string& kind, const HostMatrix& a, std::uint64_t seed, HostMatrix& m) {
  const int n = a.size();
  if (kind == "identity") {
    m = diagonal(n, [](int) { return 1.0; });
  } else if (kind == "jacobi") {
    m = diagonal(n, [&](int i) { return inverseDiagonal(a, i); });
  } else if (kind == "constant") {
    m = diagonal(n, [&](int) { return seed % 2 == 0 ? 1e-4 : 1e4; });
  } else if (kind == "indefinite") {
    m = diagonal(n, [&](int i) { return noise(seed, u(i)); });
  } else if (kind == "negative") {
    m = diagonal(n, [](int) { return -1.0; });
  } else if (kind == "zero") {
    m = diagonal(n, [](int) { return 0.0; });
  } else if (kind == "tiny") {
    m = diagonal(n, [](int) { return 1e-200; });
  } else if (kind == "huge") {
    m = diagonal(n, [](int) { return 1e200; });
  } else if (kind == "tridiagonal") {
    for (int i = 0; i < n; ++i) {
      m.rows.push_back(laplace1d(i, n, seed));
      m.rows.back()[i] = 4;
      for (auto& entry : m.rows.back()) entry.second = std::abs(entry.second);
    }
  } else if (kind == "random") {
    for (int i = 0; i < n; ++i) m.rows.push_back(randomRow(i, n, seed, 2));
  } else {
    return false;
  }
  return true;
}

}  // namespace capstan::soak
