#include "belos_ext/test/support/watchdog.hpp"

#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

// Called by the sanitizers after their report, where one is linked.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace capstan::testing {
namespace {

/// Written by announce(), read by signal handlers: a line ready to print.
struct State {
  char lines[2][1024] = {};
  std::atomic<int> current{0};
  std::atomic<long> beats{0};
  int rank = 0;
  char program[64] = {};
};

State& state() {
  static State instance;
  return instance;
}

void printState(const char* why) {
  char text[1280];
  const State& s = state();
  const int length =
      std::snprintf(text, sizeof text, "\n%s: %s on rank %d\n%s\n", s.program, why, s.rank, s.lines[s.current]);
  if (length <= 0) return;
  const auto bytes = std::min(static_cast<std::size_t>(length), sizeof text - 1);
  if (::write(STDERR_FILENO, text, bytes) < 0) return;
}

void onSignal(int number) {
  printState(number == SIGSEGV ? "segmentation fault" : number == SIGABRT ? "abort" : "fatal signal");
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void onSanitizerReport() { printState("report of a sanitizer"); }

void onMpiError(MPI_Comm* /*comm*/, int* code, ...) {
  char words[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(*code, words, &length);
  printState(words);
  std::abort();
}

struct Thread {
  std::mutex mutex;
  std::condition_variable wake;
  bool ended = false;
  std::thread thread;
};

Thread& watcher() {
  static Thread instance;
  return instance;
}

void watch(double limit) {
  using Clock = std::chrono::steady_clock;
  Thread& self = watcher();
  long seen = -1;
  auto since = Clock::now();
  std::unique_lock<std::mutex> lock(self.mutex);
  while (!self.wake.wait_for(lock, std::chrono::milliseconds(200), [&self] { return self.ended; })) {
    const long beats = state().beats;
    if (beats != seen) {
      seen = beats;
      since = Clock::now();
    } else if (std::chrono::duration<double>(Clock::now() - since).count() > limit) {
      printState("no progress, this looks like a hang,");
      std::this_thread::sleep_for(std::chrono::seconds(5));  // the other ranks print theirs
      std::signal(SIGABRT, SIG_DFL);
      std::abort();
    }
  }
}

}  // namespace

Watchdog::Watchdog(int rank, double seconds, const std::string& program) {
  State& s = state();
  s.rank = rank;
  std::snprintf(s.program, sizeof s.program, "%s", program.c_str());
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(onSanitizerReport);
  } else {
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(number, onSignal);
  }
  std::signal(SIGABRT, onSignal);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(onMpiError, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  watcher().thread = std::thread(watch, seconds);
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(watcher().mutex);
    watcher().ended = true;
  }
  watcher().wake.notify_all();
  watcher().thread.join();
}

void Watchdog::announce(const std::string& what) {
  State& s = state();
  const int next = 1 - s.current;
  std::snprintf(s.lines[next], sizeof s.lines[next], "%s", what.c_str());
  s.current = next;
  ++s.beats;
}

void Watchdog::beat() { ++state().beats; }

}  // namespace capstan::testing
