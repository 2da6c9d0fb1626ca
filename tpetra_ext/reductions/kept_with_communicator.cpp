#include "tpetra_ext/reductions/kept_with_communicator.hpp"

#include <Teuchos_DefaultSerialComm.hpp>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>
#ifdef HAVE_TEUCHOS_MPI
#include <mpi.h>

#include <Teuchos_DefaultMpiComm.hpp>
#endif

namespace capstan {

namespace {

using Objects = std::map<std::string, std::shared_ptr<void>>;

/// Never destroyed: MPI may delete attributes after the statics of this library are gone. Held over local calls alone:
/// of two threads with a communicator each, one may hold it on this rank and the other one on another rank.
std::mutex& mutex() {
  static auto* const instance = new std::mutex;
  return *instance;
}

#ifdef HAVE_TEUCHOS_MPI

int copyObjects(MPI_Comm /*old*/, int /*key*/, void* /*extra*/, void* from, void* to, int* copied) {
  *static_cast<Objects**>(to) = new Objects(*static_cast<const Objects*>(from));
  *copied = 1;
  return MPI_SUCCESS;
}

int deleteObjects(MPI_Comm /*comm*/, int /*key*/, void* objects, void* /*extra*/) {
  delete static_cast<Objects*>(objects);
  return MPI_SUCCESS;
}

void require(int code) {
  if (code != MPI_SUCCESS) throw std::runtime_error("capstan: MPI refuses an attribute of a communicator");
}

int madeKey(MPI_Comm_copy_attr_function* copy) {
  int made = MPI_KEYVAL_INVALID;
  require(MPI_Comm_create_keyval(copy, deleteObjects, &made, nullptr));
  return made;
}

/// Made once, and given back with MPI itself.
int keyOfObjects(Duplicates duplicates) {
  if (duplicates == Duplicates::BeginAnew) {
    static const int key = madeKey(MPI_COMM_NULL_COPY_FN);
    return key;
  }
  static const int key = madeKey(copyObjects);
  return key;
}

Objects& objectsOf(MPI_Comm comm, Duplicates duplicates) {
  void* found = nullptr;
  int isThere = 0;
  const int key = keyOfObjects(duplicates);
  require(MPI_Comm_get_attr(comm, key, static_cast<void*>(&found), &isThere));
  if (isThere != 0) return *static_cast<Objects*>(found);
  auto made = std::make_unique<Objects>();
  require(MPI_Comm_set_attr(comm, key, made.get()));
  return *made.release();
}

#endif

Objects& objectsOf(const Teuchos::Comm<int>& comm, Duplicates duplicates) {
#ifdef HAVE_TEUCHOS_MPI
  if (const auto* mpi = dynamic_cast<const Teuchos::MpiComm<int>*>(&comm))
    return objectsOf(*mpi->getRawMpiComm(), duplicates);
#endif
  if (dynamic_cast<const Teuchos::SerialComm<int>*>(&comm) != nullptr) {
    static auto* const shared = new Objects;
    static auto* const own = new Objects;
    return duplicates == Duplicates::Share ? *shared : *own;
  }
  throw std::invalid_argument("capstan: nothing can be kept with a communicator of type " + comm.description());
}

}  // namespace

std::shared_ptr<void> keptWith(const Teuchos::Comm<int>& comm, const std::string& name,
                               const std::function<std::shared_ptr<void>()>& make, Duplicates duplicates) {
  const auto find = [&](std::shared_ptr<void> otherwise) {
    const std::lock_guard<std::mutex> lock(mutex());
    std::shared_ptr<void>& object = objectsOf(comm, duplicates)[name];
    if (object == nullptr) object = std::move(otherwise);
    return object;
  };
  auto known = find(nullptr);
  return known != nullptr ? known : find(make());
}

}  // namespace capstan
