#pragma once

/// \file
/// Whether a second thread may call MPI, beyond what MPI itself says of it. Used by progress.cpp only.

#include <string>

namespace capstan::detail {

/// Whether a library that calls itself so (MPI_Get_library_version) may lose messages as soon as two threads send.
///
/// Open MPI 6 does, as far as it exists (6.0.0rc2, and the main branch after it): two threads that send to the
/// same rank through the "fast boxes" of its shared memory take their places in the box under a lock, but the numbers
/// of their messages after it (mca_btl_sm_fbox_sendi). Where the numbers come in the other order, the receiver waits
/// for ever. Open MPI 4.1 and 5.0 take both under the lock.
bool losesMessagesOfThreads(const std::string& library);

/// Why a second thread is not to call MPI in this process, and what helps; empty where nothing is known against it.
/// Local; for use while MPI runs.
std::string whyNoSecondThread();

}  // namespace capstan::detail
