#include "perf/latency/layer.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "perf/latency/real_mpi.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace capstan::latency {
namespace {

Settings asked;
bool running = false;
bool alone = false;  // the program has one process
// A communicator of our own, so that looking for messages on it finds none: it only makes MPI progress.
MPI_Comm quiet = MPI_COMM_NULL;

/// True on the one process of a job that speaks for all. The rank is known before MPI_Init only from the launcher.
bool speaks() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(name); rank != nullptr) return std::strcmp(rank, "0") == 0;
  }
  return true;
}

/// Ends the process, not MPI: nothing has been started yet. The launcher ends the job with the first process that goes,
/// so the others leave the one that speaks the time to do so (Open MPI 5 lost its text).
[[noreturn]] void refuse(const std::string& message) {
  if (speaks()) {
    std::fprintf(stderr, "capstan latency layer: %s\n", message.c_str());
  } else {
    sleep(2);
  }
  std::fflush(nullptr);
  _exit(2);
}

const char* builtFor() {
#if defined(OPEN_MPI)
  return "Open MPI";
#elif defined(MPICH_VERSION)
  return "MPICH";
#else
  return "";
#endif
}

}  // namespace

namespace real {

void* find(const char* symbol) {
  void* next = dlsym(RTLD_NEXT, symbol);
  if (next == nullptr) refuse(std::string("no MPI library defines ") + symbol);
  return next;
}

}  // namespace real

Counters& counters() {
  static Counters all;
  return all;
}

const Settings& settings() { return asked; }

bool delayed(MPI_Comm comm) {
  if (!running || comm == MPI_COMM_NULL) return false;
  int size = 0;
  int between = 0;
  PMPI_Comm_size(comm, &size);
  PMPI_Comm_test_inter(comm, &between);
  return size > 1 || between != 0 || alone;
}

void readSettingsOrExit() {
  // Not MPI_MAX_LIBRARY_VERSION_STRING: the library may be another one than that of the header, and say more.
  char version[16384] = "";
  int length = 0;
  const auto variables = latencyVariables();
  if (variables.empty()) return;
  try {
    asked = parseSettings(variables);
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
  PMPI_Get_library_version(version, &length);
  if (std::strstr(version, builtFor()) == nullptr) {
    refuse(std::string("built for ") + builtFor() + ", but the program uses " +
           std::string(version, std::strcspn(version, ",\n")) + "; build Capstan with that MPI");
  }
}

void start() {
  if (!asked.on) return;
  int ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  alone = ranks == 1;
  PMPI_Comm_dup(MPI_COMM_SELF, &quiet);
  running = true;
}

void stop() {
  if (!running) return;
  running = false;
  PMPI_Comm_free(&quiet);
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!asked.count || rank != 0) return;
  std::fprintf(stderr, "capstan latency layer: %ld blocking and %ld nonblocking all-reduces\n",
               counters().blocking.load(), counters().nonblocking.load());
}

void idle() {
  int flag = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, quiet, &flag, MPI_STATUS_IGNORE);
  if (asked.yield) sched_yield();
}

void holdUntil(Clock::time_point deadline) {
  if (Clock::now() < deadline) ++counters().waits;
  while (Clock::now() < deadline) idle();
}

int refused(MPI_Comm comm, const char* what, int code) {
  std::fprintf(stderr, "capstan latency layer: %s is not emulated\n", what);
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace capstan::latency

// For programs that look it up; it says whether all-reduces are delayed.
extern "C" __attribute__((visibility("default"))) int capstan_latency_set(double microseconds) {
  using namespace capstan::latency;
  if (!running || !(microseconds >= 0 && microseconds <= 1e7)) return 0;
  asked.latency = std::chrono::nanoseconds(static_cast<long long>(std::ceil(microseconds * 1e3)));
  return 1;
}
