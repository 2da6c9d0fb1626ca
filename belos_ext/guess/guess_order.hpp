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
/// The first solve after those at x = 0 that has another guess begins as they did, and once more with its guess when
/// the ranks have agreed: 1 A, 1 M^{-1} and a reduction or two more.
///
/// It is noted with the communicator object (Teuchos::RCP's extra data), for the last tuning::guess::mostKeys keys.
/// Where an application makes a new communicator object for each solve, there are no guesses.

#include <Teuchos_RCP.hpp>
#include <Teuchos_TypeNameTraits.hpp>
#include <algorithm>
#include <list>
#include <memory>
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
  Zero,      ///< with the method, at x = 0, whose residual is b
  Residual,  ///< with the residual of the application's own x, and a reduction
  Both       ///< with that and the residual of a guess, and a reduction
};

/// By key, the latest first.
struct NotedOrders {
  std::list<std::pair<StateKey, GuessOrder>> orders;
};

}  // namespace capstan

/// Extra data is looked up by the name of its type, which demangling would make every time.
template <>
class Teuchos::TypeNameTraits<std::shared_ptr<capstan::NotedOrders>> {
 public:
  static std::string name() { return "std::shared_ptr<capstan::NotedOrders>"; }
  static std::string concreteName(const std::shared_ptr<capstan::NotedOrders>&) { return name(); }
};

namespace capstan {

/// What the ranks of a communicator have agreed on.
class GuessOrders {
 public:
  using Comm = Teuchos::RCP<const Teuchos::Comm<int>>;

  /// Finds what is noted with this communicator; the last one found is kept, for the look-up is not cheap. Local.
  void open(Comm comm) {
    if (comm.get() == comm_.get()) return;
    comm_ = comm;
    const auto known = Teuchos::get_optional_extra_data<Shared>(comm_, name);
    if (known.is_null()) {
      noted_ = std::make_shared<NotedOrders>();
      Teuchos::set_extra_data(noted_, name, Teuchos::inOutArg(comm_));
    } else {
      noted_ = *known;
    }
  }

  /// Local.
  GuessOrder of(const StateKey& key) const {
    const auto& all = noted_->orders;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == key; });
    return found == all.end() ? GuessOrder::Method : found->second;
  }

  /// Local; call it alike on all ranks.
  void note(const StateKey& key, GuessOrder order) {
    if (order == of(key)) return;
    auto& all = noted_->orders;
    all.remove_if([&](const auto& one) { return one.first == key; });
    if (order != GuessOrder::Method) all.emplace_front(key, order);
    if (all.size() > tuning::guess::mostKeys) all.pop_back();
  }

 private:
  using Shared = std::shared_ptr<NotedOrders>;
  static constexpr const char* name = "Capstan: guesses";

  Comm comm_;
  Shared noted_;
};

}  // namespace capstan
