#include "adapters/deck/systems.hpp"

#include <gtest/gtest.h>

#include <Teuchos_CommHelpers.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "adapters/deck/test/temporary_folder.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::deck {
namespace {

GeneratorOptions problem(const std::string& name, std::vector<int> cells) {
  GeneratorOptions options;
  options.problem = name;
  options.cells = std::move(cells);
  return options;
}

double norm(const MultiVector& x) {
  Teuchos::Array<double> result(x.getNumVectors());
  x.norm2(result());
  return result[0];
}

/// |A - B| tried on a few vectors.
double difference(const Matrix& A, const Matrix& B) {
  MultiVector x(A.getDomainMap(), 1), y(A.getRangeMap(), 1);
  fillRandom(x, 5);
  A.apply(x, y);
  B.apply(x, y, Teuchos::NO_TRANS, -1.0, 1.0);
  return norm(y);
}

std::string text(const std::string& symmetry, const std::vector<std::string>& lines, int rows = 3, int columns = 3) {
  std::string all = "%%MatrixMarket matrix coordinate real " + symmetry + "\n" + std::to_string(rows) + " " +
                    std::to_string(columns) + " " + std::to_string(lines.size()) + "\n";
  for (const auto& line : lines) all += line + "\n";
  return all;
}

class Systems : public testing::Test {
 protected:
  std::string complaint(const std::string& matrix, const std::string& vectors = "") {
    try {
      const auto A = readMatrix(folder_.file("a.mtx", matrix), comm_);
      if (!vectors.empty()) readVectors(folder_.file("b.mtx", vectors), A->getRangeMap());
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  test::TemporaryFolder folder_;
  Teuchos::RCP<const Communicator> comm_ = Tpetra::getDefaultComm();
};

TEST_F(Systems, AreSpreadInContiguousBlocksEvenWhenRanksHaveNoRows) {
  for (const int cells : {1, 2, 7}) {
    const auto A = buildMatrix(problem("laplace2d", {cells, 1}), comm_);
    EXPECT_EQ(A->getGlobalNumRows(), static_cast<std::size_t>(cells));
    EXPECT_TRUE(A->getRowMap()->isContiguous());
    const auto mine = static_cast<int>(compat::localNumRows(*A));
    EXPECT_LE(std::abs(mine - cells / comm_->getSize()), 1);
    MultiVector ones(A->getDomainMap(), 1), y(A->getRangeMap(), 1);
    ones.putScalar(1.0);
    A->apply(ones, y);
    EXPECT_NEAR(norm(y), cells == 1 ? 4.0 : std::sqrt(2 * 9.0 + (cells - 2) * 4.0), 1e-14);
  }
}

TEST_F(Systems, FilesGiveTheMatrixWritten) {
  const auto A = buildMatrix(problem("convection_diffusion2d", {6, 5}), comm_);
  MultiVector b(A->getRangeMap(), 2);
  fillRandom(b, 3);
  const std::string prefix = folder_.file("x", "");
  writeSystem(*A, b, b, prefix);
  comm_->barrier();
  const auto again = readMatrix(prefix + "_A.mtx", comm_);
  EXPECT_EQ(again->getGlobalNumEntries(), A->getGlobalNumEntries());
  EXPECT_TRUE(again->getRowMap()->isSameAs(*A->getRowMap()));
  EXPECT_LT(difference(*A, *again), 1e-13);
  const auto c = readVectors(prefix + "_b.mtx", A->getRangeMap());
  ASSERT_EQ(c->getNumVectors(), 2u);
  c->update(-1.0, b, 1.0);
  EXPECT_LT(norm(*c), 1e-14);
}

TEST_F(Systems, FilesThatCannotBeWrittenAreAnErrorOnAllRanks) {
  const auto A = buildMatrix(problem("laplace2d", {3, 3}), comm_);
  const MultiVector b(A->getRangeMap(), 1);
  try {
    writeSystem(*A, b, b, "/no/such/folder/x");
    ADD_FAILURE() << "written where there is no folder";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot write \"/no/such/folder/x_A.mtx\""), std::string::npos)
        << error.what();
  }
}

TEST_F(Systems, PatternsAreOnesAndLineEndsAreNothing) {
  const auto A = readMatrix(folder_.file("a.mtx", text("general", {"1 1 1", "2 2 1", "3 1 1", "3 3 1"})), comm_);
  const std::string pattern =
      "%%MatrixMarket matrix coordinate pattern general\n% no values\n3 3 4\n1 1\n2 2\n\n3 1\n3 3\n";
  EXPECT_EQ(difference(*A, *readMatrix(folder_.file("p.mtx", pattern), comm_)), 0.0);
  const auto windows = [](const std::string& plain) {
    std::string all;
    for (const char c : plain) all += c == '\n' ? std::string("\r\n") : std::string(1, c);
    return all;
  };
  const std::string entries = text("general", {"1 1 1", "2 2 1", "3 1 1", "3 3 1"});
  for (const auto& lines : {windows(pattern), windows(entries)}) {
    EXPECT_EQ(difference(*A, *readMatrix(folder_.file("w.mtx", lines), comm_)), 0.0);
  }
  std::string twice = entries;
  twice.replace(twice.find("real"), 4, "double");
  EXPECT_EQ(difference(*A, *readMatrix(folder_.file("d.mtx", twice), comm_)), 0.0);
  const std::string vector = windows("%%MatrixMarket matrix array real general\n3 1\n1\n2\n2\n");
  EXPECT_EQ(norm(*readVectors(folder_.file("b.mtx", vector), A->getRangeMap())), 3.0);
}

TEST_F(Systems, SymmetricStorageIsUnfolded) {
  const auto A = readMatrix(folder_.file("a.mtx", text("symmetric", {"1 1 2", "2 1 -1", "2 2 2", "3 3 5"})), comm_);
  EXPECT_EQ(A->getGlobalNumEntries(), 5u);
  MultiVector x(A->getDomainMap(), 1), y(A->getRangeMap(), 1);
  x.putScalar(1.0);
  A->apply(x, y);
  EXPECT_NEAR(norm(y), std::sqrt(1.0 + 1.0 + 25.0), 1e-15);
}

TEST_F(Systems, BadFilesAreRefusedOnAllRanks) {
  const std::string sound = text("general", {"1 1 2", "2 2 2", "3 3 5"});
  EXPECT_EQ(complaint(sound), "");
  EXPECT_NE(complaint(text("general", {"1 1 2"}, 3, 4)).find("found 3 rows and 4 columns; allowed: a square matrix"),
            std::string::npos);
  EXPECT_NE(complaint(sound.substr(0, sound.size() - 6)).find("truncated: 2 of 3 entries"), std::string::npos);
  EXPECT_NE(complaint(text("general", {"1 1 2", "2 2 two", "3 3 5"})), "");
  EXPECT_NE(complaint(text("general", {"1 1 2", "2 9 2", "3 3 5"})), "");
  EXPECT_NE(complaint(sound, "%%MatrixMarket matrix array real general\n2 1\n1\n2\n").find("found 2 rows; allowed: 3"),
            std::string::npos);
  EXPECT_NE(complaint(sound, sound).find("found a sparse matrix; allowed: a dense one"), std::string::npos);
  EXPECT_THROW(readMatrix("/no/such/file", comm_), InputError);
}

// inspectMatrixMarket() passes over them, and Tpetra's reader would not.
TEST_F(Systems, BlankLinesAndABannerInCapitalsAreNoError) {
  const std::string dense = "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n";
  const auto after = [](std::string all, const std::string& line, const std::string& added) {
    return all.insert(all.find(line) + line.size(), added);
  };
  for (const char* blank : {"\n", " \t\n", "\r\n"}) {
    for (const char* line : {"general\n", "3 3 3\n", "1 1 2\n", "3 3 5\n"}) {
      const std::string matrix = after(text("general", {"1 1 2", "2 2 2", "3 3 5"}), line, blank);
      EXPECT_EQ(complaint(matrix), "") << matrix;
    }
    for (const char* line : {"general\n", "3 1\n", "1\n2\n", "2\n3\n"}) {
      const std::string vectors = after(dense, line, blank);
      EXPECT_EQ(complaint(text("general", {"1 1 2", "2 2 2", "3 3 5"}), vectors), "") << vectors;
    }
  }
  EXPECT_EQ(complaint("%%MATRIXMARKET MATRIX COORDINATE INTEGER SYMMETRIC\n2 2 2\n1 1 3\n2 2 3\n"), "");
}

TEST_F(Systems, RandomNumbersDoNotDependOnTheNumberOfRanks) {
  const auto map = Teuchos::rcp(new const Map(1000, 0, comm_));
  MultiVector x(map, 2);
  fillRandom(x, 7);
  Teuchos::Array<double> sums(2);
  x.meanValue(sums());
  // Computed once on one rank.
  MultiVector y(map, 2);
  fillRandom(y, 7);
  y.update(-1.0, x, 1.0);
  EXPECT_EQ(norm(y), 0.0);
  EXPECT_LT(std::abs(sums[0]), 0.06);
  EXPECT_NEAR(norm(x), std::sqrt(1000.0 / 3.0), 1.0);
  const auto local = Teuchos::rcp(new const Map(1000, 0, comm_, Tpetra::LocallyReplicated));
  MultiVector z(local, 2);
  fillRandom(z, 7);
  const auto all = z.getData(1);
  const auto mine = x.getData(1);
  for (Teuchos::Ordinal i = 0; i < mine.size(); ++i) {
    EXPECT_EQ(mine[i], all[map->getGlobalElement(static_cast<int>(i))]);
  }
  fillRandom(y, 8);
  y.update(-1.0, x, 1.0);
  EXPECT_GT(norm(y), 10.0);
}

TEST_F(Systems, ASequenceChangesSlowlyAndComesBack) {
  SystemOptions options;
  options.generator = problem("laplace2d", {8, 8});
  options.rhs = RhsKind::Random;
  options.sequence.steps = 21;
  options.sequence.change = 0.02;
  SystemSequence sequence(options, comm_);
  EXPECT_EQ(sequence.size(), 21);
  const auto* same = sequence.A().get();
  sequence.select(0, sequence.guess());
  const Matrix first(*sequence.A(), Teuchos::Copy);
  MultiVector scaled(*sequence.b(), Teuchos::Copy);
  sequence.select(1, sequence.guess());
  EXPECT_EQ(sequence.A().get(), same) << "applications change their matrix in place";
  const double change = difference(first, *sequence.A());
  EXPECT_GT(change, 1e-3);
  EXPECT_LT(change, 0.1 * norm(scaled) * 8);
  // (A x, y) = (x, A y): still symmetric.
  MultiVector x(first.getDomainMap(), 1), y(x, Teuchos::Copy), Ax(x, Teuchos::Copy), Ay(x, Teuchos::Copy);
  fillRandom(x, 1);
  fillRandom(y, 2);
  sequence.A()->apply(x, Ax);
  sequence.A()->apply(y, Ay);
  Teuchos::Array<double> left(1), right(1);
  Ax.dot(y, left());
  x.dot(Ay, right());
  EXPECT_NEAR(left[0], right[0], 1e-12);
  sequence.select(20, sequence.guess());
  EXPECT_LT(difference(first, *sequence.A()), 1e-12);
}

TEST_F(Systems, ATimeStepIsImplicitEulers) {
  SystemOptions options;
  options.generator = problem("laplace2d", {6, 5});
  options.rhs = RhsKind::Ones;
  options.sequence.steps = 2;
  options.sequence.outerIterations = 2;
  options.sequence.timeStep = 0.25;
  const auto plain = buildSystem(options, comm_);
  SystemSequence sequence(options, comm_);
  MultiVector v(plain.A->getDomainMap(), 1), Av(v, Teuchos::Copy), systemTimesV(v, Teuchos::Copy);
  fillRandom(v, 3);
  plain.A->apply(v, Av);
  const auto expectStep = [&](int k, const MultiVector& x, const MultiVector& old) {
    sequence.select(k, x);
    sequence.A()->apply(v, systemTimesV);  // v + dt A v
    systemTimesV.update(-1.0, v, -0.25, Av, 1.0);
    EXPECT_LT(norm(systemTimesV), 1e-14);
    MultiVector rest(*sequence.b(), Teuchos::Copy);  // x_old + dt b
    rest.update(-1.0, old, -0.25, *plain.b, 1.0);
    EXPECT_LT(norm(rest), 1e-14);
  };
  MultiVector first(v, Teuchos::Copy), second(v, Teuchos::Copy);
  fillRandom(first, 4);
  fillRandom(second, 5);
  expectStep(0, second, sequence.guess());
  expectStep(1, first, sequence.guess());
  expectStep(2, second, second);
  expectStep(3, first, second);
}

TEST_F(Systems, RightHandSidesAreWhatTheirNamesSay) {
  SystemOptions options;
  options.generator = problem("laplace3d", {3, 3, 3});
  options.rhs = RhsKind::Ones;
  EXPECT_NEAR(norm(*buildSystem(options, comm_).b), std::sqrt(27.0), 1e-14);
  options.rhs = RhsKind::MatrixTimesOnes;
  const auto system = buildSystem(options, comm_);
  MultiVector ones(system.A->getDomainMap(), 1), r(*system.b, Teuchos::Copy);
  ones.putScalar(1.0);
  system.A->apply(ones, r, Teuchos::NO_TRANS, -1.0, 1.0);
  EXPECT_LT(norm(r), 1e-14);
  EXPECT_EQ(norm(*system.guess), 0.0);
}

}  // namespace
}  // namespace capstan::deck
