#include "tpetra_ext/test/protected/memory.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace capstan::test::protected_memory {
namespace {

constexpr std::size_t page = 4096;
/// Addresses, not memory: pages that are never written to take none.
constexpr std::size_t range = std::size_t(1) << 36;
/// All of it is opened and closed in pages of this size, where the system has them. Small ones take 100 times as long.
constexpr std::size_t hugePage = std::size_t(1) << 21;

struct Block {
  std::size_t bytes;
  std::string label;
};

class Memory {
 public:
  /// Never destroyed: Kokkos frees views when the process ends.
  static Memory& instance() {
    static Memory& memory = *new Memory;
    return memory;
  }

  void* allocate(const char* label, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    bytes = (bytes + page - 1) / page * page;
    const std::size_t at = place(bytes);
    if (at + bytes > range) return nullptr;
    used_[at] = {bytes, label};
    const bool before = setOpen(true);
    end_ = std::max(end_, at + bytes);
    if (end_ > top_) {
      top_ = (end_ + hugePage - 1) / hugePage * hugePage;
      protect();
    }
    std::memset(base_ + at, 0xff, bytes);
    setOpen(before);
    return base_ + at;
  }

  void release(void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = used_.find(static_cast<std::size_t>(static_cast<unsigned char*>(data) - base_));
    if (found == used_.end()) return;
    const auto [at, bytes] = std::make_pair(found->first, found->second.bytes);
    used_.erase(found);
    auto here = free_.emplace(at, bytes).first;
    if (const auto next = std::next(here); next != free_.end() && here->first + here->second == next->first) {
      here->second += next->second;
      free_.erase(next);
    }
    if (here == free_.begin()) return;
    if (const auto before = std::prev(here); before->first + before->second == here->first) {
      before->second += here->second;
      free_.erase(here);
    }
  }

  bool holds(const void* address) const {
    const auto* const at = static_cast<const unsigned char*>(address);
    return at >= base_ && at < base_ + range;
  }

  bool setOpen(bool open) {
    const bool before = std::exchange(open_, open);
    if (before != open && top_ > 0) protect();
    return before;
  }

  long faults = 0;
  bool silent = false;
  std::string latest;

  /// Counts the fault, tells of it, and lets the code go on. Not safe in signals in general; but this one comes from an
  /// access to a view, not from within the memory allocator.
  void fault(const void* address) {
    tell("the host touches device memory of '" + labelAt(address) + "'");
    setOpen(true);
  }

  void tell(const std::string& what) {
    ++faults;
    void* frames[40];
    const int count = backtrace(frames, 40);
    latest = "capstan: " + what + "\n";
    if (!seen_.emplace(frames, frames + count).second) return;
    std::string places;
    for (int k = 0; k < count; ++k) {
      const std::string name = nameOf(frames[k]);
      if (name.find("testing::") != std::string::npos) break;  // GoogleTest's
      if (name.find("protected_memory::") == std::string::npos) places += "  " + name + "\n";
    }
    latest += places;
    if (!silent) {
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, latest.data(), latest.size());
    }
  }

  struct sigaction previous = {};

 private:
  Memory() {
    void* const got = mmap(nullptr, range + hugePage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) {
      std::perror("capstan: protected memory: mmap");
      std::abort();
    }
    base_ = static_cast<unsigned char*>(got);
    base_ += (hugePage - reinterpret_cast<std::uintptr_t>(base_) % hugePage) % hugePage;
    madvise(base_, range, MADV_HUGEPAGE);  // or small ones, where there are none
    void* frame[1];
    backtrace(frame, 1);  // loads what it needs now
    struct sigaction action = {};
    action.sa_sigaction = &onSignal;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGSEGV, &action, &previous) != 0) std::abort();
  }

  static void onSignal(int, siginfo_t* info, void*) {
    Memory& memory = instance();
    if (memory.holds(info->si_addr) && !memory.open_) {
      memory.fault(info->si_addr);
    } else {
      sigaction(SIGSEGV, &memory.previous, nullptr);  // not ours: it happens once more, for whoever was there before
    }
  }

  /// Where `bytes` are free: the first place, so that few pages are ever in use.
  std::size_t place(std::size_t bytes) {
    for (auto at = free_.begin(); at != free_.end(); ++at) {
      if (at->second < bytes) continue;
      const auto [begin, size] = *at;
      free_.erase(at);
      if (size > bytes) free_.emplace(begin + bytes, size - bytes);
      return begin;
    }
    return end_;
  }

  void protect() {
    if (mprotect(base_, top_, open_ ? PROT_READ | PROT_WRITE : PROT_NONE) == 0) return;
    std::perror("capstan: protected memory: mprotect");
    std::abort();
  }

  std::string labelAt(const void* address) const {
    const auto offset = static_cast<std::size_t>(static_cast<const unsigned char*>(address) - base_);
    auto at = used_.upper_bound(offset);
    if (at == used_.begin()) return "(nothing)";
    --at;
    return offset < at->first + at->second.bytes ? at->second.label : "(memory that was given back)";
  }

  static std::string nameOf(void* frame) {
    Dl_info info = {};
    if (dladdr(frame, &info) == 0) return "?";
    std::string name;
    if (info.dli_sname != nullptr) {
      int status = 0;
      char* const plain = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
      name = plain != nullptr ? plain : info.dli_sname;
      std::free(plain);
    } else {
      name = nameFromTable(info, frame);
    }
    constexpr std::size_t longest = 200;
    if (name.size() > longest) name = name.substr(0, longest) + "...";
    return name;
  }

  /// The name of a function that is not among those for the loader.
  static std::string nameFromTable(const Dl_info& info, void* frame) {
    char command[512];
    const auto offset = static_cast<std::size_t>(static_cast<char*>(frame) - static_cast<char*>(info.dli_fbase));
    std::snprintf(command, sizeof command, "addr2line -Cfe '%s' 0x%zx 2>/dev/null", info.dli_fname, offset - 1);
    char line[1024] = "??";
    if (FILE* const lines = popen(command, "r"); lines != nullptr) {
      if (std::fgets(line, sizeof line, lines) == nullptr) line[0] = '?';
      pclose(lines);
    }
    line[std::strcspn(line, "\n")] = 0;
    return line[0] != '?' ? line : std::string(info.dli_fname) + " +" + std::to_string(offset);
  }

  std::mutex mutex_;
  unsigned char* base_ = nullptr;
  std::size_t end_ = 0;  ///< all that was ever handed out lies below
  std::size_t top_ = 0;  ///< what is opened and closed
  bool open_ = false;
  std::map<std::size_t, Block> used_;
  std::map<std::size_t, std::size_t> free_;  ///< place and size, no two side by side
  std::set<std::vector<void*>> seen_;
};

}  // namespace

void* allocate(const char* label, std::size_t bytes) { return Memory::instance().allocate(label, bytes); }
void release(void* data) noexcept { Memory::instance().release(data); }
bool holds(const void* address) { return Memory::instance().holds(address); }
bool setOpen(bool open) noexcept { return Memory::instance().setOpen(open); }
long faults() { return Memory::instance().faults; }
std::string latestFault() { return Memory::instance().latest; }
void report(const std::string& fault) { Memory::instance().tell(fault); }
void setSilent(bool silent) { Memory::instance().silent = silent; }

}  // namespace capstan::test::protected_memory
