#include "adapters/deck/dg_laplace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>

namespace capstan::deck {
namespace {

constexpr double pi = 3.14159265358979323846;
using Vector = std::array<double, 2>;

/// Legendre's polynomial of degree n on [-1, 1] and its derivative, at an inner point.
std::array<double, 2> legendre(int n, double x) {
  double before = 1.0, value = x;
  for (int k = 2; k <= n; ++k) {
    const double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
    before = value;
    value = next;
  }
  return {value, n * (x * value - before) / (x * x - 1.0)};
}

/// Lagrange's polynomials at the n Gauss-Legendre points of [0, 1], which also integrate.
struct Line {
  std::vector<double> points, weights;
  std::vector<std::vector<double>> slope;            // slope[a][q]: derivative of polynomial a at point q
  std::array<std::vector<double>, 2> end, endSlope;  // value and derivative of each at 0 and at 1

  explicit Line(int n) : points(size(n)), weights(size(n)), slope(size(n), std::vector<double>(size(n))) {
    for (int k = 0; k < n; ++k) {
      double x = -std::cos(pi * (k + 0.75) / (n + 0.5));
      for (int step = 0; step < 20; ++step) {
        const auto [value, derivative] = legendre(n, x);
        x -= value / derivative;
      }
      const double derivative = legendre(n, x)[1];
      points[size(k)] = 0.5 * (1.0 + x);
      weights[size(k)] = 1.0 / ((1.0 - x * x) * derivative * derivative);
    }
    for (std::size_t a = 0; a < points.size(); ++a) {
      for (std::size_t q = 0; q < points.size(); ++q) slope[a][q] = at(a, points[q])[1];
      for (const std::size_t side : {0, 1}) {
        const auto [value, derivative] = at(a, static_cast<double>(side));
        end[side].push_back(value);
        endSlope[side].push_back(derivative);
      }
    }
  }

 private:
  static std::size_t size(int n) { return static_cast<std::size_t>(n); }

  /// Value and derivative of polynomial a.
  Vector at(std::size_t a, double x) const {
    double value = 1.0, derivative = 0.0;
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (k == a) continue;
      const double scale = 1.0 / (points[a] - points[k]);
      derivative = derivative * (x - points[k]) * scale + value * scale;
      value *= (x - points[k]) * scale;
    }
    return {value, derivative};
  }
};

/// The parallelogram that every element is, turned: what integrals need.
struct Shape {
  double area = 0.0;
  std::array<Vector, 2> dual;  // gradients of xi and eta

  Shape(const Vector& alongXi, const Vector& alongEta) {
    const double determinant = alongXi[0] * alongEta[1] - alongXi[1] * alongEta[0];
    area = determinant;
    dual = {{{alongEta[1] / determinant, -alongEta[0] / determinant},
             {-alongXi[1] / determinant, alongXi[0] / determinant}}};
  }
  double metric(int d, int e) const { return dual[d][0] * dual[e][0] + dual[d][1] * dual[e][1]; }
  /// Length of a side along which `across`, 0 for xi and 1 for eta, stays the same.
  double length(int across) const { return area * std::sqrt(metric(across, across)); }
};

/// The shape functions of an element on one side: values and outward normal derivatives, [point of the side][function].
struct Trace {
  std::vector<std::vector<double>> value, normal;
};

Trace traceOf(const Line& line, const Shape& shape, DgSide side) {
  const int across = side == DgSide::Left || side == DgSide::Right ? 0 : 1;
  const std::size_t end = side == DgSide::Right || side == DgSide::Top ? 1 : 0;
  // Outward normal: +-dual[across] / |dual[across]|; the derivative along it by xi and by eta.
  const double scale = (end == 1 ? 1.0 : -1.0) / std::sqrt(shape.metric(across, across));
  const double alongAcross = scale * shape.metric(across, across), alongSide = scale * shape.metric(across, 1 - across);
  const std::size_t n = line.points.size();
  Trace trace;
  trace.value.assign(n, std::vector<double>(n * n));
  trace.normal = trace.value;
  for (std::size_t q = 0; q < n; ++q) {
    for (std::size_t a = 0; a < n; ++a) {    // across the side
      for (std::size_t b = 0; b < n; ++b) {  // along it
        const std::size_t i = across == 0 ? a + n * b : b + n * a;
        const double onSide = b == q ? 1.0 : 0.0;
        trace.value[q][i] = line.end[end][a] * onSide;
        trace.normal[q][i] =
            alongAcross * line.endSlope[end][a] * onSide + alongSide * line.end[end][a] * line.slope[b][q];
      }
    }
  }
  return trace;
}

using Block = std::vector<double>;  // row by row

/// The entries below the diagonal in place of those above: no rounding makes the matrix unsymmetric.
void mirror(Block& block, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) block[i * n + j] = block[j * n + i];
  }
}

Block transposed(const Block& block, std::size_t n) {
  Block other(block.size());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) other[j * n + i] = block[i * n + j];
  }
  return other;
}

/// The integrals that the elements of a mesh have in common.
class Blocks {
 public:
  Blocks(const Line& line, const Shape& shape, double penalty) : unknowns_(line.points.size() * line.points.size()) {
    for (const DgSide side : dgSides) traces_.push_back(traceOf(line, shape, side));
    addVolume(line, shape);
    for (std::size_t s = 0; s < 4; ++s) {
      const double length = shape.length(s % 2 == 1 ? 0 : 1);
      const double jump = penalty * length / shape.area;
      wall_[s] = sideBlock(line, length, [&](std::size_t q, std::size_t i, std::size_t j) {
        return -normal(s, q, j) * value(s, q, i) - normal(s, q, i) * value(s, q, j) +
               jump * value(s, q, i) * value(s, q, j);
      });
      inner_[s] = sideBlock(line, length, [&](std::size_t q, std::size_t i, std::size_t j) {
        return -0.5 * (normal(s, q, j) * value(s, q, i) + normal(s, q, i) * value(s, q, j)) +
               jump * value(s, q, i) * value(s, q, j);
      });
      mirror(wall_[s], unknowns_);
      mirror(inner_[s], unknowns_);
      for (std::size_t t = s + 1; t < 4; ++t) {
        across_[s][t] = sideBlock(line, length, [&](std::size_t q, std::size_t i, std::size_t j) {
          return 0.5 * (normal(t, q, j) * value(s, q, i) + normal(s, q, i) * value(t, q, j)) -
                 jump * value(s, q, i) * value(t, q, j);
        });
        across_[t][s] = transposed(across_[s][t], unknowns_);
      }
    }
  }

  std::size_t unknowns() const { return unknowns_; }
  /// The element itself, without its sides; what a side adds to it, by whether another element shares it.
  const Block& volume() const { return volume_; }
  const Block& side(std::size_t s, bool shared) const { return shared ? inner_[s] : wall_[s]; }
  /// The coupling with a neighbour that shares side s and calls it t, another one. Sides that meet have equal lengths.
  const Block& across(std::size_t s, std::size_t t) const { return across_[s][t]; }

 private:
  double value(std::size_t s, std::size_t q, std::size_t i) const { return traces_[s].value[q][i]; }
  double normal(std::size_t s, std::size_t q, std::size_t i) const { return traces_[s].normal[q][i]; }

  template <class Integrand>
  Block sideBlock(const Line& line, double length, const Integrand& integrand) const {
    Block block(unknowns_ * unknowns_, 0.0);
    for (std::size_t i = 0; i < unknowns_; ++i) {
      for (std::size_t j = 0; j < unknowns_; ++j) {
        for (std::size_t q = 0; q < line.points.size(); ++q) {
          block[i * unknowns_ + j] += length * line.weights[q] * integrand(q, i, j);
        }
      }
    }
    return block;
  }

