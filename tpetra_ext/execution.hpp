#pragma once

/// \file
/// Whether the kernels of a solve run where they are launched, or as tasks of several threads.

#include <string>

#include "tpetra_ext/kernels/host/task_scope.hpp"

namespace capstan {

/// As asked for.
enum class Execution {
  Auto,     ///< as the environment says, else Ordered
  Ordered,  ///< each kernel is done when its launch returns, also where threads share it
  Tasks     ///< kernels/base/task_queue.hpp
};

struct ChosenExecution {
  kernels::Threads threads;
  std::string reason;  ///< for people; empty where nothing was asked for but one thread
};

/// What is asked for, else what the environment variable CAPSTAN_EXECUTION says: "ordered" or "tasks", and behind a
/// colon a number of threads; another value is told in the reason, and counts as "ordered". Local.
///
/// \param threads 0: as the variable says, if asked; else one, for tasks OMP_NUM_THREADS or one for each core
/// \param possible whether threads can share kernels here: on CPUs, in their vector code
ChosenExecution chosenExecution(Execution asked, int threads, bool possible);

}  // namespace capstan
