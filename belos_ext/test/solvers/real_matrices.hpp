#pragma once
/// \file
/// The real matrices kept beside the repository, where there are any.

#include <filesystem>
#include <string>
#include <vector>

#include "belos_ext/test/solvers/solver_suite.hpp"

namespace capstan::testing {

/// Where they are.
inline std::filesystem::path matrixFolder() { return CAPSTAN_SHARED_MATRICES; }

/// Skips the test with a message where there is no folder of matrices.
#define CAPSTAN_NEEDS_REAL_MATRICES() \
  if (!std::filesystem::is_directory(matrixFolder())) GTEST_SKIP() << "no folder " << matrixFolder() << " with matrices"

/// A file of a case from the field: in the folder CAPSTAN_FIELD_CASES of the environment, or beside the matrices.
std::filesystem::path fieldCase(const std::string& name, const std::string& file);
#define CAPSTAN_NEEDS_FIELD_CASES()                      \
  if (!std::filesystem::is_directory(fieldCase("", ""))) \
  GTEST_SKIP() << "no folder " << fieldCase("", "") << " of cases"

/// The names of all matrices, sorted, without those of their right-hand sides and solutions.
std::vector<std::string> matrixNames();
/// The symmetric positive definite ones, as the manifest has them.
std::vector<std::string> definiteNames();
/// The nonsymmetric ones, as the manifest has them.
std::vector<std::string> nonsymmetricNames();

/// Bytes of a matrix's file, for choosing what is read quickly.
std::uintmax_t fileSize(const std::string& name);

/// The matrix in a file *.mtx.gz, and a dense one. Collective over `comm`.
RCP<CrsMatrix> matrixIn(const std::filesystem::path& file,
                        const RCP<const Teuchos::Comm<int>>& comm = Tpetra::getDefaultComm());
RCP<MultiVector> vectorsIn(const std::filesystem::path& file, RCP<const Map> map);

/// The matrix with its right-hand side, or one with a known solution where it has none. Jacobi; x = 0. Collective.
System systemFrom(const std::string& name);

}  // namespace capstan::testing
