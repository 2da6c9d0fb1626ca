#pragma once

/// \file
/// Columns that are stored in single precision, beside a MultiVector in double precision: Tpetra need not be
/// instantiated for float.

#include <Kokkos_Core.hpp>

#include "tpetra_ext/types.hpp"

namespace capstan {

/// n x columns, this rank's rows, on the device.
template <class Types>
using SingleColumns = Kokkos::View<float**, Kokkos::LayoutLeft, typename Types::DeviceType>;

}  // namespace capstan
