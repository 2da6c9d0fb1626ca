// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "PstreamGlobals.H"
#include "adapters/openfoam/foam_compat.H"
#include "adapters/openfoam/ldu_csr.H"
#include "cyclicLduInterface.H"
#include "cyclicLduInterfaceField.H"
#include "polyMesh.H"
#include "processorLduInterface.H"
#include "processorLduInterfaceField.H"

namespace capstan::foam {
namespace {

using Foam::label;

struct Entry {
  std::int64_t row;
  std::int64_t column;
  std::size_t source;
};

// Interpolation of overset meshes across ranks says that it is a processor patch, and shows the cells of one that it is
// not.
bool isSupported(const LduSystem& system, label patch) {
  const auto& interface = system.interfaces[patch].interface();
  return (Foam::isA<Foam::processorLduInterface>(interface) || Foam::isA<Foam::cyclicLduInterface>(interface)) &&
         interface.faceCells() == system.matrix.lduAddr().patchAddr(patch);
}

// Its number where the mesh has no named patches.
Foam::word patchName(const Foam::lduMatrix& matrix, label patch) {
  const auto* mesh = dynamic_cast<const Foam::polyMesh*>(&matrix.mesh());
  if (mesh != nullptr && patch < mesh->boundaryMesh().size()) {
    return mesh->boundaryMesh()[patch].name();
  }
  return Foam::name(patch);
}

void requireSupported(const LduSystem& system) {
  const label patch = LduCsr::unsupportedPatch(system);
  if (patch < 0) return;
  FatalErrorInFunction << "solver capstan with a preconditioner of Trilinos: patch " << patchName(system.matrix, patch)
                       << " of type " << system.interfaces[patch].type()
                       << " couples cells in a way that is not supported." << Foam::nl
                       << "    Supported couplings: processor, cyclic, processorCyclic." << Foam::nl
                       << "    Use one of OpenFOAM's own preconditioners for this field."
                       << Foam::exit(Foam::FatalError);
}

// Cell across each face of each coupled patch, numbered on the rank that owns it.
std::vector<Foam::labelList> neighbourCells(const LduSystem& system) {
  Foam::labelList cells(system.matrix.lduAddr().size());
  std::iota(cells.begin(), cells.end(), 0);
  const auto comms = Foam::UPstream::commsTypes::nonBlocking;
  const label firstRequest = Foam::UPstream::nRequests();
  forAll(system.interfaces, patch) {
    if (system.interfaces.set(patch)) {
      system.interfaces[patch].interface().initInternalFieldTransfer(comms, cells);
    }
  }
  if (Foam::UPstream::parRun()) {
    Foam::UPstream::waitRequests(firstRequest);
  }
  std::vector<Foam::labelList> across(static_cast<std::size_t>(system.interfaces.size()));
  forAll(system.interfaces, patch) {
    if (system.interfaces.set(patch)) {
      across[static_cast<std::size_t>(patch)] =
          system.interfaces[patch].interface().internalFieldTransfer(comms, cells)();
    }
  }
  return across;
}

int neighbourRank(const Foam::lduInterface& interface, int ownRank) {
  const auto* processor = Foam::isA<Foam::processorLduInterface>(interface)
                              ? &Foam::refCast<const Foam::processorLduInterface>(interface)
                              : nullptr;
  return processor == nullptr ? ownRank : processor->neighbProcNo();
}

// Factor a coupled patch applies to the value across it; differs from 1 where the patch rotates a vector's component.
Foam::scalarField transformFactors(const Foam::lduInterfaceField& field, label faces, Foam::direction component) {
  Foam::scalarField factors(faces, 1.0);
  if (Foam::isA<Foam::cyclicLduInterfaceField>(field)) {
    Foam::refCast<const Foam::cyclicLduInterfaceField>(field).transformCoupleField(factors, component);
  } else if (Foam::isA<Foam::processorLduInterfaceField>(field)) {
    Foam::refCast<const Foam::processorLduInterfaceField>(field).transformCoupleField(factors, component);
  }
  return factors;
}

void mix(std::uint64_t& hash, std::uint64_t value) {
  hash ^= value;
  hash *= 0x9E3779B97F4A7C15ULL;
  hash ^= hash >> 29;
}

void mix(std::uint64_t& hash, const Foam::labelUList& list) {
  mix(hash, static_cast<std::uint64_t>(list.size()));
  forAll(list, i) { mix(hash, static_cast<std::uint64_t>(list[i])); }
}

// A serial run starts MPI here, for one process, where a preconditioner of Trilinos or a file needs it. Open MPI then
// starts a daemon and looks at all networks, and reads the topology of the machine, which takes a quarter of a second:
// as long as all solves of a small case. Its folder of files has one name for all serial runs of a user: one that ends
// would remove it while another one starts. A process alone needs none. The settings are for this moment only, so that
// programs which the run starts do not inherit them; what the user has set stays.
void initialiseSerialMpi() {
  int started = 0;
  MPI_Initialized(&started);
  if (started != 0) return;
  const std::pair<const char*, const char*> settings[] = {{"OMPI_MCA_ess_singleton_isolated", "1"},
                                                          {"OMPI_MCA_orte_create_session_dirs", "0"},
                                                          {"OMPI_MCA_btl", "self"},
                                                          {"OMPI_MCA_pml", "ob1"},
                                                          {"HWLOC_SYNTHETIC", "node:1 core:1 pu:1"}};
  std::vector<const char*> own;
  for (const auto& [name, value] : settings) {
    if (std::getenv(name) != nullptr) continue;
    setenv(name, value, 0);
    own.push_back(name);
  }
  startSerialMpi();
  for (const char* name : own) unsetenv(name);
}

}  // namespace

MPI_Comm meshCommunicator(const Foam::lduMatrix& matrix) {
  if (!Foam::UPstream::parRun()) {
    initialiseSerialMpi();
    return MPI_COMM_SELF;
  }
  return Foam::PstreamGlobals::MPICommunicators_[matrix.mesh().comm()];
}

MPI_Comm runningCommunicator(const Foam::lduMatrix& matrix) {
  return Foam::UPstream::parRun() ? meshCommunicator(matrix) : MPI_COMM_NULL;
}

LduCsr::LduCsr(const LduSystem& system) {
  requireSupported(system);
  const auto& addressing = system.matrix.lduAddr();
  const std::int64_t cells = addressing.size();
  const auto& lower = addressing.lowerAddr();
  const auto& upper = addressing.upperAddr();

  pattern_.comm = meshCommunicator(system.matrix);
  int ranks = 1;
  int rank = 0;
  MPI_Comm_size(pattern_.comm, &ranks);
  MPI_Comm_rank(pattern_.comm, &rank);
  std::vector<std::int64_t> first(static_cast<std::size_t>(ranks) + 1, 0);
  MPI_Allgather(&cells, 1, MPI_INT64_T, first.data() + 1, 1, MPI_INT64_T, pattern_.comm);
  for (std::size_t r = 1; r < first.size(); ++r) {
    first[r] += first[r - 1];
  }
  pattern_.firstRow = first[static_cast<std::size_t>(rank)];
  pattern_.globalRows = first.back();

  std::vector<Entry> entries;
  entries.reserve(static_cast<std::size_t>(cells + 2 * lower.size()));
  const auto add = [&](std::int64_t row, std::int64_t column) { entries.push_back({row, column, entries.size()}); };
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    add(cell, pattern_.firstRow + cell);
  }
  forAll(lower, face) { add(upper[face], pattern_.firstRow + lower[face]); }
  forAll(upper, face) { add(lower[face], pattern_.firstRow + upper[face]); }
  const auto across = neighbourCells(system);
  forAll(system.interfaces, patch) {
    if (system.interfaces.set(patch)) {
      const auto& interface = system.interfaces[patch].interface();
      const auto start = first[static_cast<std::size_t>(neighbourRank(interface, rank))];
      const auto& faceCells = interface.faceCells();
      const auto& neighbours = across[static_cast<std::size_t>(patch)];
      forAll(faceCells, face) { add(faceCells[face], start + neighbours[face]); }
    }
  }

  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.row != b.row ? a.row < b.row : a.column != b.column ? a.column < b.column : a.source < b.source;
  });
  place_.resize(entries.size());
  pattern_.rowStart.assign(static_cast<std::size_t>(cells) + 1, 0);
  for (std::size_t k = 0; k < entries.size(); ++k) {
    if (k == 0 || entries[k].row != entries[k - 1].row || entries[k].column != entries[k - 1].column) {
      pattern_.columns.push_back(entries[k].column);
    }
    place_[entries[k].source] = pattern_.columns.size() - 1;
    pattern_.rowStart[static_cast<std::size_t>(entries[k].row) + 1] =
        static_cast<std::int64_t>(pattern_.columns.size());
  }
}

