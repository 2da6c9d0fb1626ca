#include "adapters/deck/generators.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "adapters/deck/dg_laplace.hpp"

namespace capstan::deck {
namespace {

constexpr double pi = 3.14159265358979323846;

/// Indices on a box of cells, x fastest. Two-dimensional problems have one cell in z.
struct Grid {
  std::array<long long, 3> cells{1, 1, 1};

  explicit Grid(const std::vector<int>& sizes) { std::copy(sizes.begin(), sizes.end(), cells.begin()); }
  long long size() const { return cells[0] * cells[1] * cells[2]; }
  std::array<long long, 3> place(long long i) const {
    return {i % cells[0], i / cells[0] % cells[1], i / (cells[0] * cells[1])};
  }
  long long index(const std::array<long long, 3>& at) const { return at[0] + cells[0] * (at[1] + cells[1] * at[2]); }
  bool inside(const std::array<long long, 3>& at) const {
    for (int d = 0; d < 3; ++d) {
      if (at[d] < 0 || at[d] >= cells[d]) return false;
    }
    return true;
  }
};

/// Adds `value` for the neighbour at `offset`, when there is one. True when there is.
bool addNeighbour(const Grid& grid, std::array<long long, 3> at, const std::array<int, 3>& offset, double value,
                  MatrixRow& out) {
  for (int d = 0; d < 3; ++d) at[d] += offset[d];
  if (!grid.inside(at)) return false;
  out.add(grid.index(at), value);
  return true;
}

std::array<int, 3> towards(int direction, int sign) {
  std::array<int, 3> offset{0, 0, 0};
  offset[direction] = sign;
  return offset;
}

/// -Laplace with Dirichlet walls, second-order differences, scaled by h^2: 2d on the diagonal, -1 beside it.
GeneratedMatrix laplace(const GeneratorOptions& options) {
  const Grid grid(options.cells);
  const int dimensions = static_cast<int>(options.cells.size());
  return {grid.size(), mostEntriesInRow(options), [grid, dimensions](long long i, MatrixRow& out) {
            const auto at = grid.place(i);
            out.add(i, 2.0 * dimensions);
            for (int d = 0; d < dimensions; ++d) {
              addNeighbour(grid, at, towards(d, -1), -1.0, out);
              addNeighbour(grid, at, towards(d, 1), -1.0, out);
            }
          }};
}

/// -div(K grad u), K = rotation of diag(1, epsilon); central differences with a nine-point cross derivative.
GeneratedMatrix anisotropic(const GeneratorOptions& options) {
  const Grid grid(options.cells);
  const double c = std::cos(options.angle * pi / 180.0);
  const double s = std::sin(options.angle * pi / 180.0);
  const double kxx = c * c + options.epsilon * s * s;
  const double kyy = s * s + options.epsilon * c * c;
  const double kxy = (1.0 - options.epsilon) * c * s;
  return {grid.size(), mostEntriesInRow(options), [=](long long i, MatrixRow& out) {
            const auto at = grid.place(i);
            out.add(i, 2.0 * (kxx + kyy));
            for (const int sign : {-1, 1}) {
              addNeighbour(grid, at, {sign, 0, 0}, -kxx, out);
              addNeighbour(grid, at, {0, sign, 0}, -kyy, out);
              if (kxy == 0.0) continue;
              addNeighbour(grid, at, {sign, sign, 0}, -0.5 * kxy, out);
              addNeighbour(grid, at, {sign, -sign, 0}, 0.5 * kxy, out);
            }
          }};
}

/// -diffusion Laplace u + velocity . grad u on the unit box, Dirichlet walls, scaled by the cell volume's h^2 in x.
GeneratedMatrix convectionDiffusion(const GeneratorOptions& options) {
  const Grid grid(options.cells);
  const int dimensions = static_cast<int>(options.cells.size());
  const double h0 = 1.0 / (options.cells[0] + 1);
  std::array<double, 3> lower{}, upper{};
  double diagonal = 0.0;
  for (int d = 0; d < dimensions; ++d) {
    const double h = 1.0 / (options.cells[d] + 1);
    const double diffusion = options.diffusion * h0 * h0 / (h * h);
    const double convection = options.velocity[d] * h0 * h0 / h;
    lower[d] = -diffusion - (options.upwind ? std::max(convection, 0.0) : 0.5 * convection);
    upper[d] = -diffusion - (options.upwind ? std::max(-convection, 0.0) : -0.5 * convection);
    diagonal += 2.0 * diffusion + (options.upwind ? std::abs(convection) : 0.0);
  }
  return {grid.size(), mostEntriesInRow(options), [=](long long i, MatrixRow& out) {
            const auto at = grid.place(i);
            out.add(i, diagonal);
            for (int d = 0; d < dimensions; ++d) {
              addNeighbour(grid, at, towards(d, -1), lower[d], out);
              addNeighbour(grid, at, towards(d, 1), upper[d], out);
            }
          }};
}

/// Sizes of n cells that fill [0, 1], each `ratio` times its neighbour, small ones at both walls.
std::vector<double> cellSizes(int n, double ratio) {
  std::vector<double> sizes(n);
  for (int i = 0; i < n; ++i) sizes[i] = std::pow(ratio, std::min(i, n - 1 - i));
  const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  for (double& size : sizes) size /= sum;
  return sizes;
}

/// The pressure equation of a finite-volume code: face area over distance of cell centres, no flux through the walls.
GeneratedMatrix stretchedPoisson(const GeneratorOptions& options) {
  const Grid grid(options.cells);
  std::array<std::vector<double>, 3> sizes;
  double scale = 1.0;
  for (int d = 0; d < 3; ++d) {
    sizes[d] = cellSizes(options.cells[d], options.stretching[d]);
    scale *= options.cells[d];
  }
  scale = std::cbrt(scale);  // entries of order one whatever the mesh
  const bool pinned = options.pinned;
  return {grid.size(), mostEntriesInRow(options), [=](long long i, MatrixRow& out) {
            const auto at = grid.place(i);
            double diagonal = 0.0;
            for (int d = 0; d < 3; ++d) {
              const int e = (d + 1) % 3;
              const int f = (d + 2) % 3;
              const double area = sizes[e][at[e]] * sizes[f][at[f]];
              for (const int sign : {-1, 1}) {
                const long long next = at[d] + sign;
                if (next < 0 || next >= grid.cells[d]) continue;
                const double distance = 0.5 * (sizes[d][at[d]] + sizes[d][next]);
                const double coefficient = scale * area / distance;
                addNeighbour(grid, at, towards(d, sign), -coefficient, out);
                diagonal += coefficient;
              }
            }
            // A reference cell as OpenFOAM sets it: its diagonal counts twice.
            out.add(i, pinned && i == 0 ? 2.0 * diagonal : diagonal);
          }};
}

DgMesh dgMesh(const GeneratorOptions& options) {
  const DgNumbering numbering = dgNumberingNamed(options.numbering);
  if (options.mesh == "star") return DgMesh::star(options.cells[0], numbering);
  return DgMesh::square(options.cells[0], options.cells[1], numbering);
}

GeneratedMatrix diagonal(const GeneratorOptions& options) {
  return {static_cast<long long>(options.values.size()), mostEntriesInRow(options),
          [values = options.values](long long i, MatrixRow& out) { out.add(i, values[static_cast<std::size_t>(i)]); }};
}

}  // namespace

void MatrixRow::add(long long column, double value) {
  columns.push_back(column);
  values.push_back(value);
}

const std::vector<GeneratorName>& generatorNames() {
  static const std::vector<GeneratorName> names = {
      {"laplace2d", 2, 5, "5-point Laplacian, Dirichlet walls"},
      {"laplace3d", 3, 7, "7-point Laplacian, Dirichlet walls"},
      {"anisotropic2d", 2, 9, "anisotropic diffusion (epsilon, angle), Dirichlet walls"},
      {"convection_diffusion2d", 2, 5, "convection-diffusion (velocity, diffusion, scheme), Dirichlet walls"},
      {"convection_diffusion3d", 3, 7, "convection-diffusion (velocity, diffusion, scheme), Dirichlet walls"},
      {"stretched_poisson3d", 3, 7, "finite-volume pressure equation on a mesh refined at the walls, no-flux walls"},
      {"dg_laplace2d", 2, 0, "Laplacian by discontinuous Galerkin elements (degree, mesh, numbering), Dirichlet walls"},
      {"diagonal", 0, 1, "a diagonal matrix (values)"},
  };
  return names;
}

const GeneratorName* findGenerator(const std::string& name) {
  for (const auto& row : generatorNames()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

GeneratorOptions withDefaults(GeneratorOptions options) {
  const auto* name = findGenerator(options.problem);
  if (name == nullptr) throw std::invalid_argument("unknown problem '" + options.problem + "'");
  const auto dimensions = static_cast<std::size_t>(name->dimensions);
  const bool many = dimensions == 2 && name->name != "dg_laplace2d";
  if (options.cells.empty()) options.cells.assign(dimensions, many ? 100 : 32);
  if (options.cells.size() == 1) options.cells.assign(dimensions, options.cells.front());
  if (options.velocity.empty()) options.velocity.assign(dimensions, 1.0);
  if (options.stretching.empty()) options.stretching.assign(dimensions, 1.1);
  if (options.stretching.size() == 1) options.stretching.assign(dimensions, options.stretching.front());
  return options;
}

int mostEntriesInRow(const GeneratorOptions& options) {
  if (options.problem == "dg_laplace2d") return 5 * dgUnknownsOfElement(options.degree);
  return findGenerator(options.problem)->entriesInRow;
}

std::string generatorProblem(const GeneratorOptions& options) {
  if (options.problem != "dg_laplace2d") return {};
  return DgMesh::problemOf(options.mesh == "star", options.cells[0], options.cells[1],
                           dgNumberingNamed(options.numbering));
}

double generatedRows(const GeneratorOptions& options) {
  if (findGenerator(options.problem)->dimensions == 0) return static_cast<double>(options.values.size());
  const double cells = std::accumulate(options.cells.begin(), options.cells.end(), 1.0, std::multiplies<double>());
  if (options.problem != "dg_laplace2d") return cells;
  return cells * dgUnknownsOfElement(options.degree) * (options.mesh == "star" ? 5.0 : 1.0);
}

GeneratedMatrix generate(const GeneratorOptions& options) {
  if (options.problem == "laplace2d" || options.problem == "laplace3d") return laplace(options);
  if (options.problem == "anisotropic2d") return anisotropic(options);
  if (options.problem.rfind("convection_diffusion", 0) == 0) return convectionDiffusion(options);
  if (options.problem == "stretched_poisson3d") return stretchedPoisson(options);
  if (const auto problem = generatorProblem(options); !problem.empty()) {
    throw std::invalid_argument("capstan: problem " + options.problem + ": " + problem);
  }
  if (options.problem == "dg_laplace2d") return dgLaplace(dgMesh(options), options.degree, options.penalty);
  if (options.problem == "diagonal") return diagonal(options);
  throw std::invalid_argument("unknown problem '" + options.problem + "'");
}

}  // namespace capstan::deck
