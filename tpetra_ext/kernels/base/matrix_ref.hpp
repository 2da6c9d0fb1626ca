#pragma once
/// \file
/// Pointer, shape and leading dimension of a view: all that the kernels' inner code knows of one.

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace capstan::kernels::detail {

/// Column-major matrix that it does not own; element (i, j) is data[i + j * stride].
template <class T>
struct MatrixRef {
  T* data = nullptr;
  std::ptrdiff_t rows = 0;
  int cols = 0;
  std::ptrdiff_t stride = 0;

  KOKKOS_INLINE_FUNCTION T& operator()(std::ptrdiff_t i, int j) const { return data[i + j * stride]; }
  KOKKOS_INLINE_FUNCTION T* column(int j) const { return data + j * stride; }

  /// Rows [firstRow, firstRow + rowCount).
  MatrixRef rowRange(std::ptrdiff_t firstRow, std::ptrdiff_t rowCount) const {
    return block(firstRow, rowCount, 0, cols);
  }
  /// The block of rowCount x colCount at (firstRow, firstCol).
  MatrixRef block(std::ptrdiff_t firstRow, std::ptrdiff_t rowCount, int firstCol, int colCount) const {
    const bool empty = rowCount == 0 || colCount == 0;  // then data may be null
    return {empty ? data : data + firstRow + firstCol * stride, rowCount, colCount, stride};
  }
  template <class U = T, class = std::enable_if_t<!std::is_const<U>::value>>
  KOKKOS_INLINE_FUNCTION operator MatrixRef<const U>() const {
    return {data, rows, cols, stride};
  }
};

/// The scalar of a view or matrix, without const.
template <class View>
using ScalarOf = typename View::non_const_value_type;

inline std::string shape(std::ptrdiff_t rows, std::ptrdiff_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

/// \throws std::invalid_argument unless the shape of `matrix` is rows x cols.
template <class T>
void requireShape(const MatrixRef<T>& matrix, std::ptrdiff_t rows, std::ptrdiff_t cols, const char* kernel,
                  const char* name) {
  if (matrix.rows != rows || matrix.cols != cols) {
    throw std::invalid_argument(std::string("capstan::kernels::") + kernel + ": " + name + " is " +
                                shape(matrix.rows, matrix.cols) + ", must be " + shape(rows, cols));
  }
}

/// \throws std::invalid_argument unless `matrix` has `rows` rows or no column at all.
template <class T>
void requireRows(const MatrixRef<T>& matrix, std::ptrdiff_t rows, const char* kernel, const char* name) {
  if (matrix.cols != 0) requireShape(matrix, rows, matrix.cols, kernel, name);
}

/// The reference to a rank-2 view with unit stride in its columns.
///
/// \throws std::invalid_argument when the stride between rows is not 1.
template <class Exec, class View>
MatrixRef<typename View::value_type> matrixRef(const View& view, const char* kernel, const char* name) {
  static_assert(View::rank == 2, "the kernels take matrices as views of rank 2");
  static_assert(Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible,
                "the execution space cannot access the memory of this view");
  static_assert(std::is_same<ScalarOf<View>, float>::value || std::is_same<ScalarOf<View>, double>::value,
                "the kernels are for float and double");
  const auto rows = static_cast<std::ptrdiff_t>(view.extent(0));
  const auto cols = static_cast<int>(view.extent(1));
  if (rows > 1 && cols > 0 && view.stride(0) != 1) {
    throw std::invalid_argument(std::string("capstan::kernels::") + kernel + ": the columns of " + name +
                                " are not contiguous (stride " + std::to_string(view.stride(0)) + ")");
  }
  return {view.data(), rows, cols, static_cast<std::ptrdiff_t>(view.stride(1))};
}

/// Pointer to a rank-1 view with unit stride.
///
/// \throws std::invalid_argument when the stride is not 1 or the view is shorter than `length`.
template <class Exec, class View>
typename View::value_type* vectorData(const View& view, std::ptrdiff_t length, const char* kernel, const char* name) {
  static_assert(View::rank == 1, "the kernels take vectors as views of rank 1");
  static_assert(Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible,
                "the execution space cannot access the memory of this view");
  static_assert(std::is_same<ScalarOf<View>, float>::value || std::is_same<ScalarOf<View>, double>::value,
                "the kernels are for float and double");
  if (static_cast<std::ptrdiff_t>(view.extent(0)) < length) {
    throw std::invalid_argument(std::string("capstan::kernels::") + kernel + ": " + name + " has " +
                                std::to_string(view.extent(0)) + " entries, needs " + std::to_string(length));
  }
  if (length > 1 && view.stride(0) != 1) {
    throw std::invalid_argument(std::string("capstan::kernels::") + kernel + ": " + name +
                                " is not contiguous (stride " + std::to_string(view.stride(0)) + ")");
  }
  return view.data();
}

}  // namespace capstan::kernels::detail
