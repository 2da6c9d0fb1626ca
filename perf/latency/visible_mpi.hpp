/// \file
/// mpi.h with its functions visible: the library hides everything else, and MPICH's header does not say that they are
/// not to be hidden. Include this instead of mpi.h.
#pragma once

#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop
