#include "perf/study/matrix_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <utility>

#include "adapters/deck/dg_laplace.hpp"
#include "adapters/deck/matrix_market.hpp"

namespace capstan::study {
namespace {

void requireSize(double blocks, double entries) {
  constexpr double mostBlocks = std::numeric_limits<int>::max();
  if (blocks <= mostBlocks && entries <= mostEntries) return;
  throw std::invalid_argument(
      fmt::format("study: a graph of {:.3g} blocks of rows and {:.3g} couplings; allowed: at most {:.3g} and {:.3g}",
                  blocks, entries, mostBlocks, mostEntries));
}

/// Rows and columns of the entries in checked Matrix Market text, from 0.
template <class Take>
void forEntries(const std::string& text, const Take& take) {
  bool sizes = true;  // the first line that is no comment
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const char* last = text.data() + end;
    const char* first = text.data() + at;
    const auto skip = [&] {
      while (first < last && (*first == ' ' || *first == '\t' || *first == '\r')) ++first;
    };
    at = end + 1;
    skip();
    if (first == last || *first == '%') continue;
    if (std::exchange(sizes, false)) continue;
    long long row = 0, column = 0;
    first = std::from_chars(first, last, row).ptr;
    skip();
    std::from_chars(first, last, column);
    take(row - 1, column - 1);
  }
}

}  // namespace

MatrixGraph graphOf(const deck::DgMesh& mesh, int degree) {
  requireSize(static_cast<double>(mesh.elements()), 5.0 * static_cast<double>(mesh.elements()));
  MatrixGraph graph;
  graph.name = fmt::format("discontinuous Galerkin, degree {}, {} x {} elements{}", degree, mesh.columns(), mesh.rows(),
                           mesh.isStar() ? " in each of 5 rhombi" : "");
  graph.rowsOfBlock = deck::dgUnknownsOfElement(degree);
  graph.columns.reserve(static_cast<std::size_t>(mesh.elements() + 2 * mesh.innerSides()));
  for (long long element = 0; element < mesh.elements(); ++element) {
    graph.columns.push_back(static_cast<int>(element));
    mesh.forNeighbours(element, [&](deck::DgSide, const deck::DgNeighbour& neighbour) {
      graph.columns.push_back(static_cast<int>(neighbour.element));
    });
    graph.begin.push_back(graph.columns.size());
  }
  return graph;
}

MatrixGraph graphOf(const deck::GeneratorOptions& options) {
  const double rows = deck::generatedRows(options);
  requireSize(rows, rows * deck::mostEntriesInRow(options));
  const auto matrix = deck::generate(options);
  MatrixGraph graph;
  graph.name = options.problem;
  deck::MatrixRow row;
  for (long long i = 0; i < matrix.rows; ++i) {
    row.columns.clear();
    row.values.clear();
    matrix.row(i, row);
    for (const long long column : row.columns) graph.columns.push_back(static_cast<int>(column));
    graph.begin.push_back(graph.columns.size());
  }
  return graph;
}

MatrixGraph graphOfFile(const std::string& path) {
  const std::string text = deck::readText(deck::resolvePath(path, "."));
  const auto info = deck::inspectMatrixMarket(text, path);
  if (!info.coordinate || info.rows != info.columns) {
    throw deck::FileError(fmt::format("{}: found a {} matrix of {} x {}; allowed: a sparse square one", path,
                                      info.coordinate ? "sparse" : "dense", info.rows, info.columns));
  }
  const bool both = info.symmetry != "general";
  requireSize(static_cast<double>(info.rows), static_cast<double>(info.entries) * (both ? 2 : 1));
  const auto rows = static_cast<std::size_t>(info.rows);
  std::vector<std::size_t> next(rows + 1, 0);
  const auto forAll = [&](const auto& take) {
    forEntries(text, [&](long long row, long long column) {
      take(static_cast<std::size_t>(row), static_cast<int>(column));
      if (both && row != column) take(static_cast<std::size_t>(column), static_cast<int>(row));
    });
  };
  forAll([&](std::size_t row, int) { ++next[row + 1]; });
  for (std::size_t row = 0; row < rows; ++row) next[row + 1] += next[row];
  std::vector<int> columns(next.back());
  const std::vector<std::size_t> begin = next;
  forAll([&](std::size_t row, int column) { columns[next[row]++] = column; });
  MatrixGraph graph;
  graph.name = path;
  for (std::size_t row = 0; row < rows; ++row) {
    // Files may hold an entry more than once.
    const auto first = columns.begin() + static_cast<std::ptrdiff_t>(begin[row]);
    const auto last = columns.begin() + static_cast<std::ptrdiff_t>(begin[row + 1]);
    std::sort(first, last);
    graph.columns.insert(graph.columns.end(), first, std::unique(first, last));
    graph.begin.push_back(graph.columns.size());
  }
  return graph;
}

}  // namespace capstan::study
