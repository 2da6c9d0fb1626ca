#pragma once
/// \file
/// The Matrix Market files of a deck, each read and checked once: when the deck is, and not again when its systems are
/// built.

#include <map>
#include <string>

#include "adapters/deck/matrix_market.hpp"

namespace capstan::deck {

/// A sound file: what its header says, and its text.
struct MatrixFile {
  MatrixMarketInfo info;
  std::string text;
};

/// Reads a file and checks it from end to end. Local. \throws FileError
MatrixFile readMatrixFile(const std::string& path);

/// Keeps the files that were looked at until they are used. Lives on the rank that reads. Local.
class MatrixFiles {
 public:
  /// \param mostKept bytes of text to keep at most; what does not fit is read again
  explicit MatrixFiles(double mostKept) : mostKept_(mostKept) {}

  /// Reads and checks a file for a later take(). \throws FileError
  MatrixMarketInfo inspect(const std::string& path);

  /// The file, read where inspect() has not kept it. Each inspect() keeps it for one take(). \throws FileError
  MatrixFile take(const std::string& path);

 private:
  struct Kept {
    MatrixFile file;
    int uses = 1;
  };

  double mostKept_;
  double bytes_ = 0;
  std::map<std::string, Kept> kept_;
};

}  // namespace capstan::deck
