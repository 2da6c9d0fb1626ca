#pragma once
/// \file
/// What the machine can do at one moment: memory bandwidth and the time of an all-reduce, on the ranks of a contest.

#include <mpi.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

namespace capstan::perf {

/// One measurement; all ranks at once, the slowest counts.
struct ReferenceSample {
  int turn = 0;                      ///< of the contest; it was measured ahead of it
  double memoryBandwidth = 0.0;      ///< STREAM triad over arrays beyond caches, bytes per second, all ranks together
  double workingSetBandwidth = 0.0;  ///< the same over arrays as large as a system
  double allReduceSeconds = 0.0;     ///< of a few numbers, blocking, mean of some
};

/// The same small work again and again, so that limits belong to the run and a machine that drifts is seen.
class Reference {
 public:
  /// \param workingSetBytes of all ranks together; Collective. 384 MB are allocated beside it.
  Reference(MPI_Comm comm, double workingSetBytes);
  ~Reference();

  /// Measures ahead of a turn. Collective; takes about a tenth of a second.
  void measure(int turn);

  /// All measurements, in an array; the same on every rank.
  nlohmann::json toJson() const;

 private:
  struct Arrays;
  double bandwidth(const Arrays& arrays) const;
  double allReduce() const;

  MPI_Comm comm_;
  int ranks_ = 1;
  std::unique_ptr<Arrays> memory_, workingSet_;
  std::vector<ReferenceSample> samples_;
};

/// Bytes of a matrix in compressed rows (values, columns, row starts) and of a few vectors: what an iteration touches.
double workingSetBytes(long long rows, long long entries);

}  // namespace capstan::perf
