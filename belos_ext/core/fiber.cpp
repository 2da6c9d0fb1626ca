#include "belos_ext/core/fiber.hpp"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define CAPSTAN_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CAPSTAN_ASAN 1
#endif
#endif
#ifdef CAPSTAN_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace capstan {

struct Fiber::State {
  std::function<void()> body;
  ucontext_t inside{}, outside{};
  void* memory = nullptr;  // one guard page below the stack
  std::size_t memoryBytes = 0, guardBytes = 0;
  bool started = false, finished = false, cancelling = false;
  std::exception_ptr error;
#ifdef CAPSTAN_ASAN
  void* insideFake = nullptr;
  void* outsideFake = nullptr;
  const void* outsideBottom = nullptr;
  std::size_t outsideBytes = 0;
#endif

  void* stackBottom() const { return static_cast<char*>(memory) + guardBytes; }
  std::size_t stackBytes() const { return memoryBytes - guardBytes; }

  void enter() {
#ifdef CAPSTAN_ASAN
    __sanitizer_start_switch_fiber(&outsideFake, stackBottom(), stackBytes());
#endif
    swapcontext(&outside, &inside);
#ifdef CAPSTAN_ASAN
    __sanitizer_finish_switch_fiber(outsideFake, nullptr, nullptr);
#endif
  }

  void leave(bool forGood) {
#ifdef CAPSTAN_ASAN
    __sanitizer_start_switch_fiber(forGood ? nullptr : &insideFake, outsideBottom, outsideBytes);
#else
    static_cast<void>(forGood);
#endif
    swapcontext(&inside, &outside);
    arrived();
  }

  /// Just after a switch into the fiber.
  void arrived() {
#ifdef CAPSTAN_ASAN
    __sanitizer_finish_switch_fiber(insideFake, &outsideBottom, &outsideBytes);
#endif
  }

  // makecontext passes ints only: the pointer travels in two halves.
  static void main(unsigned high, unsigned low) {
    auto* self = reinterpret_cast<State*>((static_cast<std::uintptr_t>(high) << 32) | low);
    self->arrived();
    try {
      self->body();
    } catch (const Cancelled&) {
      // asked for by the destructor
    } catch (...) {
      self->error = std::current_exception();
    }
    self->finished = true;
    self->leave(true);
  }
};

Fiber::Fiber(std::function<void()> body, std::size_t stackBytes) : state_(std::make_unique<State>()) {
  state_->body = std::move(body);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  state_->guardBytes = page;
  state_->memoryBytes = (stackBytes + page - 1) / page * page + page;
  state_->memory = mmap(nullptr, state_->memoryBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (state_->memory == MAP_FAILED) {
    state_->memory = nullptr;
    throw std::bad_alloc();
  }
  mprotect(state_->memory, page, PROT_NONE);
  getcontext(&state_->inside);
  state_->inside.uc_stack.ss_sp = state_->stackBottom();
  state_->inside.uc_stack.ss_size = state_->stackBytes();
  state_->inside.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(state_.get());
  makecontext(&state_->inside, reinterpret_cast<void (*)()>(&State::main), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self & 0xffffffffU));
}

Fiber::~Fiber() {
  if (state_->started && !state_->finished) {
    state_->cancelling = true;
    state_->enter();
  }
  if (state_->memory != nullptr) munmap(state_->memory, state_->memoryBytes);
}

void Fiber::resume() {
  state_->started = true;
  state_->enter();
}

void Fiber::pause() {
  state_->leave(false);
  if (state_->cancelling) throw Cancelled();
}

bool Fiber::done() const { return state_->finished; }

void Fiber::rethrow() const {
  if (state_->error) std::rethrow_exception(state_->error);
}

}  // namespace capstan
