#include "adapters/deck/dg_mesh.hpp"

#include <stdexcept>

namespace capstan::deck {
namespace {

/// The exponent of a power of two; -1 where n is none.
int powerOfTwo(int n) {
  int exponent = 0;
  while (n > 1 && n % 2 == 0) {
    n /= 2;
    ++exponent;
  }
  return n == 1 ? exponent : -1;
}

/// The four parts of an element in the order in which they are numbered: round its centre, from the corner xi = eta = 0
/// on. Part k lies at column quarters[k][0], row quarters[k][1].
constexpr int quarters[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
constexpr int partAt[2][2] = {{0, 3}, {1, 2}};  // by column, row

}  // namespace

std::string DgMesh::problemOf(bool star, int columns, int rows, DgNumbering numbering) {
  const std::string cells = "cells " + std::to_string(columns) + " x " + std::to_string(rows);
  if (columns < 1 || rows < 1) return cells + "; allowed: 1 or more in each direction";
  if (star && columns != rows) return cells + " in a star; allowed: the same number in both directions";
  if (numbering == DgNumbering::Rows || (columns == rows && powerOfTwo(columns) >= 0)) return {};
  return cells + " with the numbering " + dgNumberingNames()[static_cast<std::size_t>(numbering)] +
         "; allowed: the same power of two in both directions";
}

DgMesh::DgMesh(int patches, int columns, int rows, DgNumbering numbering)
    : patches_(patches), columns_(columns), rows_(rows), numbering_(numbering) {
  if (const auto problem = problemOf(patches > 1, columns, rows, numbering); !problem.empty()) {
    throw std::invalid_argument("capstan: discontinuous Galerkin mesh: " + problem);
  }
  if (numbering == DgNumbering::Rows) return;
  levels_ = powerOfTwo(columns);
  appended_ = numbering == DgNumbering::Appended ? levels_ : isStar() && levels_ > 0 ? 1 : 0;
}

DgMesh DgMesh::square(int columns, int rows, DgNumbering numbering) { return DgMesh(1, columns, rows, numbering); }

DgMesh DgMesh::star(int cells, DgNumbering numbering) { return DgMesh(5, cells, cells, numbering); }

long long DgMesh::innerSides() const {
  const long long c = columns_, r = rows_;
  return patches_ * ((c - 1) * r + c * (r - 1)) + (isStar() ? patches_ * c : 0);
}

DgPlace DgMesh::placeOf(long long element) const {
  DgPlace place;
  if (numbering_ == DgNumbering::Rows) {
    const long long inPatch = static_cast<long long>(columns_) * rows_;
    place.patch = static_cast<int>(element / inPatch);
    place.row = static_cast<int>(element % inPatch / columns_);
    place.column = static_cast<int>(element % columns_);
    return place;
  }
  long long number = element, before = elements();
  for (int level = levels_ - 1; level >= 0; --level) {
    before /= 4;
    int part = 0;
    if (level >= appended_) {
      part = static_cast<int>(number % 4);
      number /= 4;
    } else if (number >= before) {
      part = static_cast<int>((number - before) % 3) + 1;
      number = (number - before) / 3;
    }
    const int bit = levels_ - 1 - level;
    place.column |= quarters[part][0] << bit;
    place.row |= quarters[part][1] << bit;
  }
  place.patch = static_cast<int>(number);
  return place;
}

long long DgMesh::elementAt(const DgPlace& place) const {
  if (numbering_ == DgNumbering::Rows) {
    return (static_cast<long long>(place.patch) * rows_ + place.row) * columns_ + place.column;
  }
  long long number = place.patch, before = patches_;
  for (int level = 0; level < levels_; ++level, before *= 4) {
    const int bit = levels_ - 1 - level;
    const int part = partAt[place.column >> bit & 1][place.row >> bit & 1];
    if (level >= appended_) {
      number = 4 * number + part;
    } else if (part > 0) {
      number = before + 3 * number + part - 1;
    }
  }
  return number;
}

bool DgMesh::neighbourAt(DgPlace place, DgSide side, DgNeighbour& neighbour) const {
  place.column += side == DgSide::Right ? 1 : side == DgSide::Left ? -1 : 0;
  place.row += side == DgSide::Top ? 1 : side == DgSide::Bottom ? -1 : 0;
  neighbour.side = static_cast<DgSide>((static_cast<int>(side) + 2) % 4);
  if (place.column >= columns_ || place.row >= rows_) return false;
  if (place.column < 0 || place.row < 0) {
    if (!isStar()) return false;
    // Rhombi meet along the rays from the origin: xi = 0 of one is eta = 0 of the next.
    if (place.column < 0) {
      place = {(place.patch + 1) % 5, place.row, 0};
      neighbour.side = DgSide::Bottom;
    } else {
      place = {(place.patch + 4) % 5, 0, place.column};
      neighbour.side = DgSide::Left;
    }
  }
  neighbour.element = elementAt(place);
  return true;
}

const std::vector<std::string>& dgNumberingNames() {
  static const std::vector<std::string> names = {"rows", "nested", "appended"};
  return names;
}

DgNumbering dgNumberingNamed(const std::string& name) {
  const auto& names = dgNumberingNames();
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (names[k] == name) return static_cast<DgNumbering>(k);
  }
  throw std::invalid_argument("capstan: numbering of elements '" + name + "'; allowed: rows, nested, appended");
}

}  // namespace capstan::deck
