#include "adapters/deck/matrix_files.hpp"

#include <utility>

namespace capstan::deck {

MatrixFile readMatrixFile(const std::string& path) {
  MatrixFile file;
  file.text = readText(path);
  file.info = inspectMatrixMarket(file.text, path);
  return file;
}

MatrixMarketInfo MatrixFiles::inspect(const std::string& path) {
  const auto known = kept_.find(path);
  if (known != kept_.end()) {
    ++known->second.uses;
    return known->second.file.info;
  }
  MatrixFile file = readMatrixFile(path);
  const MatrixMarketInfo info = file.info;
  const auto size = static_cast<double>(file.text.size());
  if (bytes_ + size <= mostKept_) {
    bytes_ += size;
    kept_[path].file = std::move(file);
  }
  return info;
}

MatrixFile MatrixFiles::take(const std::string& path) {
  const auto known = kept_.find(path);
  if (known == kept_.end()) return readMatrixFile(path);
  if (--known->second.uses > 0) return known->second.file;
  MatrixFile file = std::move(known->second.file);
  kept_.erase(known);
  bytes_ -= static_cast<double>(file.text.size());
  return file;
}

}  // namespace capstan::deck
