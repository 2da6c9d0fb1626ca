#include "tpetra_ext/test/support/watched_views.hpp"

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "tpetra_ext/compat/local_views.hpp"
#include "tpetra_ext/kernels/test/own_queue.hpp"
#include "tpetra_ext/node_queue.hpp"
#include "tpetra_ext/types.hpp"

namespace capstan::test {
namespace {

using compat::ViewSide;

/// Views alive of one object.
struct Alive {
  const void* memory;
  int device = 0, host = 0;
};

class Watch final : public compat::ViewWatch {
 public:
  static Watch& instance() {
    static Watch watch;
    return watch;
  }

  void taken(const void* memory, ViewSide side) override {
    if (memory == nullptr) return;  // of no rows
    bool both = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      auto at = find(memory);
      if (at == alive_.end()) at = alive_.insert(at, {memory});
      Alive& of = *at;
      ++(side == ViewSide::Device ? of.device : of.host);
      both = of.device > 0 && of.host > 0;
    }
    if (both) complain("views of host and device of one object are alive together");
  }

  void released(const void* memory, ViewSide side) noexcept override {
    if (memory == nullptr) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto at = find(memory);
    if (at == alive_.end()) return;
    --(side == ViewSide::Device ? at->device : at->host);
    if (at->device == 0 && at->host == 0) alive_.erase(at);
  }

  void handedOver(const char* to) override { expectNone("when objects are handed to ", to); }

  /// Complains where a view is alive.
  void expectNone(const char* where, const char* what) {
    std::size_t objects = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      objects = alive_.size();
    }
    if (objects > 0) complain("views of " + std::to_string(objects) + " objects are alive " + where + what);
  }

  void complain(const std::string& text) {
    if (collected != nullptr) {
      collected->push_back(text);
    } else {
      ADD_FAILURE() << text;
    }
  }

  std::vector<std::string>* collected = nullptr;

 private:
  // Tests count what is allocated: this is not, but for the first.
  Watch() { alive_.reserve(1024); }
  std::vector<Alive>::iterator find(const void* memory) {
    return std::find_if(alive_.begin(), alive_.end(), [memory](const Alive& one) { return one.memory == memory; });
  }

  std::mutex mutex_;
  std::vector<Alive> alive_;
};

/// Kernels of Kokkos fill and copy views.
bool isForeign(std::string_view kernel) {
  return kernel.find("capstan") == std::string_view::npos && kernel.rfind("Kokkos::", 0) != 0 &&
         kernel.find("N6Kokkos4Impl") == std::string_view::npos;
}

void begins(const char* name) {
  if (isForeign(name)) Watch::instance().expectNone("at the beginning of ", name);
}

bool beginsWith(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

void (*kernelSeen)(const char*) = nullptr;
void (*regionSeen)(const char*) = nullptr;
/// Kernels of Capstan that have begun since the last comparison, and those that queues had been given by then.
long begun = 0, givenBefore = 0;

/// Kernels that queues have been given.
long given() {
  using Exec = DefaultTypes::ExecutionSpace;
  return nodeQueue<DefaultTypes>().launches() + kernels::test::ownQueue<Exec>().launches();
}
/// Of a CountedKernels.
long kernelsOfCapstan = 0;

void kernelBegins(const char* name, std::uint32_t, std::uint64_t*) {
  if (kernelSeen != nullptr) kernelSeen(name);
  if (beginsWith(name, "capstan ")) ++begun;
  if (beginsWith(name, "Kokkos::View::initialization [capstan ")) {
    Watch::instance().complain(std::string("a kernel of the default instance fills a view: ") + name);
  }
  begins(name);
}

void regionBegins(const char* name) {
  if (regionSeen != nullptr) regionSeen(name);
  begins(name);
}

/// The last bits of a device's number are an instance's; zero: all instances.
void fenceBegins(const char* name, std::uint32_t device, std::uint64_t*) {
  if ((device & 0xffffffU) != 0) return;
  for (const char* const from : {"Kokkos::fence", "Kokkos::deep_copy", "Kokkos::create_mirror"}) {
    if (beginsWith(name, from)) Watch::instance().expectNone("while the host waits for all instances: ", name);
  }
}

/// None outlives its test.
class AtTheEnd final : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& info) override {
    Watch::instance().expectNone("at the end of ", info.name());
    compareWithQueues();
  }
};

void fenceNothing(std::uint32_t, Kokkos_Tools_ToolSettings* settings) { settings->requires_global_fencing = false; }

}  // namespace

void watchWithoutFences() {
  // Kokkos 3.5 has no function that sets this one alone.
  namespace tools = Kokkos::Tools::Experimental;
  tools::EventSet hooks = tools::get_callbacks();
  hooks.request_tool_settings = fenceNothing;
  tools::set_callbacks(hooks);
}

void watchViews() {
  namespace tools = Kokkos::Tools::Experimental;
  compat::ViewWatch::current() = &Watch::instance();
  tools::set_begin_parallel_for_callback(kernelBegins);
  tools::set_begin_parallel_reduce_callback(kernelBegins);
  tools::set_begin_parallel_scan_callback(kernelBegins);
  tools::set_push_region_callback(regionBegins);
  tools::set_begin_fence_callback(fenceBegins);
  givenBefore = given();
  testing::UnitTest::GetInstance()->listeners().Append(new AtTheEnd);
}

void compareWithQueues() {
  kernels::handOver<DefaultTypes::ExecutionSpace>();  // those that have been delayed
  const long all = given(), now = all - std::exchange(givenBefore, all), seen = std::exchange(begun, 0);
  if (seen == now) return;
  Watch::instance().complain(std::to_string(seen) + " of Capstan's kernels began, and queues were given " +
                             std::to_string(now));
}

void seeKernels(void (*seen)(const char* name), void (*region)(const char* name)) {
  kernelSeen = seen;
  regionSeen = region;
}

CountedKernels::CountedKernels() {
  kernelsOfCapstan = 0;
  seeKernels([](const char* name) { kernelsOfCapstan += beginsWith(name, "capstan") ? 1 : 0; });
}
CountedKernels::~CountedKernels() { seeKernels(nullptr); }
long CountedKernels::count() const { return kernelsOfCapstan; }

CollectedComplaints::CollectedComplaints() { Watch::instance().collected = &list_; }
CollectedComplaints::~CollectedComplaints() { Watch::instance().collected = nullptr; }

}  // namespace capstan::test
