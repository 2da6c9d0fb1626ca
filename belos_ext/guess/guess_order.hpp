#pragma once
/// \file
/// What the solves of a key begin with: known alike on all ranks before they have exchanged a message.
///
/// A method checks in its first reduction whether the ranks have the same parameters; before that it multiplies by A
/// and M. A guess comes before the method, with products and a reduction of its own, so that a rank which knows nothing
/// of it would wait for other messages. Neither parameters nor what a rank has kept can decide about the order, for
/// both may differ. What cannot differ is the past of a communicator: what the ranks agreed on in the last solve of
/// that key. So the first solve with "Initial Guess" has none (there is nothing to make it of), and the first one with
/// another value begins as those before it did.
///
/// Likewise for "Initial Residual": the method leaves out a product only where the last solve of that key knew of it.
///
/// It is noted with the communicator object (Teuchos::RCP's extra data), for the last tuning::guess::mostKeys keys.
/// Where an application makes a new communicator object for each solve, there are no guesses.

#include <Teuchos_RCP.hpp>
#include <algorithm>
#include <list>
#include <utility>

#include "belos_ext/parameters/tuning.hpp"
#include "belos_ext/problem/state_key.hpp"

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan {

enum class GuessOrder {
  Method,    ///< with the method
  Known,     ///< with the method, which is told the residual of the application's own x
  Residual,  ///< with the residual of the application's own x, and a reduction
  Both       ///< with that and the residual of a guess, and a reduction
};

/// What the ranks of a communicator have agreed on.
class GuessOrders {
 public:
  using Comm = Teuchos::RCP<const Teuchos::Comm<int>>;

  /// Local.
  static GuessOrder of(const Comm& comm, const StateKey& key) {
    const auto noted = Teuchos::get_optional_extra_data<Noted>(comm, name);
    if (noted.is_null()) return GuessOrder::Method;
    const auto found = std::find_if(noted->begin(), noted->end(), [&](const auto& one) { return one.first == key; });
    return found == noted->end() ? GuessOrder::Method : found->second;
  }

  /// Local; call it alike on all ranks.
  static void note(Comm comm, const StateKey& key, GuessOrder order) {
    if (order == of(comm, key)) return;
    if (Teuchos::get_optional_extra_data<Noted>(comm, name).is_null()) {
      Teuchos::set_extra_data(Noted(), name, Teuchos::inOutArg(comm));
    }
    auto& noted = Teuchos::get_nonconst_extra_data<Noted>(comm, name);
    noted.remove_if([&](const auto& one) { return one.first == key; });
    if (order != GuessOrder::Method) noted.emplace_front(key, order);
    if (noted.size() > tuning::guess::mostKeys) noted.pop_back();
  }

 private:
  using Noted = std::list<std::pair<StateKey, GuessOrder>>;
  static constexpr const char* name = "Capstan: guesses";
};

}  // namespace capstan
