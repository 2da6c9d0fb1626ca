#include "belos_ext/test/solvers/real_matrices.hpp"

#include <zlib.h>

#include <MatrixMarket_Tpetra.hpp>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace capstan::testing {
namespace {

namespace fs = std::filesystem;
using Reader = Tpetra::MatrixMarket::Reader<CrsMatrix>;

const std::string ending = ".mtx.gz";

fs::path fileOf(const std::string& name) { return matrixFolder() / (name + ending); }

std::istringstream decompressed(const fs::path& path) {
  std::string text;
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) throw std::runtime_error("cannot open " + path.string());
  char buffer[1 << 16];
  for (int bytes; (bytes = gzread(file, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(bytes));
  gzclose(file);
  return std::istringstream(text);
}

/// The first fields of the manifest's rows that `accepts` takes.
std::vector<std::string> listed(const std::function<bool(const std::vector<std::string>&)>& accepts) {
  std::vector<std::string> names;
  std::ifstream manifest(matrixFolder() / "MANIFEST.tsv");
  for (std::string line; std::getline(manifest, line);) {
    std::istringstream fields(line);
    std::vector<std::string> row;
    for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
    if (row.size() > 6 && accepts(row)) names.push_back(row[0]);
  }
  return names;
}

}  // namespace

std::vector<std::string> matrixNames() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(matrixFolder())) {
    std::string name = entry.path().filename();
    if (name.size() <= ending.size() || name.substr(name.size() - ending.size()) != ending) continue;
    name.resize(name.size() - ending.size());
    const std::string last = name.substr(name.size() - 2);
    if (last != "_b" && last != "_x") names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> definiteNames() {
  return listed([](const auto& row) { return row[6] == "yes"; });
}

std::vector<std::string> nonsymmetricNames() {
  // Of symmetry, or, for some, of definiteness.
  return listed([](const auto& row) { return (row[5] + row[6]).find("nonsymmetric") != std::string::npos; });
}

fs::path fieldCase(const std::string& name, const std::string& file) {
  const char* folder = std::getenv("CAPSTAN_FIELD_CASES");
  return (folder != nullptr ? fs::path(folder) : matrixFolder() / "../cases") / name / file;
}

RCP<CrsMatrix> matrixIn(const fs::path& file, const RCP<const Teuchos::Comm<int>>& comm) {
  std::istringstream text = decompressed(file);
  return Reader::readSparse(text, comm);
}

RCP<MultiVector> vectorsIn(const fs::path& file, RCP<const Map> map) {
  std::istringstream text = decompressed(file);
  return Reader::readDense(text, map->getComm(), map);
}

std::uintmax_t fileSize(const std::string& name) { return fs::file_size(fileOf(name)); }

System systemFrom(const std::string& name) {
  const RCP<CrsMatrix> a = matrixIn(fileOf(name));
  System system = systemWithSolution(a);
  const fs::path b = fileOf(name + "_b");
  if (fs::exists(b)) system.b = vectorsIn(b, a->getRowMap());
  return system;
}

}  // namespace capstan::testing
