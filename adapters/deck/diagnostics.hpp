#pragma once
/// \file
/// Errors and warnings about what a user wrote: where, what was found, what is allowed.

#include <stdexcept>
#include <string>
#include <vector>

namespace capstan::deck {

/// The input is wrong; what() is the whole message, one problem a line. Thrown alike on all ranks.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where in a deck something stands.
struct Place {
  std::string file;
  std::string path;  ///< key path, such as linear_solvers[1].tolerance
  int line = 0;      ///< from 1; 0: unknown (given on the command line)
  int column = 0;

  /// "deck.yaml:14:5: linear_solvers[1].tolerance"
  std::string text() const;
};

/// Collects problems, so that a user sees all of them at once. Local; no communication.
class Diagnostics {
 public:
  /// Records `place: message`.
  void error(const Place& place, const std::string& message);
  void warning(const Place& place, const std::string& message);
  /// Records errors that name their place already.
  void append(const std::vector<std::string>& errors);

  bool failed() const { return !errors_.empty(); }
  const std::vector<std::string>& errors() const { return errors_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// \throws InputError with every error recorded, when there is one.
  void throwIfFailed() const;

 private:
  std::vector<std::string> errors_;
  std::vector<std::string> warnings_;
};

/// "a, b or c". Local.
std::string oneOf(const std::vector<std::string>& words);

}  // namespace capstan::deck
