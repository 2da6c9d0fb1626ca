#pragma once
/// \file
/// Meshes of quadrilaterals for the discontinuous Galerkin problem: which elements touch, and in which order they and
/// their unknowns are numbered.

#include <array>
#include <string>
#include <vector>

namespace capstan::deck {

/// How the elements of a mesh are numbered. Unknowns follow their element.
enum class DgNumbering {
  Rows,     ///< patch by patch, along the first direction fastest
  Nested,   ///< halved in both directions again and again, the four parts of an element in its place, one after another
  Appended  ///< likewise, but the first part keeps the element's number, and the other three come after all elements
};

/// A side of an element: where eta is 0, xi is 1, eta is 1, xi is 0; (xi, eta) run over the unit square.
enum class DgSide { Bottom, Right, Top, Left };
constexpr DgSide dgSides[] = {DgSide::Bottom, DgSide::Right, DgSide::Top, DgSide::Left};

/// An element's place: column (along xi) and row (along eta) in its patch.
struct DgPlace {
  int patch = 0, column = 0, row = 0;
};

/// Another element that shares a side. Both count along the side from the same end.
struct DgNeighbour {
  long long element = 0;
  DgSide side = DgSide::Bottom;  ///< as the neighbour calls it
};

/// A mesh of parallelograms of equal shape. Plain data, everything is local.
///
/// The square has one patch of columns x rows elements. The star has five rhombi around the origin, patch k between the
/// unit vectors of 72 k and 72 (k + 1) degrees: the mesh that MFEM [mfem-library] calls star, which has 20 elements
/// when each rhombus has 2 x 2.
class DgMesh {
 public:
  /// Why there is no such mesh, found and allowed; empty where there is: cells are 1 or more, those of a star equal,
  /// and for Nested and Appended the same power of two in both directions.
  static std::string problemOf(bool star, int columns, int rows, DgNumbering numbering);

  /// Throws std::invalid_argument where there is no such mesh, see problemOf().
  static DgMesh square(int columns, int rows, DgNumbering numbering);

  /// Likewise, with `cells` along each side of a rhombus. Nested: the first halving appends, the others nest, as MFEM
  /// from 4.1 on refines its star.mesh of 20 elements. MFEM up to 4.0 appends always.
  static DgMesh star(int cells, DgNumbering numbering);

  bool isStar() const { return patches_ == 5; }
  int columns() const { return columns_; }
  int rows() const { return rows_; }
  long long elements() const { return static_cast<long long>(patches_) * columns_ * rows_; }
  /// Sides that two elements share.
  long long innerSides() const;

  DgPlace placeOf(long long element) const;
  long long elementAt(const DgPlace& place) const;

  /// Calls take(side, neighbour) for each side of an element that another one shares.
  template <class Take>
  void forNeighbours(long long element, const Take& take) const {
    const DgPlace place = placeOf(element);
    for (const DgSide side : dgSides) {
      DgNeighbour neighbour;
      if (neighbourAt(place, side, neighbour)) take(side, neighbour);
    }
  }

 private:
  DgMesh(int patches, int columns, int rows, DgNumbering numbering);
  bool neighbourAt(DgPlace place, DgSide side, DgNeighbour& neighbour) const;

  int patches_, columns_, rows_;
  DgNumbering numbering_;
  int levels_ = 0;    // halvings, for Nested and Appended
  int appended_ = 0;  // how many of them, the first ones, append
};

/// The names of the numberings: "rows", "nested", "appended".
const std::vector<std::string>& dgNumberingNames();

/// The numbering of that name. Throws std::invalid_argument with the names allowed.
DgNumbering dgNumberingNamed(const std::string& name);

}  // namespace capstan::deck
