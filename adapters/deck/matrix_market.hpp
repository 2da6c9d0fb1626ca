#pragma once
/// \file
/// Matrix Market files, plain or gzip: their text and a check of it before anything is built from them.

#include <stdexcept>
#include <string>

namespace capstan::deck {

/// A file that cannot be read or is no sound Matrix Market file. what() starts with the file's path.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the banner and the size line of a Matrix Market file say.
struct MatrixMarketInfo {
  bool coordinate = true;  ///< false: array (dense)
  std::string field;       ///< real, double (the same), integer or pattern
  std::string symmetry;    ///< general, symmetric or skew-symmetric
  long long rows = 0;
  long long columns = 0;
  long long entries = 0;  ///< stored ones
};

/// Path with "~/" expanded and, when it is relative, taken from `folder`. Local.
std::string resolvePath(const std::string& path, const std::string& folder);

/// The whole text of a file, decompressed when it is gzip (told by content, not by name). Local.
/// \throws FileError when it is missing, unreadable, or a damaged or truncated gzip file.
std::string readText(const std::string& path);

/// Checks Matrix Market text from end to end: banner, size line, number of data lines, every entry. `path` is for
/// messages. Local. \throws FileError with file and line.
MatrixMarketInfo inspectMatrixMarket(const std::string& text, const std::string& path);

/// The same matrix in text that Tpetra's reader takes: without Windows' line ends and blank lines, its banner in the
/// usual case, real where it is double or a pattern, whose entries are 1, and a dense symmetric matrix with both its
/// triangles. `text` has passed inspectMatrixMarket, which told `info`. Local.
std::string plainMatrixMarket(std::string text, const MatrixMarketInfo& info);

}  // namespace capstan::deck
