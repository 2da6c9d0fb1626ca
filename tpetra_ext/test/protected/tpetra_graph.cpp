/// \file
/// Tpetra's graphs for the node whose memory is protected (node.hpp).

#include <TpetraCore_ETIHelperMacros.h>

#include <Tpetra_CrsGraph_decl.hpp>
#include <Tpetra_CrsGraph_def.hpp>
#include <Tpetra_Details_getGraphDiagOffsets_decl.hpp>
#include <Tpetra_Details_getGraphDiagOffsets_def.hpp>
#include <Tpetra_Details_getGraphOffRankOffsets_decl.hpp>
#include <Tpetra_Details_getGraphOffRankOffsets_def.hpp>
#include <Tpetra_Details_localRowOffsets_decl.hpp>
#include <Tpetra_Details_localRowOffsets_def.hpp>
#include <Tpetra_Details_makeColMap_decl.hpp>
#include <Tpetra_Details_makeColMap_def.hpp>
#include <Tpetra_Details_packCrsGraph_decl.hpp>
#include <Tpetra_Details_packCrsGraph_def.hpp>
#include <Tpetra_Details_unpackCrsGraphAndCombine_decl.hpp>
#include <Tpetra_Details_unpackCrsGraphAndCombine_def.hpp>
#include <Tpetra_RowGraph_decl.hpp>
#include <Tpetra_RowGraph_def.hpp>

namespace Tpetra {
TPETRA_ETI_MANGLING_TYPEDEFS()
TPETRA_INSTANTIATE_LGN(TPETRA_DETAILS_LOCALROWOFFSETS_INSTANT)
TPETRA_INSTANTIATE_LGN(TPETRA_DETAILS_MAKECOLMAP_INSTANT)
TPETRA_INSTANTIATE_LGN(TPETRA_DETAILS_IMPL_GETGRAPHDIAGOFFSETS_INSTANT)
TPETRA_INSTANTIATE_LGN(TPETRA_DETAILS_IMPL_GETGRAPHOFFRANKOFFSETS_INSTANT)
TPETRA_INSTANTIATE_LGN(TPETRA_DETAILS_PACKCRSGRAPH_INSTANT)
TPETRA_INSTANTIATE_LGN(TPETRA_DETAILS_UNPACKCRSGRAPHANDCOMBINE_INSTANT)
TPETRA_INSTANTIATE_LGN(TPETRA_ROWGRAPH_INSTANT)
TPETRA_INSTANTIATE_LGN(TPETRA_CRSGRAPH_INSTANT)
}  // namespace Tpetra
