#pragma once
/// \file
/// A folder for a test's files, the same on all ranks, made by rank 0 and removed by it at the end.

#include <mpi.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

namespace capstan::deck::test {

class TemporaryFolder {
 public:
  /// Collective.
  TemporaryFolder() {
    std::array<char, 64> name{"/tmp/capstan-deck-XXXXXX"};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (rank_ == 0 && mkdtemp(name.data()) == nullptr) name[0] = '\0';
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = name.data();
  }
  ~TemporaryFolder() {
    MPI_Barrier(MPI_COMM_WORLD);
    std::error_code ignored;
    if (rank_ == 0) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Writes a file; the path is the same everywhere. Collective.
  std::string file(const std::string& name, const std::string& text) const {
    const std::string path = path_ + "/" + name;
    if (rank_ == 0) std::ofstream(path, std::ios::binary) << text;
    MPI_Barrier(MPI_COMM_WORLD);
    return path;
  }

 private:
  int rank_ = 0;
  std::string path_;
};

}  // namespace capstan::deck::test
