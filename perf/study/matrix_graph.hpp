#pragma once
/// \file
/// The graph of a sparse matrix, with rows that have the same columns taken together.

#include <cstddef>
#include <string>
#include <vector>

#include "adapters/deck/dg_mesh.hpp"
#include "adapters/deck/generators.hpp"

namespace capstan::study {

/// A square sparse matrix without its values: blocks of as many rows each, and which blocks of columns they have in
/// full. Rows of block k are k * rowsOfBlock and the following ones. Plain data.
struct MatrixGraph {
  std::string name;
  int rowsOfBlock = 1;
  std::vector<std::size_t> begin{0};  ///< where a block's list begins in `columns`, and the end
  std::vector<int> columns;           ///< blocks, in any order, each once; the block itself too if it has entries

  long long blocks() const { return static_cast<long long>(begin.size()) - 1; }
  long long rows() const { return blocks() * rowsOfBlock; }
  long long entries() const { return static_cast<long long>(columns.size()) * rowsOfBlock * rowsOfBlock; }
  /// Entries in the rows of a block.
  long long entriesOf(std::size_t block) const {
    return static_cast<long long>(begin[block + 1] - begin[block]) * rowsOfBlock * rowsOfBlock;
  }
};

/// What the rows and entries of a graph may amount to; beyond that a study is refused before memory is taken.
constexpr double mostEntries = 5e8;  // couplings of blocks: 2 GB

/// The matrix of deck::dgLaplace(), a block an element. Throws std::invalid_argument where it is too large. Local.
MatrixGraph graphOf(const deck::DgMesh& mesh, int degree);

/// Any other matrix that can be generated, blocks of one row. Throws std::invalid_argument where it is too large.
/// Local.
MatrixGraph graphOf(const deck::GeneratorOptions& options);

/// A sparse square matrix in a Matrix Market file, plain or gzip; both halves of a symmetric one. Blocks of one row.
/// Throws deck::FileError, and std::invalid_argument where it is too large. Local.
MatrixGraph graphOfFile(const std::string& path);

}  // namespace capstan::study
