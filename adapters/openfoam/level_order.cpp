// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/openfoam/level_order.hpp"

#include <limits>
#include <utility>

#include "adapters/openfoam/four_rows.hpp"

namespace capstan::foam {
namespace {

/// Measured: from four cells a level on, sweeps take half the time that they take in the order of the mesh.
constexpr std::size_t leastCellsOfLevel = 4;

/// With more strips than this for each entry of a row columns are read apart. Chosen.
constexpr std::size_t mostStrips = 2;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

int entriesOf(const LevelOrder::Triangle& triangle, int row) {
  return triangle.start[at(row) + 1] - triangle.start[at(row)];
}

/// The most entries that one of these four rows has.
int widthOf(const LevelOrder::Triangle& triangle, int first) {
  int width = 0;
  for (int row = first; row < first + 4; ++row) width = std::max(width, entriesOf(triangle, row));
  return width;
}

/// The columns of rows first to first + 3 as strips of four that follow each other, one for each row: where they begin.
/// False where one would reach out of the columns from `from` to `to` - 1, and where a row has the same column twice:
/// each place of a strip holds one entry.
bool findStrips(const LevelOrder::Triangle& triangle, int first, int from, int to, std::vector<int>& strips) {
  strips.clear();
  const int* const column = triangle.column.data();
  for (int row = first; row < first + 4; ++row) {
    const int start = triangle.start[at(row)];
    for (int k = start; k < triangle.start[at(row) + 1]; ++k) {
      const int begin = column[k] - (row - first);
      if (begin < from || begin + 4 > to) return false;
      if (std::find(column + start, column + k, column[k]) != column + k) return false;
      if (std::find(strips.begin(), strips.end(), begin) == strips.end()) strips.push_back(begin);
    }
  }
  return true;
}

/// A triangle in the making, of one that is stored row after row.
class Stored {
 public:
  explicit Stored(const LevelOrder::Triangle& rows) : rows_(rows), moved_(rows.column.size()) { start_.push_back(0); }

  int strips() const { return static_cast<int>(strip_.size()); }

  void addRow(int row) {
    for (int k = rows_.start[at(row)]; k < rows_.start[at(row) + 1]; ++k) {
      moved_[at(k)] = static_cast<int>(column_.size());
      column_.push_back(rows_.column[at(k)]);
    }
    start_.push_back(static_cast<int>(column_.size()));
  }

  /// Rows first to first + 3, each filled up to `width` entries.
  void addApart(int first, int width) {
    const int begin = static_cast<int>(column_.size());
    column_.resize(at(begin + 4 * width));
    for (int row = first; row < first + 4; ++row) {
      const int entries = entriesOf(rows_, row);
      for (int k = 0; k < width; ++k) {
        const int to = begin + 4 * k + (row - first), from = rows_.start[at(row)] + k;
        column_[at(to)] = k < entries ? rows_.column[at(from)] : spareColumn(first, row);
        if (k < entries) moved_[at(from)] = to;
      }
      start_.push_back(start_.back() + width);
    }
  }

  /// Rows first to first + 3.
  void addStrips(int first, const std::vector<int>& strips) {
    const int begin = static_cast<int>(column_.size());
    for (const int strip : strips) {
      for (int row = 0; row < 4; ++row) column_.push_back(strip + row);
    }
    for (int row = first; row < first + 4; ++row) {
      for (int k = rows_.start[at(row)]; k < rows_.start[at(row) + 1]; ++k) {
        const auto strip = std::find(strips.begin(), strips.end(), rows_.column[at(k)] - (row - first));
        moved_[at(k)] = begin + 4 * static_cast<int>(strip - strips.begin()) + (row - first);
      }
      start_.push_back(start_.back() + static_cast<int>(strips.size()));
    }
    strip_.insert(strip_.end(), strips.begin(), strips.end());
  }

  void replace(LevelOrder::Triangle& triangle) {
    for (int& entry : triangle.entry) entry = moved_[at(entry)];
    triangle.start = std::move(start_);
    triangle.column = std::move(column_);
    triangle.strip = std::move(strip_);
  }

 private:
  /// What may be read with a coefficient of zero: the row's own first column, or that of another of the four rows.
  int spareColumn(int first, int row) const {
    for (int other = first; entriesOf(rows_, row) == 0; ++other) row = other;
    return rows_.column[at(rows_.start[at(row)])];
  }

