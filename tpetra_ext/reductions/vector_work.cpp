#include "tpetra_ext/reductions/vector_work.hpp"

#include <algorithm>

namespace capstan {
namespace {

bool has(const std::vector<const void*>& columns, const void* column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

}  // namespace

VectorWork& vectorWork() {
  static VectorWork work;
  return work;
}

VectorPass::VectorPass(std::size_t rows)
    : work_(vectorWork().enabled() && rows > 0 ? &vectorWork() : nullptr), rows_(static_cast<long long>(rows)) {
  if (!counts()) return;
  work_->read_.clear();
  work_->written_.clear();
}

void VectorPass::flops(std::size_t ofRow) {
  if (counts()) work_->flops_ += static_cast<long long>(ofRow) * rows_;
}

void VectorPass::reads(const void* column, bool single) {
  if (!counts() || has(work_->read_, column) || has(work_->written_, column)) return;
  work_->read_.push_back(column);
  adds(single);
}

void VectorPass::writes(const void* column, bool single) {
  if (!counts() || has(work_->written_, column)) return;
  work_->written_.push_back(column);
  adds(single);
}

void VectorPass::adds(bool single) { (single ? work_->singles_ : work_->entries_) += rows_; }

}  // namespace capstan
