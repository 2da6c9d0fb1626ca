// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// An order of the cells of a mesh in which the triangular solves of an incomplete factorisation do not wait for
/// themselves.
///
/// In the order of the mesh a row often needs the one just before it: the processor waits for each result, which takes
/// twice as long as all else that the solve does. A cell's level is one more than the highest one among its neighbours
/// of lower number; cells of one level do not need each other [Anderson and Saad 1989]. Sorted by
/// level, rows that follow each other are independent, and every row still comes after those it needs: the factors are
/// the same as in the mesh's order, and so are the solves, but for rounding.
///
/// On meshes of blocks neighbouring rows of a level often have neighbours that stand behind one another as they do:
/// such rows are taken four at once, where the processor has registers for that.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace capstan::foam {

class LevelOrder {
 public:
  /// One triangle of the matrix by rows, in the new order: row i has the entries start[i] to start[i + 1] - 1, each
  /// with its column; `entry` tells which one is that of a face. Within a run of four rows at once entries are stored
  /// in another way: first the first one of each of four rows, then the second ones; `column` is of no use there.
  struct Triangle {
    std::vector<int> start, column, entry;
  };

  /// Rows first to end - 1. Four at once: each has as many entries as the first, all its columns as far from it as the
  /// first one's, and none needs another.
  struct Run {
    int first, end;
    bool fours;
    int below, above;  ///< entries of a row, where fours
    int offsets;       ///< where fours: of its columns from the row, those below it first, from there on in offsets()
  };

  /// \param lower, upper cells of each face, as OpenFOAM has them: the lower one has the smaller number. They are
  /// copied. \tparam Label an integer
  template <class Label>
  LevelOrder(std::size_t cells, std::size_t faces, const Label* lower, const Label* upper) : cells_(cells) {
    if (!fitsInt(cells) || !fitsInt(faces)) return;
    lower_.assign(lower, lower + faces);
    upper_.assign(upper, upper + faces);
    make();
  }

  /// Whether the order may be used: the faces are sorted by their lower cells, and levels hold enough cells for the
  /// order to be worth it.
  bool suits() const { return suits_; }

  /// Whether it is the order of this mesh.
  template <class Label>
  bool isOf(std::size_t cells, std::size_t faces, const Label* lower, const Label* upper) const {
    return cells == cells_ && faces == lower_.size() && std::equal(lower_.begin(), lower_.end(), lower) &&
           std::equal(upper_.begin(), upper_.end(), upper);
  }

  std::size_t cells() const { return cells_; }
  /// The place of each cell in the order. Where suits(), as all that follows.
  const std::vector<int>& places() const { return place_; }
  /// The strictly lower and the strictly upper triangle.
  const Triangle& below() const { return below_; }
  const Triangle& above() const { return above_; }
  /// All rows, in their order.
  const std::vector<Run>& runs() const { return runs_; }
  const std::vector<int>& offsets() const { return offsets_; }

 private:
  static bool fitsInt(std::size_t count);
  void make();
  bool sorted() const;
  std::vector<int> levels() const;
  void sortByLevel(const std::vector<int>& level, int highest);
  Triangle triangle(const std::vector<int>& rows, const std::vector<int>& columns) const;
  void findRuns(const std::vector<int>& level);
  void addRun(int first, int end, bool fours);
  void storeFours(Triangle& triangle, const std::vector<int>& rows) const;

  std::size_t cells_;
  std::vector<int> lower_, upper_;
  bool suits_ = false;
  std::vector<int> place_;
  Triangle below_, above_;
  std::vector<Run> runs_;
  std::vector<int> offsets_;
};

}  // namespace capstan::foam
