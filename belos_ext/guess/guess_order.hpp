#pragma once
/// \file
/// Whether the solves of a key begin with a guess: known alike on all ranks before they have exchanged a message.
///
/// A method checks in its first reduction whether the ranks have the same parameters; before that it multiplies by A
/// and M. A guess comes before the method, with a reduction of its own, so that a rank which does not know of the guess
/// would wait for other messages. Neither parameters nor what a rank has kept can decide about the order, for both may
/// differ. What cannot differ is the past of a communicator: whether the ranks agreed, in the last solve of that key,
/// to have guesses. So the first solve with "Initial Guess" has none (there is nothing to make it of), and the first
/// one without it begins as the others did, with a reduction more.
///
/// It is noted with the communicator object (Teuchos::RCP's extra data), for the last 64 keys. Where an application
/// makes a new communicator object for each solve, there are no guesses.

#include <Teuchos_RCP.hpp>
#include <algorithm>
#include <list>

#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/problem/state_key.hpp"

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan {

class GuessOrder {
 public:
  using Comm = Teuchos::RCP<const Teuchos::Comm<int>>;

  /// Whether the ranks of the communicator agreed to begin solves of this key with a guess. Local.
  static bool first(const Comm& comm, const StateKey& key) {
    const auto keys = Teuchos::get_optional_extra_data<std::list<StateKey>>(comm, name);
    return !keys.is_null() && std::find(keys->begin(), keys->end(), key) != keys->end();
  }

  /// Notes what the ranks have agreed on. Local; call it alike on all ranks.
  static void note(Comm comm, const StateKey& key, bool guesses) {
    if (guesses == first(comm, key)) return;
    if (Teuchos::get_optional_extra_data<std::list<StateKey>>(comm, name).is_null()) {
      Teuchos::set_extra_data(std::list<StateKey>(), name, Teuchos::inOutArg(comm));
    }
    auto& keys = Teuchos::get_nonconst_extra_data<std::list<StateKey>>(comm, name);
    if (!guesses) return keys.remove(key);
    keys.push_front(key);
    if (keys.size() > tuning::guess::mostKeys) keys.pop_back();
  }

 private:
  static constexpr const char* name = "Capstan: guesses";
};

}  // namespace capstan
