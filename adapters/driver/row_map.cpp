// SPDX-License-Identifier: BSD-3-Clause
#include <Teuchos_DefaultMpiComm.hpp>
#include <Teuchos_DefaultSerialComm.hpp>
#include <Teuchos_OpaqueWrapper.hpp>
#include <stdexcept>

#include "adapters/driver/start_trilinos.hpp"
#include "adapters/driver/trilinos_types.hpp"
#include "tpetra_ext/compat/trilinos.hpp"

namespace capstan::driver {
// Duplicated, so that Trilinos' messages never meet those of the application.
Teuchos::RCP<const Teuchos::Comm<int>> ownCommunicator(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return Teuchos::rcp(new Teuchos::SerialComm<int>());
  MPI_Comm own = MPI_COMM_NULL;
  if (MPI_Comm_dup(comm, &own) != MPI_SUCCESS) {
    throw std::runtime_error("MPI cannot duplicate the application's communicator");
  }
  return Teuchos::rcp(new Teuchos::MpiComm<int>(Teuchos::opaqueWrapper<MPI_Comm>(own, MPI_Comm_free)));
}

Teuchos::RCP<const Map> makeRowMap(MPI_Comm comm, std::int64_t rows) {
  ensureTrilinos();
  return makeRowMap(ownCommunicator(comm), rows);
}

Teuchos::RCP<const Map> makeRowMap(const Teuchos::RCP<const Teuchos::Comm<int>>& comm, std::int64_t rows) {
  const auto invalid = Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid();
  return Teuchos::rcp(new const Map(invalid, static_cast<std::size_t>(rows), 0, comm));
}

bool isOverMpi(const Map& rows) { return dynamic_cast<const Teuchos::MpiComm<int>*>(rows.getComm().get()) != nullptr; }

std::intptr_t numberOf(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return 0;
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr);
    return made;
  }();
  static std::intptr_t last = 0;
  void* number = nullptr;
  int known = 0;
  MPI_Comm_get_attr(comm, key, &number, &known);
  if (known == 0) {
    number = reinterpret_cast<void*>(++last);
    MPI_Comm_set_attr(comm, key, number);
  }
  return reinterpret_cast<std::intptr_t>(number);
}

std::int64_t localRows(const Map& rows) { return static_cast<std::int64_t>(compat::localNumElements(rows)); }

}  // namespace capstan::driver
