#pragma once

/// \file
/// What CAPSTAN knows of each system of a communicator.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "belos_ext/choice/arm.hpp"
#include "belos_ext/choice/choice_file.hpp"
#include "belos_ext/manager/system_numbers.hpp"

namespace capstan {

/// The same on all ranks, but for `waiting`, which holds this rank's seconds, and `written`, of the rank that writes.
struct SystemChoice {
  std::string madeFor;  ///< what the arms depend on, as it was
  std::vector<Arm> arms;
  std::optional<Chooser> chooser;
  bool unsure = false;                 ///< nobody knows whether A is symmetric: its rows cannot be read
  ChoiceKey key;                       ///< in "Choice File"
  std::string written;                 ///< the best arm as it was written there last
  std::string said;                    ///< the choice that was told last, by the name of its arm
  std::size_t last = 0;                ///< the arm of the last solve
  std::optional<Observation> waiting;  ///< what it has shown, until the next solve sums it over the ranks
};

/// Of the systems of a communicator. Not thread-safe: solves of a communicator come one
/// after the other.
class SystemChoices {
 public:
  static SystemChoices& of(const Teuchos::Comm<int>& comm);

  /// \param system its number, as SystemNumbers of this communicator counts it
  SystemChoice& of(int system) {
    // Those that are counted no more are not asked for again.
    while (choices_.size() >= SystemNumbers::capacity && choices_.find(system) == choices_.end()) {
      choices_.erase(choices_.begin());
    }
    return choices_[system];
  }

 private:
  std::map<int, SystemChoice> choices_;
};

}  // namespace capstan
