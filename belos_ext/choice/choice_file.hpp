#pragma once

/// \file
/// "Choice File": what CAPSTAN has found out of systems, for later runs. JSON. All of it is local but what says so.

#include <string>
#include <vector>

#include "belos_ext/choice/chooser.hpp"

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan {

/// What a system was solved on, and how. What differs in none of it is the same system on the same machine.
struct ChoiceKey {
  std::string system;  ///< its name, or "system N" where it has none
  std::string mode;    ///< "Choice"
  std::string preconditioner, machine;
  int ranks = 0;
  long long rows = 0;  ///< of all ranks

  bool operator==(const ChoiceKey& other) const {
    return system == other.system && mode == other.mode && preconditioner == other.preconditioner &&
           machine == other.machine && ranks == other.ranks && rows == other.rows;
  }
};

/// The content of a choice file: an entry for each key, the newest first.
class ChoiceFile {
 public:
  static constexpr std::size_t mostEntries = 256;  ///< older ones are forgotten

  struct Entry {
    ChoiceKey key;
    ChoiceKnowledge known;
  };

  /// \param text of the file `path`; empty: a file that is not there yet
  /// Throws std::invalid_argument where it is no choice file: with its name, the place, what is found and allowed.
  ChoiceFile(const std::string& path, const std::string& text);

  /// That of the key; else the one of the same system that differs from it in the least, the newest of these; null:
  /// there is none of that system.
  const Entry* find(const ChoiceKey& key) const;
  void put(Entry entry);
  std::string text() const;
  /// Their systems, each once.
  std::vector<std::string> systems() const;

 private:
  std::vector<Entry> entries_;
};

/// The processor and the Kokkos space of this process, for people and to know it again.
/// \param space the name of the execution space
std::string machineName(const std::string& space);
/// That of rank 0, which writes the file: nodes may have other processors, and all ranks look for the same key.
/// Collective: two broadcasts.
std::string machineName(const std::string& space, const Teuchos::Comm<int>& comm);

/// The content of a choice file, read by rank 0. Collective: two broadcasts. Throws on all ranks alike, as ChoiceFile()
/// or because it cannot be read.
ChoiceFile readChoiceFile(const std::string& path, const Teuchos::Comm<int>& comm);

/// Puts an entry among those that are there, and replaces the file as a whole. What cannot be written is told once, on
/// `out`, and nothing is lost of what is there. Call it on one rank.
void keepInChoiceFile(const std::string& path, ChoiceFile::Entry entry, std::ostream& out);

}  // namespace capstan
