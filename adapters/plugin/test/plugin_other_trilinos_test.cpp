// Which of a process's libraries belong to another Trilinos than the plugin's.
#include <gtest/gtest.h>

#include "adapters/plugin/other_trilinos.hpp"

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

TEST(OtherTrilinos, IsNotOnesOwnNorSomebodyElses) {
  EXPECT_EQ(otherTrilinos(own, own), Names{});
  EXPECT_EQ(otherTrilinos(own, {"libtrilinos_tpetraext.so.14", "libmpi_cxx.so.12", ""}), Names{});
  EXPECT_EQ(otherTrilinos({"libc.so.6"}, {"libtpetra.so.16"}), Names{}) << "linked statically: nothing to compare with";
}

}  // namespace
}  // namespace capstan
