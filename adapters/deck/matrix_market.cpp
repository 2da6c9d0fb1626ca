#include "adapters/deck/matrix_market.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

namespace capstan::deck {
namespace {

struct Lines {
  std::string_view text;
  std::size_t position = 0;
  long long number = 0;

  /// The next line without its end; false at the end of the text.
  bool next(std::string_view& line) {
    if (position >= text.size()) return false;
    const auto end = std::min(text.find('\n', position), text.size());
    line = text.substr(position, end - position);
    position = end + 1;
    ++number;
    return true;
  }
};

bool blank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

std::string lowerCase(std::string_view line) {
  std::string text(line);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// The next word of a line, taken off its front; empty at the end.
std::string_view nextWord(std::string_view& line) {
  const char* blanks = " \t\r";
  const auto start = std::min(line.find_first_not_of(blanks), line.size());
  const auto end = std::min(line.find_first_of(blanks, start), line.size());
  const auto word = line.substr(start, end - start);
  line.remove_prefix(end);
  return word;
}

/// The whole word as a number; false when it is none.
template <class Number>
bool parseNumber(std::string_view word, Number& number) {
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
  return failed == std::errc() && end == word.data() + word.size();
}

/// Whether a line of data holds what it should: for a sparse matrix a row and a column within it, and a finite value.
bool soundEntry(std::string_view line, const MatrixMarketInfo& info) {
  if (info.coordinate) {
    long long row = 0;
    long long column = 0;
    if (!parseNumber(nextWord(line), row) || !parseNumber(nextWord(line), column)) return false;
    if (row < 1 || row > info.rows || column < 1 || column > info.columns) return false;
  }
  double value = 0.0;
  if (info.field != "pattern" && (!parseNumber(nextWord(line), value) || !std::isfinite(value))) return false;
  return blank(line);
}

[[noreturn]] void fail(const std::string& path, long long line, const std::string& message) {
  throw FileError(line > 0 ? fmt::format("{}:{}: {}", path, line, message) : fmt::format("{}: {}", path, message));
}

void readBanner(std::string_view line, const std::string& path, MatrixMarketInfo& info) {
  std::istringstream words(lowerCase(line));
  std::string banner, object, format;
  words >> banner >> object >> format >> info.field >> info.symmetry;
  if (banner != "%%matrixmarket" || object != "matrix") {
    fail(path, 1,
         fmt::format("found '{}'; allowed: a Matrix Market banner, '%%MatrixMarket matrix coordinate real general'",
                     std::string(line.substr(0, 40))));
  }
  if (format != "coordinate" && format != "array") {
    fail(path, 1, fmt::format("found format '{}'; allowed: coordinate or array", format));
  }
  if (info.field != "real" && info.field != "integer" && info.field != "double" && info.field != "pattern") {
    fail(path, 1, fmt::format("found field '{}'; allowed: real, integer or pattern", info.field));
  }
  if (info.symmetry != "general" && info.symmetry != "symmetric" && info.symmetry != "skew-symmetric") {
    fail(path, 1, fmt::format("found symmetry '{}'; allowed: general, symmetric or skew-symmetric", info.symmetry));
  }
  info.coordinate = format == "coordinate";
  if (!info.coordinate && info.field == "pattern")
    fail(path, 1, "found a dense pattern; allowed: dense real or integer");
  if (!info.coordinate && info.symmetry == "skew-symmetric") {
    fail(path, 1, "found a dense skew-symmetric matrix; allowed: dense general or symmetric");
  }
}

void readSizes(const std::string& line, long long number, const std::string& path, MatrixMarketInfo& info) {
  std::istringstream words(line);
  words >> info.rows >> info.columns;
  if (info.coordinate) words >> info.entries;
  std::string rest;
  if (!words || (words >> rest) || info.rows < 1 || info.columns < 1 || info.entries < 0) {
    fail(path, number,
         fmt::format("found sizes '{}'; allowed: {}", line,
                     info.coordinate ? "rows, columns and number of entries" : "rows and columns"));
  }
  if (info.symmetry != "general" && info.rows != info.columns) {
    fail(path, number,
         fmt::format("found a {} matrix with {} rows and {} columns; allowed: a square one", info.symmetry, info.rows,
                     info.columns));
  }
  if (info.coordinate) return;
  constexpr long long most = std::numeric_limits<long long>::max() - 1;  // so that rows + 1 exists
  if (info.columns > most / info.rows || info.rows == most) {
    fail(path, number, fmt::format("found sizes '{}'; allowed: at most {} entries in all", line, most));
  }
  // A dense symmetric file holds the lower triangle only.
  const bool odd = info.rows % 2 == 1;
  info.entries = info.symmetry == "general" ? info.rows * info.columns
                 : odd                      ? (info.rows + 1) / 2 * info.rows
                                            : info.rows / 2 * (info.rows + 1);
}

}  // namespace

std::string resolvePath(const std::string& path, const std::string& folder) {
  const char* home = std::getenv("HOME");
  if (path.rfind("~/", 0) == 0 && home != nullptr) return std::string(home) + path.substr(1);
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

std::string readText(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) fail(path, 0, "no such file");
  if (std::filesystem::is_directory(path, ignored)) fail(path, 0, "is a folder; allowed: a file");
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) fail(path, 0, fmt::format("cannot be opened: {}", std::strerror(errno)));
  std::string text;
  std::array<char, 1 << 16> chunk{};
  int code = Z_OK;
  const char* message = "";
  // A gzip file cut short ends like any other for gzread(), but leaves Z_BUF_ERROR behind; from zlib 1.3.2 on, until
  // the next call only.
  for (int got = 1; got > 0 && code == Z_OK;) {
    got = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
    if (got > 0) text.append(chunk.data(), static_cast<std::size_t>(got));
    message = gzerror(file.get(), &code);
  }
  if (code == Z_BUF_ERROR) fail(path, 0, "the gzip file is truncated");
  if (code != Z_OK && code != Z_STREAM_END) fail(path, 0, fmt::format("cannot be read: {}", message));
  return text;
}

MatrixMarketInfo inspectMatrixMarket(const std::string& text, const std::string& path) {
  if (text.empty()) fail(path, 0, "the file is empty");
  MatrixMarketInfo info;
  Lines lines{text};
  std::string_view line;
  lines.next(line);
  readBanner(line, path, info);
  bool sized = false;
  while (!sized && lines.next(line)) {
    if (blank(line) || line.front() == '%') continue;
    readSizes(std::string(line), lines.number, path, info);
    sized = true;
  }
  if (!sized) fail(path, lines.number, "the file ends before the line with the sizes");

  const long long expected = info.entries;
  long long found = 0;
  while (lines.next(line)) {
    if (blank(line) || line.front() == '%') continue;
    if (!soundEntry(line, info)) {
      const std::string allowed = !info.coordinate          ? "one finite value a line"
                                  : info.field == "pattern" ? "row and column, from 1 to {} and {}"
                                                            : "row and column, from 1 to {} and {}, and a finite value";
      fail(path, lines.number,
           fmt::format("found '{}'; allowed: {}", std::string(line.substr(0, 40)),
                       fmt::format(fmt::runtime(allowed), info.rows, info.columns)));
    }
    ++found;
  }
  if (found < expected) {
    fail(path, lines.number, fmt::format("the file is truncated: {} of {} entries", found, expected));
  }
  if (found > expected) {
    fail(path, lines.number, fmt::format("{} entries, but the size line says {}", found, expected));
  }
  return info;
}

namespace {

/// All columns of a dense symmetric matrix, of which the file holds the lower triangle column by column.
std::string unfolded(const std::string& text, const MatrixMarketInfo& info) {
  std::vector<std::string_view> lower;
  Lines lines{text};
  std::string_view line;
  lines.next(line);
  for (bool sized = false; lines.next(line);) {
    if (blank(line) || line.front() == '%') continue;
    if (sized) lower.push_back(line);
    sized = true;
  }
  const auto n = static_cast<std::size_t>(info.rows);
  std::string plain = fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", n, n);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t row = std::max(i, j), column = std::min(i, j);
      plain.append(lower[column * n - column * (column + 1) / 2 + row]).append("\n");
    }
  }
  return plain;
}

/// Whether Tpetra's reader takes the lines as they are: it takes one spelling of the banner, and no blank lines.
bool hasPlainLines(const std::string& text) {
  const std::string_view banner = "%%MatrixMarket ";
  Lines lines{text};
  for (std::string_view line; lines.next(line);) {
    if (blank(line)) return false;
  }
  return text.compare(0, banner.size(), banner) == 0;
}

}  // namespace

std::string plainMatrixMarket(std::string text, const MatrixMarketInfo& info) {
  text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
  if (!info.coordinate && info.symmetry == "symmetric") return unfolded(text, info);
  const bool pattern = info.field == "pattern";
  if (!pattern && info.field != "double" && hasPlainLines(text)) return text;
  std::string plain =
      fmt::format("%%MatrixMarket matrix {} real {}\n", info.coordinate ? "coordinate" : "array", info.symmetry);
  Lines lines{text};
  std::string_view line;
  lines.next(line);
  for (bool sized = false; lines.next(line);) {
    if (blank(line) || line.front() == '%') continue;
    plain.append(line).append(sized && pattern ? " 1\n" : "\n");
    sized = true;
  }
  return plain;
}

}  // namespace capstan::deck
