/// \file
/// The requests of one completing call, sorted into held ones and the library's own.
#pragma once

#include <vector>

#include "perf/latency/requests.hpp"
#include "perf/latency/visible_mpi.hpp"

namespace capstan::latency {

/// The requests of one call, split. Reads the caller's array, and writes to it only in giveBack.
class Split {
 public:
  Split(int n, MPI_Request* requests) : requests_(requests) {
    for (int i = 0; i < n; ++i) {
      if (HeldRequest* held = find(requests[i]); held != nullptr) {
        held_.push_back({i, held});
      } else {
        plain_.push_back(requests[i]);
        place_.push_back(i);
      }
    }
    statuses_.resize(plain_.size() + 1);
  }

  struct Held {
    int i;
    HeldRequest* request;
  };

  const std::vector<Held>& held() const { return held_; }
  int plainCount() const { return static_cast<int>(plain_.size()); }
  MPI_Request* plain() { return plain_.data(); }
  MPI_Status* statuses() { return statuses_.data(); }
  /// Index among all requests of a plain one.
  int place(int k) const { return place_[static_cast<std::size_t>(k)]; }

  /// Hands handle k back to the caller's array.
  void giveBack(int k) { requests_[place(k)] = plain_[static_cast<std::size_t>(k)]; }
  /// Copies status k into the caller's entry, if there is one.
  void copyStatus(int k, MPI_Status* into) const {
    if (into != MPI_STATUS_IGNORE) *into = statuses_[static_cast<std::size_t>(k)];
  }

 private:
  MPI_Request* requests_;
  std::vector<Held> held_;
  std::vector<MPI_Request> plain_;
  std::vector<int> place_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace capstan::latency
