#pragma once
// Systems of a cube of cells over hypre's IJ interface: what Nalu-wind's pressure and momentum equations look like.
#include <HYPRE_IJ_mv.h>
#include <HYPRE_parcsr_mv.h>
#include <mpi.h>

#include <cmath>
#include <numeric>
#include <vector>

/// The rows of a rank: consecutive ones.
struct Rows {
  long long all = 0;
  int rank = 0, ranks = 1;
  static Rows of(long long all) {
    Rows rows{all, 0, 1};
    MPI_Comm_rank(MPI_COMM_WORLD, &rows.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rows.ranks);
    return rows;
  }
  HYPRE_BigInt firstOf(int of) const { return static_cast<HYPRE_BigInt>(all * of / ranks); }
  HYPRE_BigInt first() const { return firstOf(rank); }
  HYPRE_BigInt end() const { return firstOf(rank + 1); }
  std::size_t count() const { return static_cast<std::size_t>(end() - first()); }
  std::vector<HYPRE_BigInt> numbers() const {
    std::vector<HYPRE_BigInt> found(count());
    std::iota(found.begin(), found.end(), first());
    return found;
  }
};

/// A cube with cells that are thin at the wall z = 0, as in a boundary layer. The side x = 1 is open, the others are
/// walls.
struct Grid {
  int side;
  long long cells() const { return 1LL * side * side * side; }
  double edge(int axis, int i) const {
    const double t = static_cast<double>(i) / side;
    return axis == 2 ? t * t * 0.8 + t * 0.2 : t;
  }
  double width(int axis, int i) const { return edge(axis, i + 1) - edge(axis, i); }
  double middle(int axis, int i) const { return (edge(axis, i + 1) + edge(axis, i)) / 2; }
};

/// One row: coefficients of the cell and of its neighbours.
struct Row {
  std::vector<HYPRE_BigInt> columns;
  std::vector<double> values;
};

/// A velocity without divergence that turns in the plane (x, y), across a face of that axis.
inline double velocity(int axis, double x, double y) {
  const double pi = std::acos(-1.0);
  if (axis == 0) return std::sin(pi * x) * std::cos(pi * y);
  return axis == 1 ? -std::cos(pi * x) * std::sin(pi * y) : 0;
}

/// \param speed 0: the Laplacian; else an implicit step of convection (upwind) and diffusion
inline Row rowOf(const Grid& grid, long long number, double speed) {
  const long long n = grid.side;
  const int at[3] = {static_cast<int>(number % n), static_cast<int>(number / n % n), static_cast<int>(number / n / n)};
  const long long stride[3] = {1, n, n * n};
  const double size[3] = {grid.width(0, at[0]), grid.width(1, at[1]), grid.width(2, at[2])};
  const double volume = size[0] * size[1] * size[2], viscosity = speed > 0 ? 1e-3 : 1;
  double diagonal = speed > 0 ? volume * 2 : 0;
  Row row{{static_cast<HYPRE_BigInt>(number)}, {0}};
  for (int axis = 0; axis < 3; ++axis) {
    const double area = volume / size[axis];
    for (const int sign : {-1, 1}) {
      const int near = at[axis] + sign;
      const bool inside = near >= 0 && near < n;
      if (!inside && (axis != 0 || sign < 0)) continue;
      const double distance = inside ? std::abs(grid.middle(axis, near) - grid.middle(axis, at[axis])) : size[axis] / 2;
      const double face = grid.edge(axis, at[axis] + (sign > 0 ? 1 : 0));
      const double x = axis == 0 ? face : grid.middle(0, at[0]), y = axis == 1 ? face : grid.middle(1, at[1]);
      const double flux = speed * sign * velocity(axis, x, y) * area, exchange = viscosity * area / distance;
      diagonal += exchange + std::max(flux, 0.0);
      if (!inside) continue;
      row.columns.push_back(static_cast<HYPRE_BigInt>(number + sign * stride[axis]));
      row.values.push_back(-exchange + std::min(flux, 0.0));
    }
  }
  row.values[0] = diagonal;
  return row;
}

inline HYPRE_IJMatrix makeMatrix(const Rows& rows) {
  HYPRE_IJMatrix matrix = nullptr;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, rows.first(), rows.end() - 1, rows.first(), rows.end() - 1, &matrix);
  HYPRE_IJMatrixSetObjectType(matrix, HYPRE_PARCSR);
  return matrix;
}
inline HYPRE_IJVector makeVector(const Rows& rows) {
  HYPRE_IJVector vector = nullptr;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, rows.first(), rows.end() - 1, &vector);
  HYPRE_IJVectorSetObjectType(vector, HYPRE_PARCSR);
  return vector;
}

/// Values again, in the same places after the first time.
inline void fillMatrix(HYPRE_IJMatrix matrix, const Rows& rows, const Grid& grid, double speed) {
  HYPRE_IJMatrixInitialize(matrix);
  for (HYPRE_BigInt number = rows.first(); number < rows.end(); ++number) {
    const Row row = rowOf(grid, number, speed);
    HYPRE_Int count = static_cast<HYPRE_Int>(row.columns.size());
    HYPRE_IJMatrixSetValues(matrix, 1, &count, &number, row.columns.data(), row.values.data());
  }
  HYPRE_IJMatrixAssemble(matrix);
}

/// Zero, or where \p outer is positive the right-hand side of that outer iteration.
inline HYPRE_ParVector fillVector(HYPRE_IJVector vector, const Rows& rows, int outer) {
  void* parallel = nullptr;
  HYPRE_IJVectorInitialize(vector);
  for (HYPRE_BigInt row = rows.first(); row < rows.end(); ++row) {
    const double value = outer > 0 ? std::sin(1e3 * (row + 1) + outer) : 0;
    HYPRE_IJVectorSetValues(vector, 1, &row, &value);
  }
  HYPRE_IJVectorAssemble(vector);
  HYPRE_IJVectorGetObject(vector, &parallel);
  return static_cast<HYPRE_ParVector>(parallel);
}

/// || b - A x || over || b ||, computed in r
inline double residualOf(HYPRE_ParCSRMatrix a, HYPRE_ParVector b, HYPRE_ParVector x, HYPRE_ParVector r) {
  double rr = 0, bb = 0;
  HYPRE_ParVectorCopy(b, r);
  HYPRE_ParCSRMatrixMatvec(-1.0, a, x, 1.0, r);
  HYPRE_ParVectorInnerProd(r, r, &rr);
  HYPRE_ParVectorInnerProd(b, b, &bb);
  return std::sqrt(rr / bb);
}
