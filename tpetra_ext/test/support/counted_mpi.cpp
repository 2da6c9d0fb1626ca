#include "tpetra_ext/test/support/counted_mpi.hpp"

#include <map>
#include <thread>
#include <utility>

namespace capstan::test {

MpiCalls& mpiCalls() {
  static MpiCalls calls;
  return calls;
}

MpiFaults& mpiFaults() {
  static MpiFaults faults;
  return faults;
}

SentMessages& sentMessages() {
  static SentMessages messages;
  return messages;
}

MpiLooks& mpiLooks() {
  static MpiLooks looks;
  return looks;
}

void (*afterMpiFinalize)() = nullptr;

}  // namespace capstan::test

namespace {

const std::thread::id firstThread = std::this_thread::get_id();

using capstan::test::mpiCalls;
using capstan::test::mpiFaults;
using capstan::test::SentMessage;
using capstan::test::sentMessages;

/// The code to return now, if it is due.
int fault(int& wanted) {
  if (wanted == MPI_SUCCESS || mpiFaults().spared-- > 0) return MPI_SUCCESS;
  return std::exchange(wanted, MPI_SUCCESS);
}

void countBytes(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  mpiCalls().allreduceBytes += static_cast<long>(size) * count;
}

SentMessage message(int count, MPI_Datatype type, int to) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return {to, static_cast<long>(size) * count};
}

void noteSent(const SentMessage& message) {
  if (sentMessages().wanted) sentMessages().list.push_back(message);
}

/// What MPI_Send_init has made.
std::map<MPI_Request, SentMessage>& preparedMessages() {
  static std::map<MPI_Request, SentMessage> messages;
  return messages;
}

void noteStarted(MPI_Request request) {
  if (!sentMessages().wanted) return;
  if (const auto at = preparedMessages().find(request); at != preparedMessages().end()) noteSent(at->second);
}

}  // namespace

extern "C" {

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  noteSent(message(count, type, to));
  return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  noteSent(message(count, type, to));
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  if (const int code = fault(mpiFaults().sendInit); code != MPI_SUCCESS) return code;
  const int code = PMPI_Send_init(data, count, type, to, tag, comm, request);
  if (code == MPI_SUCCESS) preparedMessages()[*request] = message(count, type, to);
  return code;
}

int MPI_Start(MPI_Request* request) {
  if (const int code = fault(mpiFaults().start); code != MPI_SUCCESS) return code;
  noteStarted(*request);
  return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request requests[]) {
  if (const int code = fault(mpiFaults().startall); code != MPI_SUCCESS) return code;
  for (int k = 0; k < count; ++k) noteStarted(requests[k]);
  return PMPI_Startall(count, requests);
}

int MPI_Request_free(MPI_Request* request) {
  preparedMessages().erase(*request);
  return PMPI_Request_free(request);
}

int MPI_Allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++mpiCalls().allreduce;
  countBytes(count, type);
  if (const int code = std::exchange(mpiFaults().allreduce, MPI_SUCCESS); code != MPI_SUCCESS) return code;
  return PMPI_Allreduce(send, receive, count, type, op, comm);
}

int MPI_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  ++mpiCalls().iallreduce;
  countBytes(count, type);
  if (const int code = fault(mpiFaults().iallreduce); code != MPI_SUCCESS) return code;
  return PMPI_Iallreduce(send, receive, count, type, op, comm, request);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  ++mpiCalls().waits;
  const int code = PMPI_Wait(request, status);
  const int instead = fault(mpiFaults().wait);
  return instead != MPI_SUCCESS ? instead : code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  ++mpiCalls().waitsForAll;
  return PMPI_Waitall(count, requests, statuses);
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  ++mpiCalls().testsOfAll;
  return PMPI_Testall(count, requests, flag, statuses);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  ++mpiCalls().tests;
  if (const int code = fault(mpiFaults().test); code != MPI_SUCCESS) return code;
  return PMPI_Test(request, flag, status);
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  auto& looks = capstan::test::mpiLooks();
  ++(std::this_thread::get_id() == firstThread ? looks.here : looks.elsewhere);
  return PMPI_Request_get_status(request, flag, status);
}

int MPI_Finalize() {
  const int code = PMPI_Finalize();
  if (capstan::test::afterMpiFinalize != nullptr) capstan::test::afterMpiFinalize();
  return code;
}

int MPI_Cancel(MPI_Request* request) {
  ++mpiCalls().cancels;
  return PMPI_Cancel(request);
}

/// A collective that is counted with others of its kind, and passed on.
#define CAPSTAN_COUNTED(name, parameters, arguments) \
  int name parameters {                              \
    ++mpiCalls().otherCollectives;                   \
    return P##name arguments;                        \
  }

CAPSTAN_COUNTED(MPI_Barrier, (MPI_Comm comm), (comm))
CAPSTAN_COUNTED(MPI_Bcast, (void* buffer, int n, MPI_Datatype type, int root, MPI_Comm comm),
                (buffer, n, type, root, comm))
CAPSTAN_COUNTED(MPI_Reduce,
                (const void* send, void* receive, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
                (send, receive, n, type, op, root, comm))
CAPSTAN_COUNTED(MPI_Gather,
                (const void* send, int n, MPI_Datatype type, void* receive, int m, MPI_Datatype to, int root,
                 MPI_Comm comm),
                (send, n, type, receive, m, to, root, comm))
CAPSTAN_COUNTED(MPI_Allgather,
                (const void* send, int n, MPI_Datatype type, void* receive, int m, MPI_Datatype to, MPI_Comm comm),
                (send, n, type, receive, m, to, comm))
CAPSTAN_COUNTED(MPI_Allgatherv,
                (const void* send, int n, MPI_Datatype type, void* receive, const int m[], const int at[],
                 MPI_Datatype to, MPI_Comm comm),
                (send, n, type, receive, m, at, to, comm))
CAPSTAN_COUNTED(MPI_Alltoall,
                (const void* send, int n, MPI_Datatype type, void* receive, int m, MPI_Datatype to, MPI_Comm comm),
                (send, n, type, receive, m, to, comm))
CAPSTAN_COUNTED(MPI_Alltoallv,
                (const void* send, const int n[], const int from[], MPI_Datatype type, void* receive, const int m[],
                 const int at[], MPI_Datatype to, MPI_Comm comm),
                (send, n, from, type, receive, m, at, to, comm))

}  // extern "C"
