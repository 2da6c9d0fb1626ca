#include "tpetra_ext/reductions/progress.hpp"

#include <Teuchos_ConfigDefs.hpp>
#include <stdexcept>
#include <system_error>

#include "tpetra_ext/reductions/all_reduce.hpp"
#include "tpetra_ext/reductions/progress_watch.hpp"
#include "tpetra_ext/reductions/second_thread.hpp"
#if defined(HAVE_TEUCHOS_MPI) && !defined(CAPSTAN_WITHOUT_MPI)
#define CAPSTAN_HAVE_MPI
#include <mpi.h>
#endif

namespace capstan {
namespace {

using detail::Watch;

#ifdef CAPSTAN_HAVE_MPI

bool mpiRuns() {
  int up = 0, down = 0;
  MPI_Initialized(&up);
  MPI_Finalized(&down);
  return up != 0 && down == 0;
}

const char* nameOfLevel(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    default:
      return "MPI_THREAD_MULTIPLE";
  }
}

/// Closes the watch before MPI goes away: MPI_Finalize deletes the attributes of MPI_COMM_SELF first of all. Unloading
/// the library does the same, and takes the attribute along, whose code goes away.
class Closing {
 public:
  static void arrange() { static Closing only; }

 private:
  Closing() {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &onDelete, &key_, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key_, nullptr);
  }
  ~Closing() {
    if (Watch::instance().lookingHere()) return;
    if (mpiRuns()) {
      MPI_Comm_delete_attr(MPI_COMM_SELF, key_);
      MPI_Comm_free_keyval(&key_);
    }
  }
  static int onDelete(MPI_Comm, int, void*, void*) {
    Watch::instance().close();
    return MPI_SUCCESS;
  }

  int key_ = MPI_KEYVAL_INVALID;
};

/// The mode that is possible, and why it is another one.
ProgressMode possible(ProgressMode wanted, std::string& reason) {
  if (wanted == ProgressMode::None) return wanted;
  if (!mpiRuns()) {
    reason = "MPI is not running: reductions are local";
    return ProgressMode::None;
  }
  if (nonblockingMode() == NonblockingMode::Deferred) {
    reason = "nonblocking reductions are deferred to their wait";
    return ProgressMode::None;
  }
  Closing::arrange();
  if (wanted == ProgressMode::Poll) return wanted;
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) {
    reason = std::string("a progress thread needs MPI_THREAD_MULTIPLE, the application has initialised MPI with ") +
             nameOfLevel(level);
    return ProgressMode::Poll;
  }
  static const std::string objection = detail::whyNoSecondThread();
  if (!objection.empty()) {
    reason = objection;
    return ProgressMode::Poll;
  }
  try {
    Watch::instance().startThread();
  } catch (const std::system_error& error) {
    reason = std::string("the system starts no thread: ") + error.what();
    return ProgressMode::Poll;
  }
  return wanted;
}

#else

ProgressMode possible(ProgressMode wanted, std::string& reason) {
  if (wanted != ProgressMode::None) reason = "Capstan was built without MPI: reductions are local";
  return ProgressMode::None;
}

#endif

}  // namespace

std::string toString(ProgressMode mode) {
  switch (mode) {
    case ProgressMode::None:
      return "none";
    case ProgressMode::Poll:
      return "poll";
    case ProgressMode::Thread:
      return "thread";
  }
  throw std::logic_error("ProgressMode out of range");
}

long progressPolls() { return Watch::instance().looks(); }
bool progressThreadRunning() { return Watch::instance().threadRunning(); }
long progressPending() { return Watch::instance().pending(); }

ProgressScope::ProgressScope(ProgressMode wanted) : before_(Watch::instance().mode) {
  mode_ = possible(wanted, reason_);
  Watch::instance().mode = mode_;
}

ProgressScope::~ProgressScope() { Watch::instance().mode = before_; }

namespace detail {

void pollNow() noexcept { Watch::instance().poll(); }

void watch(Watched& reduction) { watchAgain(reduction, Watch::instance().mode); }

ProgressMode unwatch(Watched& reduction) { return Watch::instance().remove(reduction); }

void watchAgain(Watched& reduction, ProgressMode mode) {
  if (mode != ProgressMode::None) Watch::instance().add(reduction, mode);
}

BlockedInMpi::BlockedInMpi() : held_(progressThreadRunning()) {
  if (held_) Watch::instance().hold();
}
BlockedInMpi::~BlockedInMpi() {
  if (held_) Watch::instance().resume();
}

}  // namespace detail

}  // namespace capstan
