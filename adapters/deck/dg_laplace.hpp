#pragma once
/// \file
/// -Laplace u with u = 0 on the boundary, by discontinuous Galerkin elements of any degree with a symmetric interior
/// penalty. Of this kind is the matrix of [enlarged-cg], Example 2.1.

#include "adapters/deck/dg_mesh.hpp"
#include "adapters/deck/generators.hpp"

namespace capstan::deck {

/// Unknowns of an element: (degree + 1)^2, the values at the Gauss-Legendre points.
int dgUnknownsOfElement(int degree);

/// The matrix: rows of an element one after the other, columns by blocks, its own block first. Symmetric and, with the
/// default penalty, positive definite; entries of the mesh of the square may be zero, since Lagrange polynomials at
/// Gauss points are orthogonal along a side. The penalty on a side is `penalty` times its length over the area of an
/// element; 0 stands for (degree + 1)^2. Throws std::invalid_argument unless degree is 1 to 7 and the penalty finite
/// and not negative. Local.
///
/// Source: [Arnold, Brezzi, Cockburn and Marini 2002], the method of Douglas and Dupont with the penalty of Arnold; the
/// default penalty as in MFEM's example of a discontinuous Galerkin discretisation [mfem-library].
GeneratedMatrix dgLaplace(const DgMesh& mesh, int degree, double penalty = 0.0);

}  // namespace capstan::deck
