#include "adapters/preload/library_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

namespace capstan {
namespace {

/// A file in memory, as long as this lives.
class Mapped {
 public:
  explicit Mapped(const std::string& file) {
    const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat facts;
    if (descriptor >= 0 && fstat(descriptor, &facts) == 0 && facts.st_size > 0) {
      void* const start = mmap(nullptr, static_cast<std::size_t>(facts.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (start != MAP_FAILED) {
        start_ = static_cast<const char*>(start);
        size_ = static_cast<std::size_t>(facts.st_size);
      }
    }
    if (descriptor >= 0) close(descriptor);
  }
  ~Mapped() {
    if (start_ != nullptr) munmap(const_cast<char*>(start_), size_);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  const char* start() const { return start_; }
  std::size_t size() const { return size_; }

  /// `count` of them at an offset, or null where the file is too short.
  template <class T>
  const T* at(std::size_t offset, std::size_t count = 1) const {
    return offset <= size_ && count <= (size_ - offset) / sizeof(T) ? reinterpret_cast<const T*>(start_ + offset)
                                                                    : nullptr;
  }

 private:
  const char* start_ = nullptr;
  std::size_t size_ = 0;
};

/// The text at an address of the loaded library: the segments say where in the file it lies.
std::string textAt(const Mapped& file, const ElfW(Phdr) * segments, std::size_t count, ElfW(Addr) address) {
  for (std::size_t i = 0; i < count; ++i) {
    const ElfW(Phdr)& segment = segments[i];
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr || address >= segment.p_vaddr + segment.p_filesz)
      continue;
    const std::size_t offset = address - segment.p_vaddr + segment.p_offset;
    const char* const text = file.at<char>(offset);
    return text == nullptr ? std::string() : std::string(text, strnlen(text, file.size() - offset));
  }
  return {};
}

}  // namespace

std::vector<std::string> neededBy(const std::string& name) {
  const Mapped file(name);
  const auto* const head = file.at<ElfW(Ehdr)>(0);
  const unsigned char bits = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != bits) return {};
  const auto* const segments = file.at<ElfW(Phdr)>(head->e_phoff, head->e_phnum);
  if (segments == nullptr) return {};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < head->e_phnum; ++i) {
    if (segments[i].p_type != PT_DYNAMIC) continue;
    const std::size_t count = segments[i].p_filesz / sizeof(ElfW(Dyn));
    const auto* const entries = file.at<ElfW(Dyn)>(segments[i].p_offset, count);
    ElfW(Addr) strings = 0;
    for (std::size_t j = 0; entries != nullptr && j < count; ++j) {
      if (entries[j].d_tag == DT_STRTAB) strings = entries[j].d_un.d_ptr;
    }
    for (std::size_t j = 0; strings != 0 && j < count && entries[j].d_tag != DT_NULL; ++j) {
      if (entries[j].d_tag != DT_NEEDED) continue;
      names.push_back(textAt(file, segments, head->e_phnum, strings + entries[j].d_un.d_val));
    }
  }
  return names;
}

bool fileHolds(const std::string& name, const std::string& bytes) {
  const Mapped file(name);
  return file.start() != nullptr && memmem(file.start(), file.size(), bytes.data(), bytes.size()) != nullptr;
}

}  // namespace capstan
