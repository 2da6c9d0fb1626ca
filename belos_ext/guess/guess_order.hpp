#pragma once
/// \file
/// What the solves of a key begin with: known alike on all ranks before they have exchanged a message.
///
/// A method checks in its first reduction whether the ranks have the same parameters; before that it multiplies by A
/// and M. A guess comes before the method, with products and a reduction of its own, so that a rank which knows nothing
/// of it would wait for other messages. Neither parameters nor what a rank has kept can decide about the order, for
/// both may differ. What cannot differ is the past of a communicator: what the ranks agreed on in the last solve of
/// that key, which no parameter is part of. So the first solve with "Initial Guess" has none (there is nothing to make
/// it of), and the first one with another value begins as those before it did.
///
/// Several solvers may solve with one matrix, and so with one key, but with other parameters each. They are told apart
/// by what cannot differ either: which of them were there already (SolverNumbers). Where all are made anew for each
/// solve they are one to us; so an order gives way to one of fewer messages only after tuning::guess::patience solves
/// in a row that have asked for no more than that.
///
/// Likewise for x = 0, where b - A x is b without a product: ranks see their own part of x only. So a solve begins at
/// zero where all earlier ones of as many equations and right-hand sides did, and learns in its first reduction whether
/// it does, too. Where it does not, it begins once more at its x, with 1 A, 1 M^{-1} and a reduction or two more, and
/// none of that size begins so any more.
///
/// It is noted with the communicator object (Teuchos::RCP's extra data), for the last tuning::guess::mostKeys keys,
/// solvers and sizes. Where an application makes a new communicator object for each solve, there are no guesses.

#include <Teuchos_RCP.hpp>
#include <Teuchos_TypeNameTraits.hpp>
#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "belos_ext/guess/guess_store.hpp"
#include "belos_ext/problem/state_key.hpp"

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan::tuning::guess {
/// So many solves in a row begin like those before them, with a reduction, although they want no guess. Chosen: as many
/// as those of another solver may be between two that do.
inline constexpr int patience = 4;
}  // namespace capstan::tuning::guess

namespace capstan {

enum class GuessOrder {
  Method,    ///< with the method
  Residual,  ///< with the residual of the application's own x, and a reduction
  Both       ///< with that and the residual of a guess, and a reduction
};

/// Global numbers of equations and of right-hand sides.
using SystemSize = std::pair<unsigned long long, std::size_t>;

/// Tells solvers of one system apart that are there at the same time.
///
/// A solver has the number it has had before, and a new one the least that none of those has that are still there. So
/// one that is made anew for every solve keeps its number, and so do several whose first solves come in one order.
///
/// Local. The numbers are the same on all ranks of a communicator, as those of SystemNumbers are: all ranks take part
/// in all of its solves, in one order, and objects come and go in one order.
class SolverNumbers {
 public:
  using Solver = std::shared_ptr<const void>;  ///< lives as long as the solver

  /// The number of a solver for the system of this key, whatever the key's own number and series, from 0.
  int of(const StateKey& key, const Solver& solver) const {
    std::set<int> taken;
    for (const Known& known : known_) {
      if (!known.key.sameSystem(key)) continue;
      const Solver other = known.solver.lock();
      if (other == solver) return known.key.solver;
      if (other != nullptr) taken.insert(known.key.solver);
    }
    int number = 0;
    while (taken.count(number) != 0) ++number;
    return number;
  }

  /// The same, and the solver keeps it.
  int take(StateKey key, const Solver& solver) {
    key.solver = of(key, solver);
    known_.remove_if([&](const Known& known) { return known.solver.expired() || known.key.sameSolver(key); });
    known_.push_front({key, solver});
    if (known_.size() > tuning::guess::mostKeys) known_.pop_back();
    return key.solver;
  }

 private:
  struct Known {
    StateKey key;
    std::weak_ptr<const void> solver;
  };
  std::list<Known> known_;  ///< the latest first
};

/// How solves of a key begin.
struct NotedOrder {
  GuessOrder order = GuessOrder::Method;
  int lesser = tuning::guess::patience + 1;  ///< solves in a row that have asked for less than that, or for no guess

  bool outlived() const { return lesser > tuning::guess::patience; }
};

/// By key and by size, the latest first.
struct NotedOrders {
  SolverNumbers solvers;
  std::list<std::pair<StateKey, NotedOrder>> orders;
  std::list<std::pair<SystemSize, bool>> zeroGuesses;  ///< whether all solves of that size have begun at zero
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

  /// Forgets what is noted with a communicator. Local; call it alike on all ranks.
  static void forget(Comm comm) {
    GuessOrders orders;
    orders.open(std::move(comm));
    *orders.noted_ = {};
  }

  SolverNumbers& solvers() { return noted_->solvers; }

  /// Local.
  NotedOrder of(const StateKey& key) const { return valueOf(noted_->orders, key).value_or(NotedOrder()); }

  /// Whether a solve of that size is taken to begin at x = 0. Local.
  bool presumesZero(const SystemSize& size) const { return valueOf(noted_->zeroGuesses, size).value_or(false); }

  /// The next solve is to begin so, as far as this one knows. Local; call it alike on all ranks.
  /// \param atOnce although it is less than solves before it have asked for
  void note(const StateKey& key, GuessOrder order, bool atOnce) {
    const NotedOrder known = of(key);
    const bool less = !atOnce && (order < known.order || order == GuessOrder::Method);
    NotedOrder next{order, less ? std::min(known.lesser, tuning::guess::patience) + 1 : 0};
    if (less && !next.outlived()) next.order = known.order;
    if (next.order != known.order || next.lesser != known.lesser) put(noted_->orders, key, next);
  }

  /// \param zero whether a solve of that size has begun at x = 0, on all ranks. Local; call it alike on all ranks.
  void noteZero(const SystemSize& size, bool zero) {
    auto& all = noted_->zeroGuesses;
    const bool always = zero && valueOf(all, size).value_or(true);
    if (all.empty() || all.front() != std::pair(size, always)) put(all, size, always);
  }

 private:
  using Shared = std::shared_ptr<NotedOrders>;
  static constexpr const char* name = "Capstan: guesses";

  template <class Key, class Value>
  static std::optional<Value> valueOf(const std::list<std::pair<Key, Value>>& all, const Key& key) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == key; });
    return found == all.end() ? std::nullopt : std::optional(found->second);
  }

  template <class Key, class Value>
  static void put(std::list<std::pair<Key, Value>>& all, const Key& key, Value value) {
    all.remove_if([&](const auto& one) { return one.first == key; });
    all.emplace_front(key, value);
    if (all.size() > tuning::guess::mostKeys) all.pop_back();
  }

  Comm comm_;
  Shared noted_;
};

}  // namespace capstan
