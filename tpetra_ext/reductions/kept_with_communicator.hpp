#pragma once

/// \file
/// Data that belongs to the processes of a communicator: counters, for instance, that must be the same on all of them.

#include <functional>
#include <memory>
#include <string>

namespace Teuchos {
template <class Ordinal>
class Comm;
}

namespace capstan {

/// What a duplicate of a communicator (MPI_Comm_dup) has of an object kept with the original.
enum class Duplicates {
  Share,     ///< the same object, where the original has had it when the duplicate was made; it lives as long as both
  BeginAnew  ///< none: for what works on this communicator itself, and must be gone with it
};

/// The object kept with this communicator under a name; `make` makes it when it is asked for first.
///
/// It is an attribute of the MPI communicator, and so is found again through another Teuchos::Comm of it. A duplicate,
/// whose processes are the same, shares it or not; the two kinds have names of their own. What is made by
/// MPI_Comm_split or MPI_Comm_create begins with none. The objects of all Teuchos::SerialComm are the same.
///
/// Where all processes of the communicator change an object in the same order, they have the same. Local, or collective
/// over this communicator where `make` is and is called. Thread-safe, but for the object itself: no lock is held while
/// `make` runs, and of several threads that make one at once all get the first. Never null. Throws
/// std::invalid_argument for another kind of communicator, and std::runtime_error where MPI refuses an attribute.
std::shared_ptr<void> keptWith(const Teuchos::Comm<int>& comm, const std::string& name,
                               const std::function<std::shared_ptr<void>()>& make,
                               Duplicates duplicates = Duplicates::Share);

}  // namespace capstan
