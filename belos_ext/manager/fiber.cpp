#include "belos_ext/manager/fiber.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define CAPSTAN_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CAPSTAN_ASAN 1
#endif
#endif
#ifdef CAPSTAN_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace capstan {
namespace {

using Context = boost::context::fiber;

#ifdef CAPSTAN_ASAN
// A throw makes AddressSanitizer clear its marks up to the end of the stack it believes to be on. Boost.Context tells
// it about switches only where Boost itself was built with sanitizers, which Debian's is not.
class Stacks {
 public:
  void entering() { __sanitizer_start_switch_fiber(&outsideFake_, bottom_, bytes_); }
  void backOutside() { __sanitizer_finish_switch_fiber(outsideFake_, nullptr, nullptr); }
  void leaving(bool forGood) {
    __sanitizer_start_switch_fiber(forGood ? nullptr : &insideFake_, outsideBottom_, outsideBytes_);
  }
  void backInside() { __sanitizer_finish_switch_fiber(insideFake_, &outsideBottom_, &outsideBytes_); }
  void has(const boost::context::stack_context& stack) {
    bottom_ = static_cast<char*>(stack.sp) - stack.size;
    bytes_ = stack.size;
  }
  // The last frame never returns and so leaves its marks, in memory that others will be given.
  static void release(const boost::context::stack_context& stack) {
    __asan_unpoison_memory_region(static_cast<char*>(stack.sp) - stack.size, stack.size);
  }

 private:
  void *insideFake_ = nullptr, *outsideFake_ = nullptr;
  const void *bottom_ = nullptr, *outsideBottom_ = nullptr;
  std::size_t bytes_ = 0, outsideBytes_ = 0;
};
#else
struct Stacks {
  void entering() {}
  void backOutside() {}
  void leaving(bool) {}
  void backInside() {}
  void has(const boost::context::stack_context&) {}
  static void release(const boost::context::stack_context&) {}
};
#endif

/// A stack with a protected page below it.
class StackAllocator {
 public:
  StackAllocator(std::size_t bytes, Stacks& stacks) : allocator_(bytes), stacks_(&stacks) {}
  boost::context::stack_context allocate() {
    const auto stack = allocator_.allocate();
    stacks_->has(stack);
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) {
    Stacks::release(stack);
    allocator_.deallocate(stack);
  }

 private:
  boost::context::protected_fixedsize_stack allocator_;
  Stacks* stacks_;
};

}  // namespace

struct Fiber::State {
  std::function<void()> body;
  std::size_t stackBytes;
  Context inside, outside;  // whichever of the two is waiting
  Stacks stacks;
  bool started = false, finished = false, cancelling = false;
  std::exception_ptr error;
  const std::function<void()>* errand = nullptr;  // what is to be run outside
  std::exception_ptr errandError;

  /// The fiber of this thread that runs, the innermost of several; null: none.
  static State*& running() {
    thread_local State* current = nullptr;
    return current;
  }

  Context run(Context&& resumer) {
    outside = std::move(resumer);
    stacks.backInside();
    try {
      body();
    } catch (const Cancelled&) {
      // asked for by the destructor
    } catch (...) {
      error = std::current_exception();
    }
    finished = true;
    stacks.leaving(true);
    return std::move(outside);
  }

  void enter() {
    if (!std::exchange(started, true)) {
      inside = Context(std::allocator_arg, StackAllocator(stackBytes, stacks),
                       [this](Context&& resumer) { return run(std::move(resumer)); });
    }
    State* const resumer = std::exchange(running(), this);
    stacks.entering();
    inside = std::move(inside).resume();
    stacks.backOutside();
    running() = resumer;
  }

  /// Runs up to the next pause, and what is to be run outside on the way there.
  void proceed() {
    enter();
    while (errand != nullptr) {
      try {
        (*std::exchange(errand, nullptr))();
      } catch (...) {
        errandError = std::current_exception();
      }
      enter();
    }
  }

  void leave() {
    stacks.leaving(false);
    outside = std::move(outside).resume();
    stacks.backInside();
  }
};

Fiber::Fiber(std::function<void()> body, std::size_t stackBytes) : state_(std::make_unique<State>()) {
  state_->body = std::move(body);
  state_->stackBytes = stackBytes;
}

Fiber::~Fiber() {
  if (!state_->started || state_->finished) return;
  state_->cancelling = true;
  state_->proceed();
}

void Fiber::resume() { state_->proceed(); }

void Fiber::pause() {
  state_->leave();
  if (state_->cancelling) throw Cancelled();
}

bool Fiber::inside() { return State::running() != nullptr; }

void Fiber::outside(const std::function<void()>& errand) {
  State& state = *State::running();
  state.errand = &errand;
  state.leave();
  if (state.errandError) std::rethrow_exception(std::exchange(state.errandError, nullptr));
}

bool Fiber::done() const { return state_->finished; }

void Fiber::rethrow() const {
  if (state_->error) std::rethrow_exception(state_->error);
}

}  // namespace capstan
