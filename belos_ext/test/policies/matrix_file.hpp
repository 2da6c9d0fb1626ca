#pragma once
/// \file
/// Reads one of the real matrices kept beside the repository, where there are any.

#include <zlib.h>

#include <sstream>
#include <string>

#include "belos_ext/test/support/problems.hpp"

namespace capstan::testing {

/// The square coordinate matrix in the gzipped Matrix Market file `name`, over all ranks; null where it is not there.
inline RCP<CrsMatrix> matrixFromFile(const std::string& name) {
  const gzFile file = gzopen((std::string(CAPSTAN_SHARED_MATRICES "/") + name).c_str(), "rb");
  if (file == nullptr) return Teuchos::null;
  std::string text;
  char buffer[1 << 16];
  for (int bytes; (bytes = gzread(file, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(bytes));
  gzclose(file);

  std::istringstream in(text);
  std::string line;
  while (std::getline(in, line) && line[0] == '%') {
  }
  long rows = 0, columns = 0, count = 0;
  std::istringstream(line) >> rows >> columns >> count;
  std::vector<std::vector<Entry>> entries(static_cast<std::size_t>(rows));
  long i = 0, j = 0;
  for (Scalar value = 0; in >> i >> j >> value;) {
    entries[static_cast<std::size_t>(i - 1)].push_back({static_cast<GO>(j - 1), value});
  }

  std::size_t longest = 0;
  for (const auto& row : entries) longest = std::max(longest, row.size());
  const auto map = evenMap(rows);
  auto a = rcp(new CrsMatrix(map, longest));
  for (size_t local = 0; local < compat::localNumElements(*map); ++local) {
    const GO g = map->getGlobalElement(static_cast<int>(local));
    for (const Entry& e : entries[static_cast<std::size_t>(g)]) {
      a->insertGlobalValues(g, Teuchos::tuple<GO>(e.column), Teuchos::tuple<Scalar>(e.value));
    }
  }
  a->fillComplete();
  return a;
}

}  // namespace capstan::testing
