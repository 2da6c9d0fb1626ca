#pragma once

/// \file
/// What threads did in a solve, as a file that trace viewers open (Perfetto, Chrome's about:tracing).

#include <Teuchos_Comm.hpp>
#include <memory>
#include <string>

#include "belos_ext/parameters/solver_options.hpp"
#include "tpetra_ext/trace.hpp"

namespace capstan {

/// The trace in the format of Chrome's trace viewer: a stretch for each kernel and thread, for each application of the
/// preconditioner and for each wait; a reduction is in flight from its start to the end of the wait for it. Times are
/// microseconds of the machine's own clock.
std::string toTraceJson(const Trace& trace, const std::string& solver, int rank);

/// The file of one rank: "trace.json" is trace.3.json on rank 3 of several.
std::string traceFileOf(const std::string& path, int rank, int ranks);

/// Records a solve and writes "Trace File" when it ends, in place of what an earlier solve wrote. Nothing where none is
/// asked for. A file that cannot be written is told once. Local; each rank writes its own.
class SolveTrace {
 public:
  SolveTrace(const SolverOptions& options, std::string solver, const Teuchos::Comm<int>& comm);
  ~SolveTrace();
  SolveTrace(const SolveTrace&) = delete;
  SolveTrace& operator=(const SolveTrace&) = delete;

 private:
  std::string path_, solver_;
  Teuchos::RCP<std::ostream> out_;
  int rank_;
  std::unique_ptr<Trace> trace_;
};

}  // namespace capstan
