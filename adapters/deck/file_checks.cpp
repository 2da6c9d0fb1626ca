#include "adapters/deck/file_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "adapters/deck/matrix_files.hpp"

namespace capstan::deck {

namespace {

/// Reads through one file of vectors; the number of columns, or 0. Rank 0 only.
long long inspectVector(MatrixFiles& files, const std::string& file, const Place& place, long long rows,
                        const SystemLimits& limits, Diagnostics& diagnostics) {
  if (file.empty()) return 0;
  try {
    const auto info = files.inspect(file);
    if (info.coordinate) {
      diagnostics.error(
          place, fmt::format("{}: found a sparse matrix; allowed: a dense one (array) with one or more columns", file));
    } else if (rows > 0 && info.rows != rows) {
      diagnostics.error(place, fmt::format("{}: found {} rows; allowed: {}, as the matrix has", file, info.rows, rows));
    } else if (const auto wrong = vectorSizeProblem(info.rows, info.columns, limits); !wrong.empty()) {
      diagnostics.error(place, fmt::format("{}: {}", file, wrong));
    }
    return info.columns;
  } catch (const FileError& error) {
    diagnostics.error(place, error.what());
    return 0;
  }
}

}  // namespace

void checkFileNames(const Deck& deck, Diagnostics& diagnostics) {
  constexpr std::size_t longest = 100;  // bytes; two of them, a number and an ending make a name
  const auto check = [&](const std::string& name, Place place) {
    const bool usable = name.size() <= longest && std::none_of(name.begin(), name.end(), [](unsigned char c) {
                          return c == '/' || std::iscntrl(c) != 0;
                        });
    if (usable) return;
    place.path += ".name";
    diagnostics.error(place, fmt::format("found '{}'; allowed with write_matrix_files: a name that can be part of a "
                                         "file name, without '/' and of at most {} bytes",
                                         name, longest));
  };
  std::set<std::string> seen;
  for (const auto& system : deck.systems) {
    const auto writes = [&](std::size_t index) { return deck.linearSolvers[index].writeMatrixFiles; };
    if (std::any_of(system.solvers.begin(), system.solvers.end(), writes)) check(system.name, system.place);
    for (const auto index : system.solvers) {
      const auto& solver = deck.linearSolvers[index];
      if (solver.writeMatrixFiles && seen.insert(solver.name).second) check(solver.name, solver.place);
    }
  }
}

void inspectFiles(const SystemOptions& system, const SystemLimits& limits, Diagnostics& diagnostics) {
  long long rows = 0;
  // What cannot be numbered has been found already.
  if (system.generator) rows = static_cast<long long>(std::min(generatedRows(*system.generator), 9e18));
  if (!system.matrixFile.empty()) {
    try {
      const auto info = system.files->inspect(system.matrixFile);
      rows = info.rows;
      if (!info.coordinate) {
        diagnostics.error(
            system.matrixPlace,
            fmt::format("{}: found a dense matrix; allowed: a sparse one (coordinate)", system.matrixFile));
      } else if (info.rows != info.columns) {
        diagnostics.error(system.matrixPlace, fmt::format("{}: found {} rows and {} columns; allowed: a square matrix",
                                                          system.matrixFile, info.rows, info.columns));
      } else if (const auto wrong =
                     fileSizeProblem(static_cast<double>(info.rows), static_cast<double>(info.entries), limits);
                 !wrong.empty()) {
        diagnostics.error(system.matrixPlace, fmt::format("{}: {}", system.matrixFile, wrong));
      }
    } catch (const FileError& error) {
      diagnostics.error(system.matrixPlace, error.what());
    }
  }
  const long long columns = inspectVector(*system.files, system.rhsFile, system.rhsPlace, rows, limits, diagnostics);
  const long long guesses =
      inspectVector(*system.files, system.guessFile, system.guessPlace, rows, limits, diagnostics);
  const long long wanted = system.rhsFile.empty() ? 1 : columns;
  if (guesses > 0 && wanted > 0 && guesses != wanted) {
    diagnostics.error(system.guessPlace, fmt::format("{}: found {} columns; allowed: {}, as the right-hand side has",
                                                     system.guessFile, guesses, wanted));
  }
}

}  // namespace capstan::deck
