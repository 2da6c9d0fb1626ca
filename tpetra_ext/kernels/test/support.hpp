#pragma once
/// \file
/// Test matrices on the default device, references in long double, and the typed cases the tests run over.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tpetra_ext/kernels/base/execution.hpp"
#include "tpetra_ext/kernels/base/fence.hpp"
#include "tpetra_ext/kernels/base/host_mirror.hpp"
#include "tpetra_ext/kernels/test/own_queue.hpp"

namespace capstan::kernels::test {

using Exec = Kokkos::DefaultExecutionSpace;

inline Queue<Exec>& testQueue() { return ownQueue<Exec>(); }

/// One scalar on one path.
template <class ScalarType, class PathType>
struct Case {
  using Scalar = ScalarType;
  using Path = PathType;
};

template <class Type>
class KernelTest : public testing::Test {};

struct CaseNames {
  template <class Type>
  static std::string GetName(int) {
    std::string name = std::is_same<typename Type::Scalar, double>::value ? "Double" : "Float";
    return name + (std::is_same<typename Type::Path, GenericPath>::value ? "Generic" : "Auto");
  }
};

using Cases =
    testing::Types<Case<double, AutoPath>, Case<double, GenericPath>, Case<float, AutoPath>, Case<float, GenericPath>>;

/// Row counts around the widths of registers and the lengths of chunks and team steps.
inline const std::vector<int>& rowCounts() {
  static const std::vector<int> counts{0, 1, 7, 16, 255, 256, 257, 511, 512, 513, 1023, 1025, 2063};
  return counts;
}
/// Columns of Q.
inline const std::vector<int>& basisSizes() {
  static const std::vector<int> counts{0, 1, 3, 4, 5, 31};
  return counts;
}

/// A matrix with rows n inside an allocation of n + pad rows, with its values in long double on the host.
template <class T>
class TestMatrix {
 public:
  using View = Kokkos::View<T**, Kokkos::LayoutLeft, Exec>;
  using Small = Kokkos::View<T**, Kokkos::LayoutLeft, PinnedSpace<Exec>>;

  TestMatrix(int rows, int cols, int pad = 3)
      : rows_(rows), cols_(cols), whole_("whole", rows + pad, cols), host_(Kokkos::create_mirror_view(whole_)) {
    Kokkos::deep_copy(whole_, padding());
    Kokkos::deep_copy(host_, padding());
  }

  /// Random values in [-1, 1].
  static TestMatrix random(int rows, int cols, unsigned seed, int pad = 3) {
    TestMatrix matrix(rows, cols, pad);
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (int j = 0; j < cols; ++j) {
      for (int i = 0; i < rows; ++i) matrix.host_(i, j) = T(uniform(engine));
    }
    matrix.push();
    return matrix;
  }

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  T& operator()(int i, int j) { return host_(i, j); }
  T operator()(int i, int j) const { return host_(i, j); }
  void push() { Kokkos::deep_copy(whole_, host_); }
  void pull() {
    fence(testQueue());
    Kokkos::deep_copy(host_, whole_);
  }
  auto view() const { return Kokkos::subview(whole_, std::pair<int, int>(0, rows_), std::pair<int, int>(0, cols_)); }
  auto view(int firstCol, int colCount) const {
    return Kokkos::subview(whole_, std::pair<int, int>(0, rows_), std::pair<int, int>(firstCol, firstCol + colCount));
  }
  auto column(int j) const { return Kokkos::subview(whole_, std::pair<int, int>(0, rows_), j); }

  /// True when nothing outside the matrix was written (after pull()).
  bool paddingIntact() const {
    for (int j = 0; j < cols_; ++j) {
      for (int i = rows_; i < static_cast<int>(host_.extent(0)); ++i) {
        if (host_(i, j) != padding()) return false;
      }
    }
    return true;
  }

 private:
  static T padding() { return T(1e6); }

