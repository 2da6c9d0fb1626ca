#pragma once
/// \file
/// Runs of rows that stand behind one another, and among them those of one pattern, as grids have, and those of the
/// same columns, as the unknowns of one cell or node have: found once, of use in every product on CPUs. Rows of one
/// pattern help products of one column alone.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tpetra_ext/kernels/host/chunk_kernels.hpp"

namespace capstan::kernels {

/// The rows of a list in runs. It takes a number for every entry of the first row of a pattern, which has eight rows at
/// least, and four for a run.
class RowRuns {
 public:
  /// No runs.
  RowRuns() = default;

  /// Of the rows that `rows` lists, or 0..count-1 where it is null. Other parameters as in SparseRows. None where they
  /// would be short. Local; a pass over the columns, host memory.
  RowRuns(const std::size_t* begin, const int* columns, const int* rows, std::ptrdiff_t count, const int* sources,
          int own) {
    std::ptrdiff_t all = 0;  // entries
    for (std::ptrdiff_t place = 0; place < count;) {
      const std::ptrdiff_t row = rows == nullptr ? place : rows[place];
      const auto length = static_cast<std::ptrdiff_t>(begin[row + 1] - begin[row]);
      std::ptrdiff_t alike = 1;  // rows behind one another with as many entries
      while (place + alike < count && (rows == nullptr || rows[place + alike] == row + alike) &&
             static_cast<std::ptrdiff_t>(begin[row + alike + 1] - begin[row + alike]) == length) {
        ++alike;
      }
      const int* const entries = columns + begin[row];
      for (std::ptrdiff_t k = 0; k < alike;) {
        std::ptrdiff_t same = 1;
        if (length >= shortestPattern && length <= detail::longestPattern) {
          const int* const from = entries + k * length;
          const std::ptrdiff_t rest = (alike - k - 1) * length;
          same += (sources == nullptr ? following(from, rest, length, Direct{own})
                                      : following(from, rest, length, Mapped{sources, own})) /
                  length;
        }
        const bool alone = same < fewestRows && length >= shortestPattern;
        const std::ptrdiff_t repeated = alone ? repetitions(entries + k * length, length, alike - k) : 1;
        if (same >= fewestRows) {
          add(place + k, length, entries + k * length, sources, row + k);
        } else if (repeated > 1 && repeated * length >= fewestEntries) {
          runs_.push_back({static_cast<int>(place + k), sameColumns, 0, static_cast<int>(row + k)});
          repeatColumns_ = true;
          same = repeated;
        } else if (runs_.empty() || runs_.back().length != 0 ||
                   (k == 0 && rows != nullptr && rows[place - 1] + 1 != row)) {
          runs_.push_back({static_cast<int>(place + k), 0, 0, static_cast<int>(row + k)});
        }
        k += same;
      }
      place += alike;
      all += alike * length;
    }
    if (static_cast<std::ptrdiff_t>(runs_.size()) * shortRun > all) {
      runs_.clear();
      offsets_.clear();
      repeatColumns_ = false;
      return;
    }
    if (count == 0) return;
    const std::ptrdiff_t behind = rows == nullptr ? count : rows[count - 1] + 1;
    runs_.push_back({static_cast<int>(count), 0, 0, static_cast<int>(behind)});
  }

  /// All rows of the list, and behind the last run one that begins at the end of the list.
  const RowRun* runs() const { return runs_.data(); }
  std::ptrdiff_t count() const { return runs_.empty() ? 0 : static_cast<std::ptrdiff_t>(runs_.size()) - 1; }
  const int* offsets() const { return offsets_.data(); }
  /// Whether there are rows of the same columns.
  bool repeatColumns() const { return repeatColumns_; }

 private:
  static constexpr std::ptrdiff_t shortestPattern = 2, fewestRows = 8, fewestEntries = 24, shortRun = 12;

  /// 0 where x for `column` is one place behind that for `before`, among the same numbers.
  struct Direct {
    int own;
    unsigned differs(int before, int column) const {
      return static_cast<unsigned>(column - before - 1) | static_cast<unsigned>(column == own);
    }
  };
  struct Mapped {
    const int* sources;
    int own;
    unsigned differs(int before, int column) const { return Direct{own}.differs(sources[before], sources[column]); }
  };

  /// How many of `count` entries from `from` + `length` on are one place behind those of the row before.
  template <class Compare>
  static std::ptrdiff_t following(const int* from, std::ptrdiff_t count, std::ptrdiff_t length,
                                  const Compare& compare) {
    constexpr std::ptrdiff_t together = 32;
    std::ptrdiff_t k = 0;
    for (; k + together <= count; k += together) {
      unsigned differ = 0;
      for (std::ptrdiff_t i = k; i < k + together; ++i) differ |= compare.differs(from[i], from[i + length]);
      if (differ != 0) break;
    }
    while (k < count && compare.differs(from[k], from[k + length]) == 0) ++k;
    return k;
  }

  /// How many of `count` rows of `length` entries each, from `first` on, have the columns of the first one.
  static std::ptrdiff_t repetitions(const int* first, std::ptrdiff_t length, std::ptrdiff_t count) {
    std::ptrdiff_t row = 1;
    while (row < count && std::equal(first, first + length, first + row * length)) ++row;
    return row;
  }

  void add(std::ptrdiff_t place, std::ptrdiff_t length, const int* columns, const int* sources, std::ptrdiff_t row) {
    runs_.push_back(
        {static_cast<int>(place), static_cast<int>(length), static_cast<int>(offsets_.size()), static_cast<int>(row)});
    for (std::ptrdiff_t k = 0; k < length; ++k) {
      offsets_.push_back((sources == nullptr ? columns[k] : sources[columns[k]]) - static_cast<int>(row));
    }
  }

  std::vector<RowRun> runs_;
  std::vector<int> offsets_;
  bool repeatColumns_ = false;
};

}  // namespace capstan::kernels
