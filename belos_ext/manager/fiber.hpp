#pragma once
/// \file
/// A function that can be paused in the middle and resumed: lets several solves, each written as a plain loop, advance
/// together in one thread.
///
/// Cooperative, on Boost.Context; never runs concurrently with its resumer. Leaves floating-point modes and signal
/// masks as it finds them. Exceptions do not cross a switch: they are kept and rethrown by rethrow().
///
/// A fiber's stack is of fixed size, so that code of unknown needs has no place there: onCallersStack() runs it where
/// the fiber was resumed from.

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

namespace capstan {

class Fiber {
 public:
  /// Thrown inside a paused function by the destructor, so that its objects are destroyed in order.
  struct Cancelled {};

  /// \param stackBytes of its own stack, below which a page is protected. Nothing is allocated before resume().
  explicit Fiber(std::function<void()> body, std::size_t stackBytes = std::size_t(1) << 20);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the function until it pauses or ends. Must not be called after done(). Throws std::bad_alloc where there is
  /// no memory for the stack.
  void resume();

  /// Pauses; called from inside the function only. Throws Cancelled when the fiber is being destroyed.
  void pause();

  bool done() const;

  /// Rethrows what escaped from the function, if anything did.
  void rethrow() const;

  /// Whether a fiber of this thread runs, and not the code that resumed it.
  static bool inside();

  /// Runs this in resume(), on the stack of the code that has resumed the fiber that runs; what it throws is thrown
  /// here. For use where inside().
  static void outside(const std::function<void()>& errand);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs this on the stack of the code that has resumed the fiber that runs; at once where none does.
template <class Errand>
void onCallersStack(const Errand& errand) {
  if (!Fiber::inside()) return errand();
  Fiber::outside(std::cref(errand));  // nothing is allocated for a reference
}

}  // namespace capstan
