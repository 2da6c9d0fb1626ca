#include "adapters/deck/matrix_market.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <string>

#include "adapters/deck/matrix_files.hpp"
#include "adapters/deck/test/temporary_folder.hpp"

namespace capstan::deck {
namespace {

const std::string sound =
    "%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 2 3\n1 1 4.0\n2 1 -1.0\n2 2 4.0\n";

std::string complaint(const std::string& text) {
  try {
    inspectMatrixMarket(text, "a.mtx");
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(MatrixMarket, ReadsTheOutlineOfASoundFile) {
  const auto info = inspectMatrixMarket(sound, "a.mtx");
  EXPECT_TRUE(info.coordinate);
  EXPECT_EQ(info.rows, 2);
  EXPECT_EQ(info.columns, 2);
  EXPECT_EQ(info.entries, 3);
  EXPECT_EQ(info.symmetry, "general");
}

TEST(MatrixMarket, CountsTheStoredTriangleOfADenseSymmetricFile) {
  EXPECT_EQ(complaint("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n"), "");
  EXPECT_NE(complaint("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n4\n"), "");
}

TEST(MatrixMarket, RefusesDenseHeadersThatNoFileCanKeep) {
  const auto header = [](const std::string& symmetry, const std::string& sizes) {
    return complaint("%%MatrixMarket matrix array real " + symmetry + "\n" + sizes + "\n1\n");
  };
  // Products that are 0, 4 and -4 where they overflow.
  for (const char* sizes : {"4 4611686018427387904", "4611686018427387905 4", "9223372036854775807 4"}) {
    EXPECT_NE(header("general", sizes).find("a.mtx:2: found sizes '"), std::string::npos) << sizes;
    EXPECT_NE(header("general", sizes).find("entries in all"), std::string::npos) << sizes;
  }
  EXPECT_NE(header("symmetric", "9223372036854775807 9223372036854775807").find("entries in all"), std::string::npos);
  EXPECT_NE(header("general", "99999999999999999999 1").find("a.mtx:2: found sizes '"), std::string::npos);
  EXPECT_EQ(header("symmetric", "3000000000 3000000000"),
            "a.mtx:3: the file is truncated: 1 of 4500000001500000000 entries");
  EXPECT_EQ(header("symmetric", "2 3"),
            "a.mtx:2: found a symmetric matrix with 2 rows and 3 columns; allowed: a square one");
  EXPECT_EQ(header("skew-symmetric", "2 2"),
            "a.mtx:1: found a dense skew-symmetric matrix; allowed: dense general or symmetric");
  EXPECT_EQ(complaint("%%MatrixMarket matrix array pattern general\n1 1\n1\n"),
            "a.mtx:1: found a dense pattern; allowed: dense real or integer");
}

TEST(MatrixMarket, UnfoldsADenseSymmetricFile) {
  const std::string text = "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n";
  EXPECT_EQ(plainMatrixMarket(text, inspectMatrixMarket(text, "a.mtx")),
            "%%MatrixMarket matrix array real general\n3 3\n1\n2\n3\n2\n4\n5\n3\n5\n6\n");
}

TEST(MatrixMarket, LeavesOutWhatTpetraDoesNotTake) {
  const auto plain = [](const std::string& text) {
    return plainMatrixMarket(text, inspectMatrixMarket(text, "a.mtx"));
  };
  const std::string entries = "2 2 3\n1 1 4.0\n2 1 -1.0\n2 2 4.0\n";
  EXPECT_EQ(plain(sound), "%%MatrixMarket matrix coordinate real general\n" + entries);
  const std::string asItStands = "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n" + entries;
  EXPECT_EQ(plain(asItStands), asItStands);
  EXPECT_EQ(plain("%%MatrixMARKET matrix coordinate integer symmetric\n" + entries),
            "%%MatrixMarket matrix coordinate real symmetric\n" + entries);
}

TEST(MatrixFiles, AreReadOnceForEachTimeTheyWereLookedAt) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("a.mtx", sound);
  MatrixFiles files(1e6);
  EXPECT_EQ(files.inspect(path).entries, 3);
  EXPECT_EQ(files.inspect(path).entries, 3);
  MPI_Barrier(MPI_COMM_WORLD);
  folder.file("a.mtx", "changed");
  EXPECT_EQ(files.take(path).text, sound);
  EXPECT_EQ(files.take(path).text, sound);
  EXPECT_THROW(files.take(path), FileError) << "what was taken as often as it was looked at is not kept";
  MatrixFiles none(10);
  MPI_Barrier(MPI_COMM_WORLD);
  folder.file("a.mtx", sound);
  none.inspect(path);
  MPI_Barrier(MPI_COMM_WORLD);
  folder.file("a.mtx", "changed");
  EXPECT_THROW(none.take(path), FileError) << "what does not fit is read again";
}

TEST(MatrixMarket, AcceptsPatternAndWindowsLineEnds) {
  EXPECT_EQ(complaint("%%MatrixMarket matrix coordinate pattern general\r\n2 2 1\r\n1 2\r\n"), "");
}

TEST(MatrixMarket, SaysWhereATruncatedFileEnds) {
  EXPECT_EQ(complaint(sound.substr(0, sound.rfind("2 2 4.0"))), "a.mtx:6: the file is truncated: 2 of 3 entries");
  EXPECT_EQ(complaint(sound.substr(0, sound.rfind(" 4.0"))),
            "a.mtx:7: found '2 2'; allowed: row and column, from 1 to 2 and 2, and a finite value");
  EXPECT_EQ(complaint("%%MatrixMarket matrix coordinate real general\n% no more\n"),
            "a.mtx:2: the file ends before the line with the sizes");
  EXPECT_EQ(complaint(""), "a.mtx: the file is empty");
}

TEST(MatrixMarket, RefusesWhatIsNoMatrixMarketFile) {
  EXPECT_NE(complaint("linear_solvers:\n").find("a.mtx:1: found 'linear_solvers:'; allowed: a Matrix Market banner"),
            std::string::npos);
  EXPECT_NE(complaint(replaced(sound, "real", "complex")).find("field 'complex'"), std::string::npos);
  EXPECT_NE(complaint(replaced(sound, "general", "hermitian")).find("symmetry 'hermitian'"), std::string::npos);
  EXPECT_NE(complaint(replaced(sound, "2 2 3", "2 x 3")).find("a.mtx:4: found sizes '2 x 3'"), std::string::npos);
  EXPECT_NE(complaint(replaced(sound, "2 2 3", "2 2 2")).find("3 entries, but the size line says 2"),
            std::string::npos);
}

TEST(MatrixMarket, LooksAtEveryEntry) {
  for (const char* wrong : {"2 2 two", "2 2 4.0 1", "3 2 4.0", "2 0 4.0", "2 x 4.0", "2 2 nan", "2 2 1e999"}) {
    EXPECT_EQ(
        complaint(replaced(sound, "2 2 4.0", wrong)),
        std::string("a.mtx:7: found '") + wrong + "'; allowed: row and column, from 1 to 2 and 2, and a finite value");
  }
  for (const char* right : {"2 2 +4", "2\t2  -4.5E-1 ", "2 2 .5"}) {
    EXPECT_EQ(complaint(replaced(sound, "2 2 4.0", right)), "") << right;
  }
  EXPECT_EQ(complaint("%%MatrixMarket matrix array real general\n1 1\n1 2\n"),
            "a.mtx:3: found '1 2'; allowed: one finite value a line");
}

TEST(MatrixMarket, ReadsGzipAndTellsADamagedOne) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("a.mtx.gz", "");
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  std::string text = "%%MatrixMarket matrix array real general\n20000 1\n";
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919 % 10007) + ".5\n";
  gzFile out = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(out, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  gzclose(out);
  EXPECT_EQ(readText(path), text);

  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  try {
    readText(path);
    ADD_FAILURE() << "half a gzip file was read";
  } catch (const FileError& error) {
    EXPECT_EQ(error.what(), path + ": the gzip file is truncated");
  }
}

TEST(MatrixMarket, NamesAMissingFile) {
  EXPECT_THROW(readText("/no/such/file.mtx"), FileError);
  EXPECT_THROW(readText("/tmp"), FileError);
}

TEST(MatrixMarket, TakesRelativePathsFromTheFolderGiven) {
  EXPECT_EQ(resolvePath("a.mtx", "decks"), "decks/a.mtx");
  EXPECT_EQ(resolvePath("../a.mtx", "decks"), "a.mtx");
  EXPECT_EQ(resolvePath("/a.mtx", "decks"), "/a.mtx");
}

}  // namespace
}  // namespace capstan::deck