  int rows_;
  int cols_;
  View whole_;
  capstan::kernels::HostMirror<View> host_;
};

/// A small matrix in PinnedSpace, random in [-1, 1].
template <class T>
typename TestMatrix<T>::Small randomSmall(int rows, int cols, unsigned seed) {
  typename TestMatrix<T>::Small small("small", rows, cols);
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < rows; ++i) small(i, j) = T(uniform(engine));
  }
  return small;
}

/// Upper triangular with a diagonal in [1, 2] and NaN below it, which no kernel may read.
template <class T>
typename TestMatrix<T>::Small randomUpper(int size, unsigned seed) {
  auto upper = randomSmall<T>(size, size, seed);
  for (int j = 0; j < size; ++j) {
    upper(j, j) = T(1.5) + upper(j, j) / T(2);
    for (int i = j + 1; i < size; ++i) upper(i, j) = std::numeric_limits<T>::quiet_NaN();
    for (int i = 0; i < j; ++i) upper(i, j) /= T(size);
  }
  return upper;
}

/// Dense matrix in long double, for references.
class Reference {
 public:
  Reference(int rows, int cols) : rows_(rows), cols_(cols), data_(static_cast<std::size_t>(rows) * cols, 0.0L) {}
  template <class Matrix>
  static Reference of(const Matrix& from, int rows, int cols) {
    Reference copy(rows, cols);
    for (int j = 0; j < cols; ++j) {
      for (int i = 0; i < rows; ++i) copy(i, j) = from(i, j);
    }
    return copy;
  }
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  long double& operator()(int i, int j) { return data_[i + static_cast<std::size_t>(j) * rows_]; }
  long double operator()(int i, int j) const { return data_[i + static_cast<std::size_t>(j) * rows_]; }

  /// this += sign A B; `magnitude`, when given, += |A| |B|.
  void addProduct(long double sign, const Reference& A, const Reference& B, Reference* magnitude = nullptr) {
    for (int j = 0; j < cols_; ++j) {
      for (int k = 0; k < A.cols(); ++k) {
        for (int i = 0; i < rows_; ++i) {
          (*this)(i, j) += sign * A(i, k) * B(k, j);
          if (magnitude != nullptr) (*magnitude)(i, j) += std::abs(A(i, k) * B(k, j));
        }
      }
    }
  }
  /// this <- this U^{-1}.
  void solve(const Reference& U) {
    for (int j = 0; j < cols_; ++j) {
      for (int i = 0; i < rows_; ++i) {
        for (int k = 0; k < j; ++k) (*this)(i, j) -= (*this)(i, k) * U(k, j);
        (*this)(i, j) /= U(j, j);
      }
    }
  }
  Reference transposed() const {
    Reference t(cols_, rows_);
    for (int j = 0; j < cols_; ++j) {
      for (int i = 0; i < rows_; ++i) t(j, i) = (*this)(i, j);
    }
    return t;
  }

 private:
  int rows_;
  int cols_;
  std::vector<long double> data_;
};

/// |matrix|, entry by entry: rows x cols.
template <class Matrix>
Reference absoluteValues(const Matrix& matrix, int rows, int cols) {
  Reference result(rows, cols);
  for (int j = 0; j < cols; ++j) {
    for (int i = 0; i < rows; ++i) result(i, j) = std::abs(matrix(i, j));
  }
  return result;
}

/// |actual - expected| <= terms * epsilon * (magnitude + 1 / terms) in every entry.
template <class T, class Matrix>
testing::AssertionResult near(const Matrix& actual, const Reference& expected, const Reference& magnitude, int terms) {
  const long double epsilon = std::numeric_limits<T>::epsilon();
  for (int j = 0; j < expected.cols(); ++j) {
    for (int i = 0; i < expected.rows(); ++i) {
      const long double bound = epsilon * ((terms + 2) * magnitude(i, j) + 1);
      const long double error = std::abs(actual(i, j) - expected(i, j));
      if (!(error <= bound)) {
        return testing::AssertionFailure() << "entry (" << i << ", " << j << ") is " << double(actual(i, j))
                                           << ", expected " << double(expected(i, j)) << " within " << double(bound);
      }
    }
  }
  return testing::AssertionSuccess();
}

}  // namespace capstan::kernels::test
