// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/field_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "adapters/driver/test_vector.hpp"
#include "belos_ext/parameters/method_traits.hpp"
#include "tpetra_ext/wall_clock.hpp"

namespace capstan::driver {

void FieldMemory::adopt(const HostSystem& system) {
  solver_.reset();
  choices_.clear();
  chosen = nullptr;
  rows_.reset();
  assembled_.reset();
  matrixAge_ = preconditionerAge_ = 0;
  taken_ = false;
  spread = 0;
  const auto comm = system.communicator();
  communicator_ = numberOf(comm);
  const bool same =
      !shared_->map.is_null() && localRows(*shared_->map) == system.rows() && shared_->communicator == communicator_;
  int shared = same ? 1 : 0;
  if (comm != MPI_COMM_NULL) MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MIN, comm);
  if (shared == 0) *shared_ = {makeRowMap(comm, system.rows()), 0, nullptr, nullptr, communicator_};
  map_ = shared_->map;
  solver_ = std::make_unique<KrylovSolver>(map_, system.facts.label, why_);
}

FieldChoice& FieldMemory::choose(const Plan& plan, const HostFacts& facts, const Agreement& agreed) {
  constexpr std::size_t most = 4;
  const auto known = std::find_if(choices_.begin(), choices_.end(),
                                  [&](const auto& kept) { return kept->isFor(plan, agreed.multigrid, facts.kind); });
  if (known != choices_.end()) {
    chosen = known->get();
  } else {
    if (choices_.size() == most) choices_.erase(choices_.begin());
    choices_.push_back(std::make_unique<FieldChoice>(plan, facts.label, agreed, facts.kind, *map_->getComm()));
    chosen = choices_.back().get();
  }
  return *chosen;
}

// The pattern may change while the number of rows stays: it is looked at whenever it is used.
void FieldMemory::takeGraph(const HostSystem& system) {
  const auto comm = system.startedCommunicator();
  if (!isOverMpi(*map_)) {
    // A run of one process has been without MPI so far.
    if (!isOverMpi(*shared_->map) || localRows(*shared_->map) != system.rows()) {
      *shared_ = {makeRowMap(comm, system.rows()), 0, nullptr, nullptr, communicator_};
    }
    map_ = shared_->map;
    solver_ = std::make_unique<KrylovSolver>(map_, system.facts.label, why_);
  }
  const auto now = system.fingerprint();
  int known[2] = {rows_ != nullptr && fingerprint_ == now ? 1 : 0,
                  shared_->rows != nullptr && shared_->fingerprint == now ? 1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, known, 2, MPI_INT, MPI_MIN, comm);
  if (known[0] != 0) return;
  if (known[1] == 0) {
    shared_->rows = system.makeRows();
    shared_->graph = makeGraph(shared_->rows->pattern(), map_);
    shared_->fingerprint = now;
  }
  rows_ = shared_->rows;
  fingerprint_ = now;
  assembled_ = std::make_unique<AssembledPreconditioner>(shared_->graph, system.facts.label);
  matrixAge_ = preconditionerAge_ = 0;
  taken_ = false;
}

bool FieldMemory::prepare(HostSystem& system, const PreconditionerChoice& choice, const Plan& plan, double sign,
                          bool renew) {
  takeGraph(system);
  const bool otherSign = sign != sign_;  // a preconditioner of the other sign would turn every correction round
  const bool takes = renewal.isDue(plan.matrixUpdate, matrixAge_);
  const bool builds = renew || otherSign || !assembled_->has(choice) ||
                      (takes && renewal.isDue(plan.preconditionerUpdate, preconditionerAge_));
  ++matrixAge_;
  ++preconditionerAge_;
  if (!builds) return false;
  const double start = wallSeconds();
  sign_ = sign;
  if (takes || renew || otherSign || !taken_) {
    taken_ = false;
    system.values(*rows_, sign, values_);
    matrixAge_ = 1;
    taken_ = true;
  }
  const bool needsSymmetric = std::any_of(plan.ways.begin(), plan.ways.end(), [](const Way& way) {
    const MethodTraits* const method = findMethod(way.solver.method);
    return method != nullptr && method->needsSymmetric;
  });
  findings_ = assembled_->update(choice, values_, needsSymmetric);
  if (plan.verify) verify(system, sign);
  preconditionerAge_ = 1;
  renewal.built(wallSeconds() - start);
  return true;
}

void FieldMemory::verify(HostSystem& system, double sign) const {
  const auto& pattern = rows_->pattern();
  const std::size_t rows = pattern.rowStart.size() - 1;
  const auto x = testVector(pattern.firstRow, rows);
  std::vector<double> ours(rows), theirs(rows);
  assembled_->apply(x.data(), ours.data());
  system.multiply(x.data(), theirs.data());
  for (std::size_t i = 0; i < rows; ++i) {
    double scale = 0;
    for (auto k = pattern.rowStart[i]; k < pattern.rowStart[i + 1]; ++k) {
      scale += std::abs(values_[static_cast<std::size_t>(k)]);
    }
    const double expected = sign * theirs[i];
    if (!(std::abs(ours[i] - expected) <= 1e-13 * scale)) {
      throw std::logic_error(
          fmt::format("the assembled matrix differs from the application's own in row {} of this rank: its product "
                      "with a test vector is {}, the application's {}",
                      i, ours[i], expected));
    }
  }
}

}  // namespace capstan::driver
