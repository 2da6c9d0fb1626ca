#include "belos_ext/manager/system_numbers.hpp"

#include <algorithm>
#include <memory>

#include "tpetra_ext/reductions/kept_with_communicator.hpp"

namespace capstan {

SystemNumbers& SystemNumbers::of(const Teuchos::Comm<int>& comm) {
  // The communicator keeps it longer than any solve over it takes.
  return *static_cast<SystemNumbers*>(
      keptWith(comm, "system numbers", [] { return std::make_shared<SystemNumbers>(); }).get());
}

SystemNumbers::System* SystemNumbers::sameObject(const Teuchos::Describable* matrix) {
  const auto found = std::find_if(systems_.begin(), systems_.end(), [matrix](const System& system) {
    // Another object may stand where one that is gone stood.
    return system.matrix.is_valid_ptr() && system.matrix.get() == matrix;
  });
  return found == systems_.end() ? nullptr : &*found;
}

SystemNumbers::System* SystemNumbers::predecessor(const SystemLook& look, bool sizesToo) {
  System* oldest = nullptr;
  for (System& system : systems_) {
    if (system.matrix.is_valid_ptr() || system.look.kind != look.kind) continue;
    if (sizesToo && (system.look.rows != look.rows || system.look.entries != look.entries)) continue;
    if (oldest == nullptr || system.lastSolve < oldest->lastSolve) oldest = &system;
  }
  return oldest;
}

void SystemNumbers::makeRoom() {
  if (systems_.size() < capacity) return;
  systems_.erase(std::min_element(systems_.begin(), systems_.end(),
                                  [](const System& a, const System& b) { return a.lastSolve < b.lastSolve; }));
}

int SystemNumbers::next(const Teuchos::RCP<const Teuchos::Describable>& matrix, const SystemLook& look) {
  const std::lock_guard<std::mutex> lock(mutex_);
  System* system = sameObject(matrix.get());
  if (system == nullptr) system = predecessor(look, true);
  if (system == nullptr) system = predecessor(look, false);
  if (system == nullptr) {
    makeRoom();
    systems_.push_back({Teuchos::null, look, ++count_, 0});
    system = &systems_.back();
  }
  system->matrix = matrix.create_weak();
  system->look = look;
  system->lastSolve = ++solves_;
  return system->number;
}

}  // namespace capstan
