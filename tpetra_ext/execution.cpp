#include "tpetra_ext/execution.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>
#ifdef __linux__
#include <sched.h>
#endif

namespace capstan {
namespace {

constexpr int most = 1024;

/// The number that `text` is, from 1 on.
std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most) return std::nullopt;
  return value;
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Cores on which this process may run: MPI binds its ranks to some of a node's.
int ownCores() {
#ifdef __linux__
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) == 0) return std::max(1, CPU_COUNT(&cores));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// "ordered" or "tasks", and a number of threads or 0.
struct Said {
  Execution execution;
  int threads;
};

std::optional<Said> parse(std::string_view value) {
  const std::size_t colon = std::min(value.find(':'), value.size());
  const std::string_view word = value.substr(0, colon);
  if (word != "ordered" && word != "tasks") return std::nullopt;
  const std::optional<int> threads = colon == value.size() ? 0 : number(value.substr(colon + 1));
  if (!threads) return std::nullopt;
  return Said{word == "tasks" ? Execution::Tasks : Execution::Ordered, *threads};
}

}  // namespace

ChosenExecution chosenExecution(Execution asked, int threads, bool possible) {
  constexpr const char* name = "CAPSTAN_EXECUTION";
  std::string reason = "\"Execution\" = \"" + std::string(asked == Execution::Tasks ? "tasks" : "ordered") + "\"";
  if (asked == Execution::Auto) {
    const std::string_view value = variable(name);
    if (!value.empty()) reason = std::string(name) + " is \"" + std::string(value) + "\"";
    const std::optional<Said> said = value.empty() ? Said{Execution::Ordered, 0} : parse(value);
    if (!said) {
      return {{}, "ordered: " + reason + ", which is none of ordered, tasks, and these with : and a number of threads"};
    }
    asked = said->execution;
    if (threads == 0) threads = said->threads;
  }
  const bool tasks = asked == Execution::Tasks;
  if (!tasks && threads <= 1) return {};
  if (!possible) return {{}, "ordered: " + reason + ", but kernels here are Kokkos'"};
  if (threads == 0) threads = number(variable("OMP_NUM_THREADS")).value_or(ownCores());
  return {{threads, tasks},
          std::string(tasks ? "tasks of " : "ordered, by ") + std::to_string(threads) +
              (threads == 1 ? " thread: " : " threads: ") + reason};
}

}  // namespace capstan