  const LevelOrder::Triangle& rows_;
  std::vector<int> start_, column_, moved_, strip_;
};

}  // namespace

bool LevelOrder::fitsInt(std::size_t count) {
  return count < static_cast<std::size_t>(std::numeric_limits<int>::max());
}

void LevelOrder::make() {
  if (!fourRowsAtOnce() || !sorted()) return;
  const auto level = levels();
  const int highest = level.empty() ? 0 : *std::max_element(level.begin(), level.end());
  sortByLevel(level, highest);
  below_ = triangle(upper_, lower_);
  above_ = triangle(lower_, upper_);
  findRuns(level);
  usable_ = true;
  suits_ = cells_ >= leastCellsOfLevel * (at(highest) + 1);
}

std::size_t LevelOrder::runOf(std::size_t row) const {
  const auto holds = std::upper_bound(runs_.begin(), runs_.end(), static_cast<int>(row),
                                      [](int sought, const Run& run) { return sought < run.end; });
  return static_cast<std::size_t>(holds - runs_.begin());
}

bool LevelOrder::sorted() const {
  for (std::size_t face = 0; face < lower_.size(); ++face) {
    if (!(lower_[face] < upper_[face]) || (face > 0 && lower_[face] < lower_[face - 1])) return false;
  }
  return true;
}

std::vector<int> LevelOrder::levels() const {
  std::vector<int> level(cells_, 0);
  for (std::size_t face = 0; face < lower_.size(); ++face) {
    int& of = level[at(upper_[face])];
    of = std::max(of, level[at(lower_[face])] + 1);
  }
  return level;
}

void LevelOrder::sortByLevel(const std::vector<int>& level, int highest) {
  std::vector<int> next(at(highest) + 2, 0);
  for (const int of : level) ++next[at(of) + 1];
  for (std::size_t of = 1; of < next.size(); ++of) next[of] += next[of - 1];
  place_.resize(cells_);
  for (std::size_t cell = 0; cell < cells_; ++cell) place_[cell] = next[at(level[cell])]++;
}

LevelOrder::Triangle LevelOrder::triangle(const std::vector<int>& rows, const std::vector<int>& columns) const {
  Triangle result;
  result.start.assign(cells_ + 1, 0);
  for (const int row : rows) ++result.start[at(place_[at(row)]) + 1];
  for (std::size_t row = 0; row < cells_; ++row) result.start[row + 1] += result.start[row];
  result.column.resize(rows.size());
  result.entry.resize(rows.size());
  std::vector<int> next(result.start.begin(), result.start.end() - 1);
  for (std::size_t face = 0; face < rows.size(); ++face) {
    const int entry = next[at(place_[at(rows[face])])]++;
    result.column[at(entry)] = place_[at(columns[face])];
    result.entry[face] = entry;
  }
  return result;
}

void LevelOrder::findRuns(const std::vector<int>& level) {
  const int rows = static_cast<int>(cells_);
  std::vector<int> levelOfRow(cells_);
  for (std::size_t cell = 0; cell < cells_; ++cell) levelOfRow[at(place_[cell])] = level[cell];
  Stored below(below_), above(above_);
  std::vector<int> stripsBelow, stripsAbove;
  for (int row = 0, begin = 0, end = 0; row < rows;) {
    if (row == end) {
      begin = row;
      while (end < rows && levelOfRow[at(end)] == levelOfRow[at(row)]) ++end;
    }
    Run run{Kind::Rows, row, row + 1, 0, 0, below.strips(), above.strips()};
    if (end - row >= 4) {
      run.kind = Kind::Apart;
      run.end = row + 4;
      run.below = widthOf(below_, row);
      run.above = widthOf(above_, row);
      if (findStrips(below_, row, 0, begin, stripsBelow) && findStrips(above_, row, end, rows, stripsAbove) &&
          stripsBelow.size() + stripsAbove.size() <= mostStrips * at(run.below + run.above)) {
        run.kind = Kind::Strips;
        run.below = static_cast<int>(stripsBelow.size());
        run.above = static_cast<int>(stripsAbove.size());
      }
    }
    switch (run.kind) {
      case Kind::Rows:
        below.addRow(row);
        above.addRow(row);
        break;
      case Kind::Strips:
        below.addStrips(row, stripsBelow);
        above.addStrips(row, stripsAbove);
        break;
      case Kind::Apart:
        below.addApart(row, run.below);
        above.addApart(row, run.above);
    }
    row = run.end;
    addRun(run);
  }
  below.replace(below_);
  above.replace(above_);
}

// Rows that follow those of the last run, in which they are taken where they can be.
void LevelOrder::addRun(const Run& run) {
  if (!runs_.empty()) {
    Run& last = runs_.back();
    if (last.kind == run.kind && last.below == run.below && last.above == run.above) {
      last.end = run.end;
      return;
    }
  }
  runs_.push_back(run);
}

}  // namespace capstan::foam
