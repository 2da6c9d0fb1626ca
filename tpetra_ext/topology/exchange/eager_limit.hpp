#pragma once

/// \file
/// Up to which size MPI sends a message between nodes without asking the receiver.

namespace capstan::topology {

/// The smallest limit, in bytes, of the transports between nodes that this MPI's control variables (MPI_T) name: Open
/// MPI's btl_tcp_eager_limit and its likes, MPICH's MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE. 0 where it names none. Local;
/// ranks may differ.
long long eagerLimitToldByMpi();

}  // namespace capstan::topology
