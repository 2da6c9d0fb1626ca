/// \file
/// One panel at a time: V = Q R, reductions, single-reduce schemes against their explicit twins, lost rank, NaN, few
/// rows.

#include <gtest/gtest.h>

#include <random>

#include "belos_ext/orthogonalization/single_reduce.hpp"
#include "belos_ext/orthogonalization/vector_orthogonalization.hpp"
#include "belos_ext/test/policies/basis_run.hpp"
#include "belos_ext/test/policies/schemes.hpp"
#include "tpetra_ext/reductions/counters.hpp"

namespace capstan::testing {
namespace {

using Outcome = PanelOutcome;

RCP<MultiVector> copied(const MultiVector& v) { return rcp(new MultiVector(v, Teuchos::Copy)); }

/// A basis whose panels are filled with the same random numbers on any number of ranks.
struct PanelCase {
  PanelCase(const Scheme& scheme, RCP<const Map> map, int capacity = 40)
      : sketched(scheme.block == BlockOrthogonalization::Sketched), system(Teuchos::null) {
    orthogonalization = makeBlockGramSchmidt<Types>(scheme.block, scheme.intra, map->getComm());
    basis.resize(map, capacity + 1);
    relation.begin(capacity, 1, false);
    orthogonalization->begin(capacity);
    fill(0, 1);
    basis[0].scale(1 / std::sqrt(inner(basis[0], basis[0])(0, 0)));
  }

  /// Columns [first, last) become random. On the host, so that kernels of the panel before come first.
  void fill(int first, int last) {
    compat::handOver<Types::ExecutionSpace>("the test");
    const auto& map = *basis[0].getMap();
    for (int j = first; j < last; ++j) {
      for (size_t i = 0; i < compat::localNumElements(map); ++i) {
        const GO g = map.getGlobalElement(static_cast<int>(i));
        std::mt19937 generator(static_cast<unsigned>(1000 * j + 7) + 100003U * static_cast<unsigned>(g));
        generator.discard(3);
        basis[j].replaceGlobalValue(g, 0, std::uniform_real_distribution<double>(-1, 1)(generator));
      }
    }
  }

  /// Orthonormalises [first, first + steps]; V is what was there before.
  Outcome panel(int first, int steps) {
    v = copied(*basis.columns(first, first + steps + 1));
    const auto before = counters();
    const Outcome outcome = orthogonalization->orthonormalize(basis, first, steps, system, relation, r);
    reductions = (counters() - before).blocking;
    return outcome;
  }

  /// max over the first `columns` columns of || v - Q r || / || v ||.
  double factorError(int first, int columns) {
    double worst = 0;
    for (int c = 0; c < columns; ++c) {
      worst = std::max(worst, mismatch(*v->getVector(static_cast<size_t>(c)), *basis.columns(0, first + c + 1),
                                       copyOf(block(r, 0, c, first + c + 1, 1))));
    }
    return worst;
  }
  double loss(int columns) {
    const auto q = basis.columns(0, columns);
    return sketched ? sketchedLoss(*q, tuning::sketch::rowsFor(columns)) : orthogonalityLoss(*q);
  }

