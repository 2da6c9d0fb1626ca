#pragma once

/// \file
/// Files that Capstan writes because a user named them: reports, histories, matrices.
///
/// A regular file is replaced as a whole: the text goes to a temporary file beside it, which is then renamed. Anything
/// else (a terminal, /dev/null, a FIFO) is written through and stays what it is. Links are followed first, so that a
/// link keeps leading where it led. All functions are local; call them on the one rank that writes.

#include <string>

namespace capstan {

/// What a path leads to once links are followed.
struct OutputTarget {
  enum class Kind {
    Nothing,     ///< no such file yet
    File,        ///< a regular file
    Stream,      ///< a character device, a FIFO, or an open descriptor (/dev/stdout): written through
    NotWritable  ///< a folder, a disk, a socket, a link that leads to itself
  };
  Kind kind = Kind::Nothing;
  std::string path;     ///< without links
  int descriptor = -1;  ///< the open descriptor of this process that the path names, or -1
  std::string reason;   ///< why it is not writable
};

/// Follows the links of a path. Changes nothing.
OutputTarget outputTarget(const std::string& path);

/// Why text cannot be written to this path, for people, or an empty string when it can. Makes and changes nothing.
std::string whyNotWritable(const std::string& path);

/// A new empty file in a folder, of a name that nobody else has or can foresee, removed again unless published.
class TemporaryFile {
 public:
  /// Beside `path`, which has no links. Throws std::runtime_error naming `path` and the system's reason.
  explicit TemporaryFile(const std::string& path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& name() const { return name_; }

  /// Appends the text. Throws as above.
  void write(const std::string& text);

  /// Renames it to `path`, with the permissions of the file it replaces, or those a new file would get. Throws as
  /// above.
  void publish();

 private:
  std::string path_, name_;
  int fd_ = -1;
};

/// Makes `text` the whole content of a regular or new file; appends it to any other kind of target. Throws
/// std::runtime_error naming the path and the reason; a regular file is then as it was.
void writeOutput(const std::string& path, const std::string& text);

}  // namespace capstan
