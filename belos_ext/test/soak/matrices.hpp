#pragma once
/// \file
/// The matrices of the soak, replicated on every rank: small, and the judge computes with them in long double. Local.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace capstan::soak {

/// Rows by column, square.
struct HostMatrix {
  std::vector<std::map<int, double>> rows;

  int size() const { return static_cast<int>(rows.size()); }
};

/// n x c, column by column.
struct HostBlock {
  int rows = 0, columns = 0;
  std::vector<double> values;

  HostBlock() = default;
  HostBlock(int n, int c) : rows(n), columns(c), values(static_cast<std::size_t>(n) * static_cast<std::size_t>(c)) {}
  double& operator()(int i, int j) {
    return values[static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(i)];
  }
  double operator()(int i, int j) const {
    return values[static_cast<std::size_t>(j) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(i)];
  }
};

/// The names makeMatrix() knows: definite, nonsymmetric, indefinite, singular, zero, ...
const std::vector<std::string>& matrixKinds();

HostMatrix makeMatrix(const std::string& kind, int n, std::uint64_t seed);

/// Matrices that CG and GMRES solve within a few hundred iterations for up to 200 rows.
bool isBenign(const std::string& kind);

/// M^{-1} as a matrix for a preconditioner that is linear and known; false where it is not.
bool makePreconditioner(const std::string& kind, const HostMatrix& a, std::uint64_t seed, HostMatrix& m);

}  // namespace capstan::soak
