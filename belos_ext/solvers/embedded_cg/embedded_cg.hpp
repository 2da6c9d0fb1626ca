#pragma once
/// \file
/// Conjugate gradients with the halo exchange inside the all-reduce: one communication phase an iteration, and lg K
/// messages a rank, whatever the sparsity of A.
///
/// Source: [embedded-cg], Algorithm 4, and section 4 for the messages. Its recurrence (rho = beta rho, from
/// (q, q)) is that of [Chronopoulos and Gear 1989]'s family, which loses what Hestenes and Stiefel's keeps, and has no
/// preconditioner. Here the recurrences are those of CAPSTAN CG, predict-and-recompute [Chen and Carson 2020], whose
/// nu is computed anew in every iteration.
///
/// | paper        | here          | shape                | meaning                                                 |
/// |--------------|---------------|----------------------|---------------------------------------------------------|
/// | p_k, q_k     | p, s          | n x 1, distributed   | search direction and A p                                |
/// | r_k          | r, z          | n x 1, distributed   | residual, and M^{-1} r by recurrence                    |
/// | q^_k - q_k   | t of others   | halo x 1, local      | entries of t = M^{-1} s that this rank needs            |
/// | r^_k - r_k   | z of others   | halo x 1, local      | the same of z, computed here as its owner does          |
/// | p^_k - p_k   | p of others   | halo x 1, local      | the same of p: A p takes it from here                   |
/// | pi, kappa    | mu, gamma     | scalar, replicated   | (p, s), (s, t), and three more                          |
///
/// | line of Algorithm 4 | here                                                                         |
/// |---------------------|------------------------------------------------------------------------------|
/// | 2                   | CarriedProduct::multiply(): s = A p, no message                              |
/// | 3, 4                | Cg::enterInnerProducts()                                                     |
/// | 5 to 9              | CarriedProduct::reduce(): the sums and the entries of t in lg K messages     |
/// | 10 to 12            | Cg::nextBeta()                                                               |
/// | 13 to 15            | Cg::advance(), and CarriedProduct::step() for the entries of others          |
///
/// Cost of an iteration: as CAPSTAN CG (1 reduction, 1 A, 1 M^{-1}, 1 sweep), but for the messages: lg K of them, K the
/// ranks (and one more where K is no power of two), each with the sums and the entries of t that pass through; A p
/// sends none. On the halo 2 axpy more. No collective call. Overlap: none. Where z or p has not come about by the
/// recurrences (start, replaced residual, z = M^{-1} r every 100 iterations) both travel once, in one more phase. Where
/// M is costly a solve takes n + 1 applications, from the first step on. Storage: that of CAPSTAN CG, and 3 vectors on
/// the halo.
///
/// M: any. With a diagonal or none the messages of an iteration are those lg K and no others. So they are where M is
/// explicit, sparse products and no more (ExplicitPreconditioner, or M^{-1} as a Tpetra::CrsMatrix): z, p and t are
/// then known on what A and M reach together, and s = A p is computed redundantly on the rows of others that M needs
/// (GhostZone). [embedded-cg], section 7, proposes such preconditioners, with an exchange for each product. Another M
/// sends its own messages when it is applied, which cannot travel with these sums, since t has to be there before; the
/// halo of A is carried all the same. Where M turns out not to be linear, z does not follow from t, and A sends its own
/// messages. So does an operator that is no Tpetra::CrsMatrix. The report says each of these.
///
/// Fallbacks: those of CAPSTAN CG.

#include "belos_ext/solvers/cg/cg.hpp"
#include "belos_ext/solvers/embedded_cg/carried_product.hpp"

namespace capstan {

template <class Types>
using EmbeddedCg = Cg<Types, CarriedProduct<Types>>;

}  // namespace capstan
