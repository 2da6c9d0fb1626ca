// Which of a process's libraries belong to another Trilinos than the plugin's.
#include "adapters/preload/loaded_libraries.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "adapters/preload/library_file.hpp"

namespace capstan {
namespace {

using Names = std::vector<std::string>;

const Names own = {"libtrilinos_belos.so.13.2", "libtrilinos_tpetra.so.13.2", "libmpi.so.40"};

TEST(OtherTrilinos, IsALibraryOfTheSameStem) {
  EXPECT_EQ(stemOfLibrary("libtrilinos_tpetra.so.13.2"), "tpetra");
  EXPECT_EQ(stemOfLibrary("libtpetra.so.16"), "tpetra");
  EXPECT_EQ(otherTrilinos(own, {"libc.so.6", "libtpetra.so.16", "libtrilinos_tpetra.so.13.2"}),
            Names{"libtpetra.so.16 (not libtrilinos_tpetra.so.13.2)"});
  EXPECT_EQ(otherTrilinos(own, {"libtrilinos_belos.so.14"}),
            Names{"libtrilinos_belos.so.14 (not libtrilinos_belos.so.13.2)"});
}

TEST(OtherTrilinos, MpiCountsToo) {
  EXPECT_EQ(otherTrilinos(own, {"libtrilinos_belos.so.13.2", "libmpi.so.12"}),
            Names{"libmpi.so.12 (not libmpi.so.40)"});
}

// MPICH, Cray and others have names of their own.
TEST(OtherTrilinos, IsOneWithAnMpiOfAnotherName) {
  const auto about = [](const char* mpi, const Names& needed = own) {
    return aboutOtherTrilinos("libcapstan.so", needed, {needed[0], needed[1], mpi});
  };
  const std::string start = "this program uses another MPI than libcapstan.so was built with: ";
  EXPECT_EQ(about("libmpich.so.12").rfind(start + "libmpich.so.12 (not libmpi.so.40). Its", 0), 0U);
  EXPECT_EQ(about("libmpi_gnu_123.so.12").rfind(start + "libmpi_gnu_123.so.12 (not libmpi.so.40). Its", 0), 0U);
  EXPECT_EQ(about("libmsmpi.so.1").rfind(start + "libmpi.so.40 is not among its libraries. Its", 0), 0U);
  const Names cray = {own[0], own[1], "libmpi_gnu_123.so.12"};
  EXPECT_EQ(about("libmpi_gnu_123.so.12", cray), "");
  EXPECT_EQ(aboutOtherTrilinos("libcapstan.so", {own[0], own[1], "libmpi_gtl_hsa.so.0", "libmpi_gnu_123.so.12"}, cray),
            "");
  EXPECT_EQ(about("libmpi.so.40", cray).rfind(start + "libmpi.so.40 (not libmpi_gnu_123.so.12). Its", 0), 0U);
  EXPECT_EQ(aboutOtherTrilinos("libcapstan.so", {own[0], own[1], "libmpi_cxx.so.40", "libmpi.so.40"}, own), "");
}

TEST(OtherTrilinos, IsNotOnesOwnNorSomebodyElses) {
  EXPECT_EQ(otherTrilinos(own, own), Names{});
  EXPECT_EQ(otherTrilinos(own, {"libtrilinos_tpetraext.so.14", "libmpi_cxx.so.12", ""}), Names{});
  EXPECT_EQ(otherTrilinos({"libc.so.6"}, {"libtpetra.so.16"}), Names{}) << "linked statically: nothing to compare with";
}

TEST(OtherTrilinos, IsToldInASentence) {
  EXPECT_EQ(aboutOtherTrilinos("libcapstan.so", own, own), "");
  const std::string text = aboutOtherTrilinos("libcapstan.so", own, {"libmpi.so.12", "libtrilinos_belos.so.14"});
  EXPECT_EQ(text.find("this program uses another Trilinos than libcapstan.so was built with: libmpi.so.12 (not "
                      "libmpi.so.40), libtrilinos_belos.so.14 (not libtrilinos_belos.so.13.2). Its solves stay"),
            0U)
      << text;
  EXPECT_EQ(aboutOtherTrilinos("libcapstan.so", own, {"libmpi.so.12"}).find("this program uses another MPI than "), 0U);
}

// What is read from a file is what the loader has read from it.
TEST(LibraryFile, NeedsWhatTheLoaderFinds) {
  const link_map* const library = libraryThatHolds(reinterpret_cast<const void*>(&stemOfLibrary));
  ASSERT_NE(library, nullptr);
  const std::string file = library->l_name[0] == '\0' ? "/proc/self/exe" : library->l_name;
  EXPECT_FALSE(neededBy(file).empty());
  EXPECT_EQ(neededBy(file), textsOf(*library, DT_NEEDED));
}

TEST(LibraryFile, IsNoneOfTextsAndMissingFiles) {
  EXPECT_EQ(neededBy("/nowhere"), Names{});
  EXPECT_EQ(neededBy("/proc/self/status"), Names{});
  const std::string file = testing::TempDir() + "capstan_library_file_test";
  for (const std::string& text : {std::string("no library"),
                                  std::string("\x7f"
                                              "ELF\x02\x01\x01"),
                                  std::string()}) {
    std::ofstream(file, std::ios::binary) << text;
    EXPECT_EQ(neededBy(file), Names{}) << text;
  }
  std::remove(file.c_str());
}

TEST(LibraryFile, HoldsBytes) {
  const std::string file = testing::TempDir() + "capstan_library_file_test";
  std::ofstream(file, std::ios::binary) << std::string("a\0b N5Belos13SolverManager", 27);
  EXPECT_TRUE(fileHolds(file, "N5Belos13SolverManager"));
  EXPECT_FALSE(fileHolds(file, "N5Belos13SolverFactory"));
  EXPECT_FALSE(fileHolds("/nowhere", "N"));
  std::remove(file.c_str());
}

}  // namespace
}  // namespace capstan
