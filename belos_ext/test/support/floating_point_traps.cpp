#include "belos_ext/test/support/floating_point_traps.hpp"

#include <algorithm>
#include <cfenv>
#include <csignal>
#include <cstdlib>

#if defined(__x86_64__) && defined(__GLIBC__)
#define CAPSTAN_TEST_TRAPS 1
#include <execinfo.h>
#include <ucontext.h>
#endif

namespace capstan::testing {

#ifdef CAPSTAN_TEST_TRAPS
namespace {

constexpr int trapped = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW;

/// An operation that trapped, written by the signal handler.
struct Trap {
  const void* instruction = nullptr;
  int code = 0, frames = 0;
  void* addresses[32] = {};
};

constexpr int mostTraps = 16;
Trap traps[mostTraps];
volatile std::sig_atomic_t count = 0;

void keep(const siginfo_t& info) {
  const int known = count;
  const auto same = [&](const Trap& trap) { return trap.instruction == info.si_addr; };
  if (known == mostTraps || std::any_of(traps, traps + known, same)) return;
  traps[known].instruction = info.si_addr;
  traps[known].code = info.si_code;
  traps[known].frames = ::backtrace(traps[known].addresses, 32);
  count = known + 1;
}

// In SSE's control word bits 7 to 12 mask the exceptions, in x87's bits 0 to 5; bit 8 of the flags is single step.
constexpr unsigned singleStep = 0x100;

/// Lets the operation run once more with its traps off; after this one instruction comes onStep().
void onTrap(int /*number*/, siginfo_t* info, void* context) {
  keep(*info);
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  machine.fpregs->mxcsr |= trapped << 7;
  machine.fpregs->cwd |= trapped;
  machine.gregs[REG_EFL] |= singleStep;
}

void onStep(int /*number*/, siginfo_t* /*info*/, void* context) {
  auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
  machine.fpregs->mxcsr &= ~static_cast<unsigned>(trapped << 7 | trapped);
  machine.fpregs->swd &= static_cast<unsigned short>(~0x80ff);  // or x87 traps once more
  machine.fpregs->cwd &= static_cast<unsigned short>(~trapped);
  machine.gregs[REG_EFL] &= ~static_cast<greg_t>(singleStep);
}

struct sigaction beforeTrap, beforeStep;

void handle(int number, void (*handler)(int, siginfo_t*, void*), struct sigaction& before) {
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(number, &action, &before);
}

std::string wordsOf(int code) {
  switch (code) {
    case FPE_FLTDIV:
      return "division by zero";
    case FPE_FLTOVF:
      return "overflow";
    case FPE_FLTINV:
      return "invalid operation";
    default:
      return "another exception";
  }
}

std::string textOf(const Trap& trap) {
  std::string text = wordsOf(trap.code);
  char** names = ::backtrace_symbols(trap.addresses, trap.frames);
  // First come keep(), the handler and the frame of the signal, some of them inlined.
  int k = 0;
  while (k < trap.frames && trap.addresses[k] != trap.instruction) ++k;
  for (; names != nullptr && k < trap.frames; ++k) text += std::string("\n  ") + names[k];
  std::free(names);
  return text;
}

}  // namespace

bool hasFloatingPointTraps() { return true; }

FloatingPointTraps::FloatingPointTraps() {
  void* none[1];
  ::backtrace(none, 1);  // loads what it needs; a signal handler must not
  count = 0;
  handle(SIGFPE, onTrap, beforeTrap);
  handle(SIGTRAP, onStep, beforeStep);
  std::feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(trapped);
}

FloatingPointTraps::~FloatingPointTraps() {
  fedisableexcept(trapped);
  std::feclearexcept(FE_ALL_EXCEPT);
  sigaction(SIGFPE, &beforeTrap, nullptr);
  sigaction(SIGTRAP, &beforeStep, nullptr);
}

std::vector<std::string> FloatingPointTraps::found() {
  std::vector<std::string> texts;
  for (int k = 0; k < count; ++k) texts.push_back(textOf(traps[k]));
  return texts;
}

bool FloatingPointTraps::on() { return fegetexcept() == trapped; }

#else

bool hasFloatingPointTraps() { return false; }
FloatingPointTraps::FloatingPointTraps() = default;
FloatingPointTraps::~FloatingPointTraps() = default;
std::vector<std::string> FloatingPointTraps::found() { return {}; }
bool FloatingPointTraps::on() { return true; }

#endif

}  // namespace capstan::testing
