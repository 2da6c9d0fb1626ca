// SPDX-License-Identifier: BSD-3-Clause
#include "adapters/driver/row_map.hpp"

#include <Teuchos_DefaultMpiComm.hpp>
#include <Teuchos_DefaultSerialComm.hpp>
#include <Teuchos_OpaqueWrapper.hpp>
#include <stdexcept>

#include "adapters/driver/start_trilinos.hpp"
#include "adapters/driver/trilinos_types.hpp"

namespace capstan::driver {
namespace {

// Duplicated, so that Trilinos' messages never meet those of the application.
Teuchos::RCP<const Teuchos::Comm<int>> duplicate(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return Teuchos::rcp(new Teuchos::SerialComm<int>());
  MPI_Comm own = MPI_COMM_NULL;
  if (MPI_Comm_dup(comm, &own) != MPI_SUCCESS) {
    throw std::runtime_error("MPI cannot duplicate the mesh's communicator");
  }
  return Teuchos::rcp(new Teuchos::MpiComm<int>(Teuchos::opaqueWrapper<MPI_Comm>(own, MPI_Comm_free)));
}

}  // namespace

std::shared_ptr<const RowMap> makeRowMap(MPI_Comm comm, std::int64_t cells) {
  ensureTrilinos();
  const auto invalid = Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid();
  auto result = std::make_shared<RowMap>();
  result->map = Teuchos::rcp(new const Map(invalid, static_cast<std::size_t>(cells), 0, duplicate(comm)));
  return result;
}

}  // namespace capstan::driver
