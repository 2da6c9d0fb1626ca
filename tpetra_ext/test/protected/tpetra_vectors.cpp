/// \file
/// Tpetra's maps, exchanges and vectors for the node whose memory is protected (node.hpp).

#include <TpetraCore_ETIHelperMacros.h>

#include <Tpetra_Details_FixedHashTable_decl.hpp>
#include <Tpetra_Details_FixedHashTable_def.hpp>
#include <Tpetra_Details_StaticView.hpp>
#include <Tpetra_Details_Transfer_decl.hpp>
#include <Tpetra_Details_Transfer_def.hpp>
#include <Tpetra_DirectoryImpl_decl.hpp>
#include <Tpetra_DirectoryImpl_def.hpp>
#include <Tpetra_Directory_decl.hpp>
#include <Tpetra_Directory_def.hpp>
#include <Tpetra_DistObject_decl.hpp>
#include <Tpetra_DistObject_def.hpp>
#include <Tpetra_Export_decl.hpp>
#include <Tpetra_Export_def.hpp>
#include <Tpetra_ImportExportData_decl.hpp>
#include <Tpetra_ImportExportData_def.hpp>
#include <Tpetra_Import_decl.hpp>
#include <Tpetra_Import_def.hpp>
#include <Tpetra_Map_decl.hpp>
#include <Tpetra_Map_def.hpp>
#include <Tpetra_MultiVector_decl.hpp>
#include <Tpetra_MultiVector_def.hpp>
#include <Tpetra_Vector_decl.hpp>
#include <Tpetra_Vector_def.hpp>

template <>
std::string Kokkos::Compat::KokkosSerialWrapperNode::name() {
  return "Protected/Serial";
}

/// Memory that Tpetra keeps for buffers; it grows.
template <>
void* Tpetra::Details::Impl::StaticKokkosAllocation<capstan::test::ProtectedSpace>::resize(
    capstan::test::ProtectedSpace space, const size_t size) {
  static void* kept = nullptr;
  static size_t bytes = 0;
  if (size <= bytes) return kept;
  if (kept != nullptr) space.deallocate(kept, bytes);
  kept = space.allocate("Tpetra's static buffer", size);
  bytes = size;
  return kept;
}

namespace Tpetra {
TPETRA_ETI_MANGLING_TYPEDEFS()
namespace Details {
using ProtectedDevice = Kokkos_Compat_KokkosSerialWrapperNode::device_type;
TPETRA_DETAILS_FIXEDHASHTABLE_INSTANT(int, longlong, ProtectedDevice)
TPETRA_DETAILS_FIXEDHASHTABLE_INSTANT(int, int, ProtectedDevice)
TPETRA_INSTANTIATE_LGN(TPETRA_DETAILS_TRANSFER_INSTANT)
}  // namespace Details
TPETRA_INSTANTIATE_LGN(TPETRA_DIRECTORYIMPL_INSTANT)
TPETRA_INSTANTIATE_LGN(TPETRA_DIRECTORY_INSTANT)
TPETRA_INSTANTIATE_LGN(TPETRA_MAP_INSTANT)
TPETRA_INSTANTIATE_LGN(TPETRA_IMPORTEXPORTDATA_INSTANT)
TPETRA_INSTANTIATE_LGN(TPETRA_EXPORT_INSTANT)
TPETRA_INSTANTIATE_LGN(TPETRA_IMPORT_INSTANT)
TPETRA_INSTANTIATE_LGN(TPETRA_DISTOBJECT_INSTANT_CHAR)
TPETRA_INSTANTIATE_MULTIVECTOR(TPETRA_DISTOBJECT_INSTANT)
TPETRA_INSTANTIATE_MULTIVECTOR(TPETRA_MULTIVECTOR_INSTANT)
TPETRA_INSTANTIATE_MULTIVECTOR(TPETRA_VECTOR_INSTANT)
}  // namespace Tpetra
