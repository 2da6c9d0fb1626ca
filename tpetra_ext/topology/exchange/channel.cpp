#include "tpetra_ext/topology/exchange/channel.hpp"

#include <Teuchos_DefaultSerialComm.hpp>
#include <algorithm>
#include <stdexcept>
#ifdef HAVE_TEUCHOS_MPI
#include <Teuchos_DefaultMpiComm.hpp>
#endif

#include "tpetra_ext/reductions/kept_with_communicator.hpp"
#include "tpetra_ext/topology/crossings.hpp"
#include "tpetra_ext/topology/exchange/eager_limit.hpp"
#include "tpetra_ext/topology/exchange/given_up.hpp"

namespace capstan::topology {
namespace {

/// Of exchangeMessages(); the tags of exchanges come after it.
constexpr int messageTag = 0;
constexpr int tagsOfAnExchange = 4;
/// MPI promises tags up to 32767.
constexpr int exchangesInTurn = 8000;

bool mpiIsGone() {
  int finalized = 0;
  return MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0;
}

}  // namespace

void requireSuccess(const char* function, int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  throw std::runtime_error(
      "capstan: " + std::string(function) + " failed: " +
      (length > 0 ? std::string(text, static_cast<std::size_t>(length)) : "MPI error " + std::to_string(code)));
}

std::shared_ptr<Channel> Channel::of(const Teuchos::Comm<int>& comm) {
  if (comm.getSize() == 1) return nullptr;
#ifdef HAVE_TEUCHOS_MPI
  if (const auto* mpi = dynamic_cast<const Teuchos::MpiComm<int>*>(&comm)) {
    const MPI_Comm raw = *mpi->getRawMpiComm();
    return std::static_pointer_cast<Channel>(
        keptWith(comm, "capstan exchange", [raw] { return std::make_shared<Channel>(raw); }));
  }
#endif
  throw std::invalid_argument("capstan: exchanges work on Teuchos::MpiComm; got " + comm.description());
}

Channel::Channel(MPI_Comm comm) {
  // A plain duplicate would share the attributes of the original, this channel among them.
  MPI_Group group = MPI_GROUP_NULL;
  requireSuccess("MPI_Comm_group", MPI_Comm_group(comm, &group));
  requireSuccess("MPI_Comm_create", MPI_Comm_create(comm, group, &comm_));
  requireSuccess("MPI_Group_free", MPI_Group_free(&group));
  requireSuccess("MPI_Comm_rank", MPI_Comm_rank(comm_, &rank_));
  requireSuccess("MPI_Comm_size", MPI_Comm_size(comm_, &ranks_));
}

Channel::~Channel() {
  if (comm_ != MPI_COMM_NULL && !mpiIsGone()) MPI_Comm_free(&comm_);
}

const NodeMap& Channel::nodes() {
  if (nodes_ != nullptr) return *nodes_;
  MPI_Comm shared = MPI_COMM_NULL;
  requireSuccess("MPI_Comm_split_type",
                 MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &shared));
  int first = rank_;
  requireSuccess("MPI_Bcast", MPI_Bcast(&first, 1, MPI_INT, 0, shared));
  requireSuccess("MPI_Comm_free", MPI_Comm_free(&shared));
  std::vector<int> firsts(static_cast<std::size_t>(ranks_));
  requireSuccess("MPI_Allgather", MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, comm_));
  nodes_ = std::make_unique<NodeMap>(NodeMap::fromLabels({firsts.begin(), firsts.end()}));
  return *nodes_;
}

long long Channel::eagerLimit() {
  if (eagerLimit_ > 0) return eagerLimit_;
  const long long mine = eagerLimitToldByMpi();
  requireSuccess("MPI_Allreduce", MPI_Allreduce(&mine, &eagerLimit_, 1, MPI_LONG_LONG, MPI_MIN, comm_));
  if (eagerLimit_ <= 0) eagerLimit_ = defaultEagerLimit;
  return eagerLimit_;
}

int Channel::takeTags() {
  const int first = messageTag + 1 + tags_ * tagsOfAnExchange;
  tags_ = (tags_ + 1) % exchangesInTurn;
  return first;
}

std::vector<Message> Channel::exchangeMessages(std::vector<Message> messages) {
  std::vector<int> sent(static_cast<std::size_t>(ranks_), 0);
  for (const Message& message : messages) {
    if (message.first != rank_) sent[static_cast<std::size_t>(message.first)] = 1;
  }
  // Nobody leaves this before all have come, so that messages of two calls cannot be taken for one another.
  int coming = 0;
  requireSuccess("MPI_Reduce_scatter_block",
                 MPI_Reduce_scatter_block(sent.data(), &coming, 1, MPI_INT, MPI_SUM, comm_));
  std::vector<MPI_Request> requests;
  try {
    return sendAndReceive(messages, coming, requests);
  } catch (...) {
    if (!endOthers(requests, deadlineOfGivingUp())) keepForMpi(std::move(messages));
    throw;
  }
}

/// The messages for this rank, of which so many come from others. Sends that have begun are in `requests`.
std::vector<Message> Channel::sendAndReceive(const std::vector<Message>& messages, int coming,
                                             std::vector<MPI_Request>& requests) const {
  std::vector<Message> received;
  for (const Message& message : messages) {
    if (message.first == rank_) {
      received.push_back(message);
      continue;
    }
    requests.push_back(MPI_REQUEST_NULL);
    requireSuccess("MPI_Isend", MPI_Isend(message.second.data(), static_cast<int>(message.second.size()), MPI_INT,
                                          message.first, messageTag, comm_, &requests.back()));
  }
  for (; coming > 0; --coming) {
    MPI_Status status;
    int count = 0;
    requireSuccess("MPI_Probe", MPI_Probe(MPI_ANY_SOURCE, messageTag, comm_, &status));
    requireSuccess("MPI_Get_count", MPI_Get_count(&status, MPI_INT, &count));
    received.emplace_back(status.MPI_SOURCE, std::vector<int>(static_cast<std::size_t>(count)));
    requireSuccess("MPI_Recv", MPI_Recv(received.back().second.data(), count, MPI_INT, status.MPI_SOURCE, messageTag,
                                        comm_, MPI_STATUS_IGNORE));
  }
  requireSuccess("MPI_Waitall", MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  std::sort(received.begin(), received.end(), [](const Message& a, const Message& b) { return a.first < b.first; });
  return received;
}

bool Channel::onAll(bool here) {
  int all = here ? 1 : 0;
  requireSuccess("MPI_Allreduce", MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm_));
  return all != 0;
}

}  // namespace capstan::topology