void LduCsr::values(const LduSystem& system, Foam::direction component, double sign, std::vector<double>& out) const {
  out.assign(pattern_.columns.size(), 0.0);
  std::size_t next = 0;
  const auto addAll = [&](const Foam::scalarField& coefficients) {
    forAll(coefficients, i) { out[place_[next++]] += sign * coefficients[i]; }
  };
  addAll(system.matrix.diag());
  addAll(system.matrix.lower());
  addAll(system.matrix.upper());
  forAll(system.interfaces, patch) {
    if (system.interfaces.set(patch)) {
      const auto& coefficients = system.interfaceBouCoeffs[patch];
      const auto factors = transformFactors(system.interfaces[patch], coefficients.size(), component);
      forAll(coefficients, face) { out[place_[next++]] -= sign * coefficients[face] * factors[face]; }
    }
  }
}

label LduCsr::unsupportedPatch(const LduSystem& system) {
  forAll(system.interfaces, patch) {
    if (system.interfaces.set(patch) && !isSupported(system, patch)) return patch;
  }
  return -1;
}

std::uint64_t LduCsr::fingerprint(const LduSystem& system) {
  std::uint64_t hash = 0;
  const auto& addressing = system.matrix.lduAddr();
  mix(hash, static_cast<std::uint64_t>(addressing.size()));
  mix(hash, addressing.lowerAddr());
  mix(hash, addressing.upperAddr());
  forAll(system.interfaces, patch) {
    if (system.interfaces.set(patch)) {
      const auto& interface = system.interfaces[patch].interface();
      mix(hash, static_cast<std::uint64_t>(patch));
      mix(hash, static_cast<std::uint64_t>(neighbourRank(interface, -1)));
      mix(hash, interface.faceCells());
    }
  }
  return hash;
}

}  // namespace capstan::foam
