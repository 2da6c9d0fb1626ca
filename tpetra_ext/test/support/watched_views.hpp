#pragma once

/// \file
/// Sees on CPUs what Tpetra refuses where a device has a memory of its own: views that are alive too long.
///
/// In every unit test a failure is added where
/// - views of host and device of one object are alive together;
/// - a kernel begins, or a region that Kokkos' tools see, which is not Capstan's, while a view is alive: Tpetra or a
///   preconditioner works, and may ask for the other side;
/// - a view is alive where vectors are handed to others (compat::handOver()), or a test ends.
///
/// And it sees what would be out of order, or wait too long, where an execution space has several instances. A failure
/// is added where
/// - the kernels that are named as Capstan's and have begun are not as many as queues were given, at the end of a test:
///   on CPUs Kokkos' hooks tell no instances apart;
/// - Kokkos fills a view of Capstan's, which takes a kernel of the default instance;
/// - the host waits for all instances while a view is alive: it is Capstan that works. Kokkos tells so since release 4.
///
/// Views count that are taken by tpetra_ext/compat/local_views.hpp, by which all of Capstan takes them (test: layers).

#include <string>
#include <vector>

namespace capstan::test {

/// Kokkos waits for everything before it calls a hook, which would hide that somebody else did not, and allocates a
/// name for that. Not after this. Before Kokkos is initialised.
void watchWithoutFences();

/// Watches from now on. After Kokkos has been initialised.
void watchViews();

/// What a test's end does: compares kernels with what queues were given.
void compareWithQueues();

/// Calls seen(name) for each kernel that begins, and region(name) for each region; null: no more. Kokkos has one such
/// hook, and the watch has it.
void seeKernels(void (*seen)(const char* name), void (*region)(const char* name) = nullptr);

/// Counts Capstan's kernels as long as it lives; one at a time, and not with seeKernels().
class CountedKernels {
 public:
  CountedKernels();
  ~CountedKernels();
  CountedKernels(const CountedKernels&) = delete;
  CountedKernels& operator=(const CountedKernels&) = delete;

  /// So far.
  long count() const;
};

/// Puts what the watch finds into a list of its own, in the place of failures, as long as it lives.
class CollectedComplaints {
 public:
  CollectedComplaints();
  ~CollectedComplaints();
  CollectedComplaints(const CollectedComplaints&) = delete;
  CollectedComplaints& operator=(const CollectedComplaints&) = delete;

  /// What has been found so far.
  const std::vector<std::string>& list() const { return list_; }

 private:
  std::vector<std::string> list_;
};

}  // namespace capstan::test