  bool sketched;
  PlainSystem system;
  KrylovBasis<Types> basis;
  ArnoldiRelation<Scalar> relation;
  std::unique_ptr<BlockGramSchmidt<Types>> orthogonalization;
  RCP<MultiVector> v;
  Matrix r;
  long reductions = 0;
};

class EveryScheme : public ::testing::TestWithParam<Scheme> {};
INSTANTIATE_TEST_SUITE_P(Schemes, EveryScheme, ::testing::ValuesIn(allSchemes()),
                         [](const auto& of) { return of.param.name; });

/// Reductions of a panel by the table in block_gram_schmidt.hpp; nothing is projected in the first one.
long tabulated(const Scheme& scheme, int first) {
  const long c = scheme.intra == IntraOrthogonalization::CholQr    ? 1
                 : scheme.intra == IntraOrthogonalization::CholQr2 ? 2
                                                                   : 0;
  switch (scheme.block) {
    case BlockOrthogonalization::Cgs:
      return (first > 0 ? 1 : 0) + c;
    case BlockOrthogonalization::Cgs2:
      return 2 * ((first > 0 ? 1 : 0) + c);
    case BlockOrthogonalization::Mgs:
      return first + c;
    case BlockOrthogonalization::Pip2:
      return 2;
    default:
      return 1;
  }
}

TEST_P(EveryScheme, FactorsPanelsWithTheReductionsOfItsTable) {
  PanelCase run(GetParam(), evenMap(300));
  int first = 0;
  for (const int steps : {3, 5, 1, 4, 5}) {
    run.fill(first + 1, first + steps + 1);
    const Outcome outcome = run.panel(first, steps);
    EXPECT_EQ(outcome.rank, steps + 1);
    EXPECT_TRUE(outcome.finite);
    EXPECT_GE(outcome.condition, 1);
    EXPECT_LT(outcome.condition, 10);
    EXPECT_EQ(run.reductions, tabulated(GetParam(), first)) << "panel at " << first;
    EXPECT_LT(run.factorError(first, steps + 1), 1e-14);
    for (int c = 0; c <= steps; ++c) {
      EXPECT_GT(run.r(first + c, c), 0);
      for (int i = first + c + 1; i <= first + steps; ++i) EXPECT_EQ(run.r(i, c), 0);
    }
    first += steps;
  }
  EXPECT_LT(run.loss(first + 1), 1e-13);
  const auto before = counters();
  EXPECT_EQ(run.orthogonalization->finish(run.basis, first + 1, run.system, run.relation), first + 1);
  EXPECT_EQ((counters() - before).blocking, GetParam().block == BlockOrthogonalization::TwoStage ? 1 : 0);
}

/// What the vector `dependent` of the panel [first, first + 4] is made of.
enum class Dependence { OnEarlierVectors, OnThePanel, OnBoth, Zero };

TEST_P(EveryScheme, ReportsTheRankOfADependentPanel) {
  const int first = 6, steps = 4;
  for (const Dependence on :
       {Dependence::OnEarlierVectors, Dependence::OnThePanel, Dependence::OnBoth, Dependence::Zero}) {
    for (int dependent = 1; dependent <= steps; ++dependent) {
      PanelCase run(GetParam(), evenMap(200));
      run.fill(1, first + steps + 1);
      ASSERT_EQ(run.panel(0, first).rank, first + 1);
      MultiVector& v = run.basis[first + dependent];
      v.putScalar(0);
      if (on == Dependence::OnEarlierVectors || on == Dependence::OnBoth) {
        for (int k = 0; k < first; ++k) v.update(1.0 / (k + 1), run.basis[k], 1);
      }
      if (on == Dependence::OnThePanel || on == Dependence::OnBoth) {
        for (int k = 0; k < dependent; ++k) v.update(0.5 + k, run.basis[first + k], 1);
      }
      const Outcome outcome = run.panel(first, steps);
      SCOPED_TRACE("dependence " + std::to_string(static_cast<int>(on)) + " of vector " + std::to_string(dependent));
      EXPECT_EQ(outcome.rank, dependent);
      EXPECT_TRUE(outcome.finite);
      EXPECT_GT(outcome.condition, 1e6);
      EXPECT_LT(run.loss(first + dependent), 1e-12);
      EXPECT_LT(run.factorError(first, dependent), 1e-13);
    }
  }
}

TEST_P(EveryScheme, ReportsWhatIsNotFiniteAndKeepsTheVectorsBefore) {
  const int first = 4, steps = 4;
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    // A sketch does not look at q_first again.
    for (int column = GetParam().block == BlockOrthogonalization::Sketched ? 1 : 0; column <= steps; ++column) {
      PanelCase run(GetParam(), evenMap(100));
      run.fill(1, first + steps + 1);
      ASSERT_EQ(run.panel(0, first).rank, first + 1);
      const GO last = 99;
      if (run.basis[0].getMap()->isNodeGlobalElement(last)) run.basis[first + column].replaceGlobalValue(last, 0, bad);
      const Outcome outcome = run.panel(first, steps);
      SCOPED_TRACE(std::to_string(bad) + " in vector " + std::to_string(column));
      EXPECT_FALSE(outcome.finite);
      EXPECT_EQ(outcome.rank, column);
      EXPECT_LT(run.loss(first + column), 1e-12);
      EXPECT_LT(run.factorError(first, column), 1e-13);
    }
  }
}

TEST_P(EveryScheme, WorksWithFewRowsAndEmptyRanks) {
  for (const bool lastRankOnly : {false, true}) {
    const GO n = 12;  // fewer on a rank than the panel has columns
    PanelCase run(GetParam(), lastRankOnly ? lastRankMap(n) : evenMap(n), 12);
    run.fill(1, 10);
    EXPECT_EQ(run.panel(0, 5).rank, 6);
    EXPECT_EQ(run.panel(5, 4).rank, 5);
    EXPECT_LT(run.factorError(5, 5), 1e-13);
    EXPECT_EQ(run.orthogonalization->finish(run.basis, 10, run.system, run.relation), 10);
    EXPECT_LT(run.loss(10), 1e-10);
    // A space of dimension 12 holds no thirteenth vector: at most rounding is left of it.
    run.fill(10, 13);
    const Outcome outcome = run.panel(9, 3);
    EXPECT_GE(outcome.rank, 3);
    if (outcome.rank > 3) {
      EXPECT_LT(run.r(12, 3), 1e-6);
    }
  }
}

TEST_P(EveryScheme, CanTryAPanelAgainAfterLostRank) {
  PanelCase run(GetParam(), evenMap(100));
  run.fill(1, 4);
  ASSERT_EQ(run.panel(0, 3).rank, 4);
  run.fill(4, 8);
  Tpetra::deep_copy(run.basis[5], run.basis[1]);
  ASSERT_EQ(run.panel(3, 4).rank, 2);  // one new vector
  run.fill(5, 7);
  EXPECT_EQ(run.panel(4, 2).rank, 3);
  EXPECT_LT(run.factorError(4, 3), 1e-14);
  Tpetra::deep_copy(run.basis[7], run.basis[0]);
  ASSERT_EQ(run.panel(6, 1).rank, 1);  // nothing new, and then the same start again
  run.fill(7, 9);
  EXPECT_EQ(run.panel(6, 2).rank, 3);
  EXPECT_LT(run.factorError(6, 3), 1e-14);
  EXPECT_LT(run.loss(9), 1e-13);
}

/// Explicit block Gram-Schmidt against the vectors [0, first) of the basis as they are, not assumed orthonormal.
Matrix explicitCoefficients(Correction correction, KrylovBasis<Types>& basis, int first, MultiVector& v) {
  const int count = static_cast<int>(v.getNumVectors());
  Matrix r(first, count);
  for (int pass = 0; pass < (correction == Correction::Cgs2 ? 2 : 1); ++pass) {
    const Matrix all = inner(*basis.columns(0, first), v);
    for (int k = 0; k < first; ++k) {
      const Matrix row = correction == Correction::Cgs2 ? copyOf(block(all, k, 0, 1, count)) : inner(basis[k], v);
      for (int c = 0; c < count; ++c) {
        v.getVectorNonConst(static_cast<size_t>(c))->update(-row(0, c), basis[k], 1);
        r(k, c) += row(0, c);
      }
    }
  }
  return r;
}

TEST(SingleReduce, EqualsTheExplicitSchemeOnVectorsThatAreNotOrthogonal) {
  for (const Correction correction : {Correction::Cgs2, Correction::Mgs}) {
    const Scheme scheme{correction == Correction::Cgs2 ? BlockOrthogonalization::SingleReduceCgs2
                                                       : BlockOrthogonalization::SingleReduceMgs,
                        IntraOrthogonalization::CholQr, ""};
    PanelCase run(scheme, evenMap(400));
    int first = 0;
    for (int panel = 0; panel < 4; ++panel, first += 4) {
      run.fill(first + 1, first + 5);
      // The panel before loses orthogonality to the earlier ones, as rounding would do, only far more.
      for (int k = 1; k < first; ++k) {
        if (k > first - 4) run.basis[k].update(1e-3, run.basis[0], -2e-3, run.basis[k / 2], 1);
      }
      if (first > 4) {
        EXPECT_GT(run.loss(first), 1e-3);
      }
      ASSERT_EQ(run.panel(first, 4).rank, 5);
      if (first == 0) continue;
      // The panel before is orthonormal among itself again; against the earlier ones it is what it was.
      EXPECT_LT(orthogonalityLoss(*run.basis.columns(first - 4, first)), 1e-13);
      if (first > 4) {
        EXPECT_GT(run.loss(first), 1e-4);
      }

      const auto left = copied(*run.v);
      const Matrix expected = explicitCoefficients(correction, run.basis, first, *left);
      Matrix difference = copyOf(block(run.r, 0, 0, first, 5));
      difference -= expected;
      EXPECT_LT(frobenius(difference), 1e-13 * frobenius(expected)) << "panel at " << first;
      // and the Gram matrix of what is left was right without assuming Q^T Q = I
      EXPECT_LT(orthogonalityLoss(*run.basis.columns(first, first + 5)), 1e-13);
      EXPECT_LT(run.factorError(first, 5), 1e-14);
    }
  }
}

TEST(SingleReduce, EqualsItsTwinWhileThePanelsAreWellConditioned) {
  using Block = BlockOrthogonalization;
  const std::vector<std::pair<Block, Block>> twins{{Block::SingleReduceCgs, Block::Cgs},
                                                   {Block::SingleReduceCgs2, Block::Cgs2},
                                                   {Block::SingleReduceMgs, Block::Mgs},
                                                   {Block::Pip2, Block::Cgs2},
                                                   {Block::TwoStage, Block::Cgs2}};
  for (const auto& [single, multi] : twins) {
    PanelCase one({single, IntraOrthogonalization::CholQr, ""}, evenMap(500));
    PanelCase other({multi, IntraOrthogonalization::CholQr, ""}, evenMap(500));
    for (int first = 0; first < 20; first += 5) {
      for (PanelCase* run : {&one, &other}) {
        run->fill(first + 1, first + 6);
        for (int k = 1; k <= 5; ++k) run->basis[first + k].update(2, run->basis[first + k - 1], 1);  // not trivial
        ASSERT_EQ(run->panel(first, 5).rank, 6);
      }
      Matrix difference = copyOf(one.r);
      difference -= other.r;
      EXPECT_LT(frobenius(difference), 1e-12 * frobenius(other.r));
    }
    for (PanelCase* run : {&one, &other}) {
      EXPECT_EQ(run->orthogonalization->finish(run->basis, 21, run->system, run->relation), 21);
    }
    const auto q = copied(*one.basis.columns(0, 21));
    q->update(-1, *other.basis.columns(0, 21), 1);
    EXPECT_LT(std::sqrt(inner(*q, *q).normFrobenius()), 1e-12) << static_cast<int>(single);
  }
}

TEST(TwoStage, SecondStageRepairsWhatTheFirstLostAndReportsWhatItCannot) {
  const Scheme scheme{BlockOrthogonalization::TwoStage, IntraOrthogonalization::CholQr, ""};
  for (const double noise : {1e-8, 1e-2, 1.0, 1e5}) {
    PanelCase run(scheme, evenMap(300));
    run.fill(1, 9);
    ASSERT_EQ(run.panel(0, 8).rank, 9);
    // Vector 5 is replaced by a mixture of others with a little of itself left.
    run.basis[5].update(noise, run.basis[1], noise, run.basis[2], 1);
    const auto before = copied(*run.basis.columns(0, 9));
    EXPECT_EQ(run.orthogonalization->finish(run.basis, 9, run.system, run.relation), 9) << noise;
    EXPECT_LT(run.loss(9), 1e-13) << noise;
  }
  PanelCase run(scheme, evenMap(300));
  run.fill(1, 9);
  ASSERT_EQ(run.panel(0, 8).rank, 9);
  run.basis[5].update(1, run.basis[1], 1, run.basis[2], 0);
  EXPECT_EQ(run.orthogonalization->finish(run.basis, 9, run.system, run.relation), 5);
  EXPECT_LT(run.loss(5), 1e-13);
}

TEST(KrylovBasis, KeepsItsStorageUntilItIsTooSmallOrOnAnotherMap) {
  KrylovBasis<Types> basis;
  const auto map = evenMap(10), other = evenMap(11);
  basis.resize(map, 4);
  EXPECT_EQ(basis.capacity(), 4);
  const MultiVector* const kept = &basis[0];
  basis.resize(map, 3);
  EXPECT_EQ(&basis[0], kept);
  EXPECT_EQ(basis.capacity(), 4);
  // Columns are views of one block.
  basis[2].putScalar(7);
  const auto pair = basis.columns(1, 3);
  EXPECT_EQ(pair->getNumVectors(), 2U);
  EXPECT_EQ(inner(*pair->getVector(1), *pair->getVector(1))(0, 0), 490);
  pair->getVectorNonConst(0)->putScalar(2);
  EXPECT_EQ(inner(basis[1], basis[2])(0, 0), 140);
  EXPECT_TRUE(pair->isConstantStride());

  basis.resize(map, 6);
  EXPECT_EQ(basis.capacity(), 6);
  basis.resize(other, 2);
  EXPECT_EQ(basis.capacity(), 2);
  EXPECT_EQ(basis[1].getGlobalLength(), 11U);
}

struct VectorCase : PanelCase {
  VectorCase() : PanelCase(allSchemes()[3], evenMap(120)) {
    fill(1, 5);
    EXPECT_EQ(panel(0, 4).rank, 5);
    vectors.prepare(basis[0].getMap()->getComm());
  }
  VectorOutcome orthonormalize(Matrix& c) {
    v = copied(basis[5]);
    const auto before = counters();
    const VectorOutcome outcome = vectors.orthonormalize(basis, 5, system, c);
    reductions = (counters() - before).blocking;
    return outcome;
  }
  VectorOrthogonalization<Types> vectors;
};

TEST(VectorOrthogonalization, TellsNearlyDependentFromDependent) {
  for (const double left : {1.0, 1e-6, 1e-12}) {
    VectorCase run;
    run.fill(5, 6);
    run.basis[5].update(1, run.basis[1], 3, run.basis[4], left);
    Matrix c;
    const VectorOutcome outcome = run.orthonormalize(c);
    EXPECT_TRUE(outcome.independent) << left;
    EXPECT_TRUE(outcome.finite);
    EXPECT_EQ(run.reductions, 3);
    EXPECT_LT(run.loss(6), 1e-14) << left;
    EXPECT_LT(mismatch(*run.v, *run.basis.columns(0, 6), copyOf(block(c, 0, 1, 6, 1))), 1e-15) << left;
    for (int i = 0; i < 6; ++i) EXPECT_EQ(c(i, 0), i == 4 ? 1 : 0);
  }
  VectorCase run;
  run.basis[5].update(1, run.basis[1], 3, run.basis[4], 0);
  Matrix c;
  const VectorOutcome outcome = run.orthonormalize(c);
  EXPECT_FALSE(outcome.independent);
  EXPECT_TRUE(outcome.finite);
  EXPECT_EQ(c(5, 1), 0);
  EXPECT_NEAR(c(1, 1), 1, 1e-14);
  EXPECT_NEAR(c(4, 1), 3, 1e-14);

  run.basis[5].putScalar(0);
  EXPECT_FALSE(run.orthonormalize(c).independent);
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    run.basis[5].putScalar(1);
    if (run.basis[5].getMap()->isNodeGlobalElement(0)) run.basis[5].replaceGlobalValue(0, 0, bad);
    const VectorOutcome spoilt = run.orthonormalize(c);
    EXPECT_FALSE(spoilt.finite);
    EXPECT_FALSE(spoilt.independent);
  }
}

}  // namespace
}  // namespace capstan::testing
