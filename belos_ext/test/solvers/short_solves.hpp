#pragma once
/// \file
/// What tests of short solves share: a preconditioner as strong as a V-cycle, and the account of applications.

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {

/// z = p(A) r, symmetric positive definite: `degree` steps of Chebyshev's iteration on [upper / 30, upper], which gain
/// nearly a digit a solve's iteration, as a V-cycle does.
inline RCP<const Operator> strong(const RCP<const CrsMatrix>& a, Scalar upper, int degree) {
  return rcp(new FunctionOperator(a->getRowMap(), [=](const MultiVector& r, MultiVector& z) {
    const Scalar centre = upper * (1 + 1 / Scalar(30)) / 2, half = upper * (1 - 1 / Scalar(30)) / 2;
    MultiVector p(r.getMap(), r.getNumVectors()), rest(r, Teuchos::Copy), image(r.getMap(), r.getNumVectors());
    z.putScalar(0);
    Scalar alpha = 0;
    for (int k = 0; k < degree; ++k) {
      const Scalar beta = k == 0 ? 0 : k == 1 ? half * alpha * half * alpha / 2 : half * alpha * half * alpha / 4;
      alpha = k == 0 ? 1 / centre : 1 / (centre - beta / alpha);
      p.update(1, rest, beta);
      z.update(alpha, p, 1);
      a->apply(p, image);
      rest.update(-alpha, image, 1);
    }
  }));
}

/// Applications of A and of M are those of the iterations, of the start, and those beyond; nothing is left out.
inline void expectAccount(const MethodTraits& method, const SolveReport& report) {
  const long each = method.family == Family::BiCgStab ? 2 : 1, iterations = each * report.iterationsInTurn;
  EXPECT_EQ(report.operatorApplications, report.operatorsAtStart + iterations + report.operatorsBeyond);
  EXPECT_EQ(report.preconditionerApplications,
            report.preconditionersAtStart + iterations + report.preconditionersBeyond);
  EXPECT_GE(report.operatorsAtStart, 0) << "the residual of the guess, unless that is known to be zero";
  const int half = method.family == Family::BiCgStab ? 1 : 0;  // the last iteration may be half a one
  EXPECT_GE(report.operatorsBeyond, 1 - half) << "the residual that proves convergence";
  // One that needs M^{-1} A p besides M^{-1} r from the first iteration on.
  const bool two = method.firstProducts == FirstProducts::Image;
  EXPECT_EQ(report.preconditionersAtStart, two ? 1 : 0);
}

}  // namespace capstan::testing
