#include "belos_ext/support/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <random>
#include <stdexcept>

namespace capstan {

namespace {

namespace fs = std::filesystem;
using Kind = OutputTarget::Kind;

constexpr int mostLinks = 40;  // as Linux has it

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw std::runtime_error("Capstan: cannot write \"" + path + "\": " + reason);
}

[[noreturn]] void failBySystem(const std::string& path) { fail(path, std::strerror(errno)); }

std::string folderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// The number in /proc/self/fd/N of this process, also when `self` is spelt as its number.
std::optional<int> ownDescriptor(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.empty() || name.size() > 6 || name.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  std::error_code failed;
  const fs::path folder = fs::canonical(path.parent_path(), failed);
  if (failed) return std::nullopt;
  const std::string self = "/proc/" + std::to_string(::getpid());
  const bool own =
      folder == self + "/fd" || (folder.string().rfind(self + "/task/", 0) == 0 && folder.filename() == "fd");
  return own ? std::optional<int>(std::stoi(name)) : std::nullopt;
}

OutputTarget refused(const std::string& path, const std::string& reason) {
  OutputTarget target;
  target.kind = Kind::NotWritable;
  target.path = path;
  target.reason = reason;
  return target;
}

OutputTarget classified(const std::string& path, const struct stat& status) {
  OutputTarget target;
  target.path = path;
  if (S_ISREG(status.st_mode)) {
    target.kind = Kind::File;
  } else if (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)) {
    target.kind = Kind::Stream;
  } else {
    return refused(path, S_ISDIR(status.st_mode)   ? "it is a folder, not a file"
                         : S_ISBLK(status.st_mode) ? "it is a disk"
                                                   : "it is a socket");
  }
  return target;
}

/// Keeps a FIFO whose reader has left from ending the process; the write then fails with EPIPE.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    wasPending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec now{0, 0};
    if (!wasPending_) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool wasPending_ = false;
};

/// False with errno set.
bool writeAll(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

/// Opens a device or FIFO without waiting for the reader of a FIFO, and without becoming a terminal's owner.
int openStream(const OutputTarget& target) {
  if (target.descriptor == STDOUT_FILENO) std::fflush(stdout);  // what was printed before comes before
  if (target.descriptor >= 0) return ::dup(target.descriptor);
  const int fd = ::open(target.path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd >= 0) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

void writeThrough(const OutputTarget& target, const std::string& text) {
  const int fd = openStream(target);
  if (fd < 0 && errno == ENXIO) fail(target.path, "nobody reads from it");
  if (fd < 0) failBySystem(target.path);
  const WithoutSigpipe guard;
  const bool written = writeAll(fd, text);
  const int reason = errno;
  ::close(fd);
  errno = reason;
  if (!written) failBySystem(target.path);
}

}  // namespace

OutputTarget outputTarget(const std::string& path) {
  fs::path at = path;
  for (int links = 0; links <= mostLinks; ++links) {
    if (const auto descriptor = ownDescriptor(at)) {
      // Where it leads is open already: another handle of the same file would write over what stands there.
      OutputTarget target;
      target.kind = Kind::Stream;
      target.path = at.string();
      target.descriptor = *descriptor;
      return target;
    }
    struct stat status {};
    if (::lstat(at.c_str(), &status) != 0) {
      if (errno != ENOENT) return refused(at.string(), std::strerror(errno));
      OutputTarget target;
      target.path = at.string();
      return target;
    }
    if (!S_ISLNK(status.st_mode)) return classified(at.string(), status);
    std::error_code failed;
    const fs::path next = fs::read_symlink(at, failed);
    if (failed) return refused(at.string(), failed.message());
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return refused(path, std::strerror(ELOOP));
}

std::string whyNotWritable(const std::string& path) {
  if (path.empty()) return "the name is empty";
  const OutputTarget target = outputTarget(path);
  if (target.kind == Kind::NotWritable) return target.reason;
  if (target.descriptor >= 0) {
    const int flags = ::fcntl(target.descriptor, F_GETFL);
    if (flags < 0) return std::strerror(errno);
    return (flags & O_ACCMODE) == O_RDONLY ? "it is open for reading only" : "";
  }
  if (target.kind == Kind::Stream) return ::access(target.path.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
  const std::string folder = folderOf(target.path);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return "there is no folder \"" + folder + "\"";
  if (fs::path(target.path).filename().empty()) return "the name is empty";
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return "";
  return "no new file in \"" + folder + "\": " + std::strerror(errno);
}

TemporaryFile::TemporaryFile(const std::string& path) : path_(path) {
  // Not mkstemp: open() gives the file the permissions that the user's umask gives new files.
  std::random_device random;
  for (int trial = 0; trial < 100 && fd_ < 0; ++trial) {
    name_ = fmt::format("{}/.capstan-{:08x}{:08x}", folderOf(path), random(), random());
    fd_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ >= 0) return;
  name_.clear();
  failBySystem(path_);
}

TemporaryFile::~TemporaryFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!name_.empty()) ::unlink(name_.c_str());
}

void TemporaryFile::write(const std::string& text) {
  if (!writeAll(fd_, text)) failBySystem(path_);
}

void TemporaryFile::publish() {
  struct stat old {};
  if (::stat(path_.c_str(), &old) == 0 && ::fchmod(fd_, old.st_mode & 07777) != 0) failBySystem(path_);
  const int closed = ::close(fd_);
  fd_ = -1;
  if (closed != 0 || std::rename(name_.c_str(), path_.c_str()) != 0) failBySystem(path_);
  name_.clear();
}

void writeOutput(const std::string& path, const std::string& text) {
  const OutputTarget target = outputTarget(path);
  if (target.kind == Kind::NotWritable) fail(path, target.reason);
  if (target.kind == Kind::Stream) {
    writeThrough(target, text);
    return;
  }
  TemporaryFile file(target.path);
  file.write(text);
  file.publish();
}

}  // namespace capstan
