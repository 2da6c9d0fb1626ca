#pragma once

/// \file
/// Which of the systems of a run a solve is about, counted in the order in which they are solved first.

#include <Teuchos_Comm.hpp>
#include <Teuchos_Describable.hpp>
#include <Teuchos_RCP.hpp>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace capstan {

/// What a system looks like from outside. The same on all ranks of a solve.
struct SystemLook {
  std::string kind;       ///< names, method, right-hand sides, types of the preconditioners
  long long rows = 0;     ///< of all ranks
  long long entries = 0;  ///< of all ranks; -1: not known
};

/// Numbers for the systems of a communicator, from 1.
///
/// A system is a matrix object. An application may make it anew for every solve: then the new object is the system of
/// a matrix that is gone, first of those that looked the same, else of those of the same kind with another size, and
/// among several the one whose last solve is the longest ago. So systems that are solved in turn keep their numbers,
/// though their solvers, preconditioners and matrices are made anew. An object that is new while all others like it
/// still exist is a new system.
///
/// What has not been solved for longest is forgotten where more than `capacity` systems are known.
///
/// Local and thread-safe. The numbers are the same on all ranks of a communicator, because all of them take part in all
/// of its solves, in one order, and objects come and go in one order.
class SystemNumbers {
 public:
  static constexpr std::size_t capacity = 256;

  /// Those of the communicator. Local.
  static SystemNumbers& of(const Teuchos::Comm<int>& comm);

  /// The number of the system whose operator is `matrix`, which a solve is about to begin with. Not null.
  int next(const Teuchos::RCP<const Teuchos::Describable>& matrix, const SystemLook& look);

  /// Whether solves look for the symmetry of their matrix, since the user's options have asked for it once, on whatever
  /// rank. The same on all ranks. Local.
  bool looksForSymmetry() const { return looksForSymmetry_; }
  /// Call it on all ranks alike. Local.
  void lookForSymmetry() { looksForSymmetry_ = true; }

 private:
  struct System {
    Teuchos::RCP<const Teuchos::Describable> matrix;  ///< weak
    SystemLook look;
    int number = 0;
    long lastSolve = 0;
  };

  System* sameObject(const Teuchos::Describable* matrix);
  System* predecessor(const SystemLook& look, bool sizesToo);
  void makeRoom();

  std::atomic<bool> looksForSymmetry_{false};
  std::mutex mutex_;
  std::vector<System> systems_;
  int count_ = 0;
  long solves_ = 0;
};

}  // namespace capstan