  void addVolume(const Line& line, const Shape& shape) {
    const std::size_t n = line.points.size();
    volume_.assign(unknowns_ * unknowns_, 0.0);
    // By the point (p, q): the derivatives of function (a, b) by xi and eta.
    const auto gradient = [&](std::size_t i, std::size_t p, std::size_t q) -> Vector {
      const std::size_t a = i % n, b = i / n;
      return {b == q ? line.slope[a][p] : 0.0, a == p ? line.slope[b][q] : 0.0};
    };
    for (std::size_t i = 0; i < unknowns_; ++i) {
      for (std::size_t j = 0; j < unknowns_; ++j) {
        double sum = 0.0;
        for (std::size_t p = 0; p < n; ++p) {
          for (std::size_t q = 0; q < n; ++q) {
            const Vector u = gradient(i, p, q), v = gradient(j, p, q);
            double product = 0.0;
            for (const int d : {0, 1}) {
              for (const int e : {0, 1}) product += u[d] * shape.metric(d, e) * v[e];
            }
            sum += line.weights[p] * line.weights[q] * product;
          }
        }
        volume_[i * unknowns_ + j] = shape.area * sum;
      }
    }
    mirror(volume_, unknowns_);
  }

  std::size_t unknowns_;
  std::vector<Trace> traces_;
  Block volume_;
  std::array<Block, 4> wall_, inner_;
  std::array<std::array<Block, 4>, 4> across_;
};

Shape shapeOf(const DgMesh& mesh) {
  if (!mesh.isStar()) return Shape({1.0 / mesh.columns(), 0.0}, {0.0, 1.0 / mesh.rows()});
  const double angle = 2.0 * pi / 5.0, h = 1.0 / mesh.columns();
  return Shape({h, 0.0}, {h * std::cos(angle), h * std::sin(angle)});
}

}  // namespace

int dgUnknownsOfElement(int degree) { return (degree + 1) * (degree + 1); }

GeneratedMatrix dgLaplace(const DgMesh& mesh, int degree, double penalty) {
  if (degree < 1 || degree > 7) {
    throw std::invalid_argument("capstan: discontinuous Galerkin: degree " + std::to_string(degree) +
                                "; allowed: 1 to 7");
  }
  if (!std::isfinite(penalty) || penalty < 0.0) {
    throw std::invalid_argument("capstan: discontinuous Galerkin: penalty " + std::to_string(penalty) +
                                "; allowed: 0 or more");
  }
  const auto blocks = std::make_shared<const Blocks>(Line(degree + 1), shapeOf(mesh),
                                                     penalty > 0.0 ? penalty : dgUnknownsOfElement(degree));
  const auto unknowns = static_cast<long long>(blocks->unknowns());
  return {mesh.elements() * unknowns, static_cast<int>(5 * unknowns), [mesh, blocks](long long row, MatrixRow& out) {
            const auto n = static_cast<long long>(blocks->unknowns());
            const long long element = row / n;
            const auto from = static_cast<std::size_t>(row % n * n);  // of the row in a block
            const std::size_t first = out.values.size();
            for (long long j = 0; j < n; ++j) {
              out.add(element * n + j, blocks->volume()[from + static_cast<std::size_t>(j)]);
            }
            std::array<bool, 4> shared{};
            mesh.forNeighbours(element, [&](DgSide side, const DgNeighbour& neighbour) {
              const auto s = static_cast<std::size_t>(side);
              shared[s] = true;
              const Block& block = blocks->across(s, static_cast<std::size_t>(neighbour.side));
              for (long long j = 0; j < n; ++j) {
                out.add(neighbour.element * n + j, block[from + static_cast<std::size_t>(j)]);
              }
            });
            for (std::size_t s = 0; s < 4; ++s) {
              const Block& block = blocks->side(s, shared[s]);
              for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j) out.values[first + j] += block[from + j];
            }
          }};
}

}  // namespace capstan::deck
