// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// An order of the cells of a mesh in which the triangular solves of an incomplete factorisation do not wait for
/// themselves.
///
/// In the order of the mesh a row often needs the one just before it: the processor waits for each result, which takes
/// twice as long as all else that the solve does. A cell's level is one more than the highest one among its neighbours
/// of lower number; cells of one level do not need each other [Anderson and Saad 1989]. Sorted by level, rows that
/// follow each other are independent, and every row still comes after those it needs: the factors are the same as in
/// the mesh's order, and so are the solves, but for rounding.
///
/// Rows of one level are taken four at once. On meshes of blocks the neighbours of most of them stand behind one
/// another as the rows do; where lines of cells end, such strips are filled up with zeros.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

namespace capstan::foam {

class LevelOrder {
 public:
  /// One triangle of the matrix by rows, in the new order: row i has the entries start[i] to start[i + 1] - 1, each
  /// with its column; `entry` tells which one is that of a face. Four rows at once have as many entries each, and are
  /// stored in another way: the first entry of each of the four rows, then the second ones. Some are those of no face:
  /// their columns are read with a coefficient of zero, and are such that a solve has computed them before.
  struct Triangle {
    std::vector<int> start, column, entry;
    std::vector<int> strip;  ///< of runs of strips, for every four entries: the column of the first one
  };

  enum class Kind {
    Rows,    ///< one by one
    Strips,  ///< four at once; columns of four entries follow each other
    Apart,   ///< four at once; columns anywhere
  };

  /// Rows first to end - 1; where four at once, each four are of one level.
  struct Run {
    Kind kind;
    int first, end;
    int below, above;            ///< where four at once: entries of a row
    int stripBelow, stripAbove;  ///< Strips: where its strips begin
  };

  /// \param lower, upper cells of each face, as OpenFOAM has them: the lower one has the smaller number. They are
  /// copied. \tparam Label an integer
  template <class Label>
  LevelOrder(std::size_t cells, std::size_t faces, const Label* lower, const Label* upper) : cells_(cells) {
    if (!fitsInt(cells) || !fitsInt(8 * faces)) return;  // four rows at once are filled up
    lower_.assign(lower, lower + faces);
    upper_.assign(upper, upper + faces);
    make();
  }

  /// Whether the order may be used: the faces are sorted by their lower cells, and the processor takes four rows at
  /// once.
  bool usable() const { return usable_; }
  /// Whether it is also worth it where nothing else is gained: levels hold enough cells.
  bool suits() const { return usable_ && suits_; }

  /// Whether it is the order of this mesh.
  template <class Label>
  bool isOf(std::size_t cells, std::size_t faces, const Label* lower, const Label* upper) const {
    return cells == cells_ && faces == lower_.size() && same(lower_, lower) && same(upper_, upper);
  }

  std::size_t cells() const { return cells_; }
  /// The place of each cell in the order. Where usable(), as all that follows.
  const std::vector<int>& places() const { return place_; }
  /// The strictly lower and the strictly upper triangle.
  const Triangle& below() const { return below_; }
  const Triangle& above() const { return above_; }
  /// All rows, in their order.
  const std::vector<Run>& runs() const { return runs_; }
  /// The number of the run that holds a row.
  std::size_t runOf(std::size_t row) const;

 private:
  /// By bytes where the labels have as many.
  template <class Label>
  static bool same(const std::vector<int>& own, const Label* labels) {
    if constexpr (std::is_same_v<Label, int>) {
      return own.empty() || std::memcmp(own.data(), labels, own.size() * sizeof(int)) == 0;
    } else {
      return std::equal(own.begin(), own.end(), labels);
    }
  }
  static bool fitsInt(std::size_t count);
  void make();
  bool sorted() const;
  std::vector<int> levels() const;
  void sortByLevel(const std::vector<int>& level, int highest);
  Triangle triangle(const std::vector<int>& rows, const std::vector<int>& columns) const;
  void findRuns(const std::vector<int>& level);
  void addRun(const Run& run);

  std::size_t cells_;
  std::vector<int> lower_, upper_;
  bool usable_ = false, suits_ = false;
  std::vector<int> place_;
  Triangle below_, above_;
  std::vector<Run> runs_;
};

}  // namespace capstan::foam
