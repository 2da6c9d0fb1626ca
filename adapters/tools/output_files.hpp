#pragma once
/// \file
/// The files that a run writes, looked at before it begins: each can be written, and none takes the place of another
/// one or of a file that the run reads.

#include <string>
#include <vector>

#include "adapters/deck/deck.hpp"

namespace capstan::tools {

/// A file, and what names it.
struct NamedFile {
  std::string who;   ///< for people: "--report", "deck.yaml:14:5: systems[0].rhs"
  std::string path;  ///< empty: none
};

/// Why these files cannot be written, a line each. Local; for the rank that writes.
std::vector<std::string> whyNotWritable(const std::vector<NamedFile>& outputs);

/// Which of `outputs`, and of the files that the deck has its solvers write, would replace one another or a file that
/// the run reads, a line each: both names lead to the same file, by whatever spelling or link. What is written through
/// (terminals, pipes, /dev/null) may be named more than once. Local; for the rank that writes.
std::vector<std::string> whatIsOverwritten(const std::vector<NamedFile>& outputs, const deck::Deck& deck);

}  // namespace capstan::tools
