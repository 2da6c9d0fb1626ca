# Build options. Everything a user may switch is declared here and nowhere else.
include(GNUInstallDirs)

include(CapstanBaseline)
option(CAPSTAN_WERROR "Treat warnings in Capstan's own code as errors" OFF)
option(CAPSTAN_PCH "Precompile the Trilinos headers" ON)
set(CAPSTAN_OPENFOAM
    OFF
    CACHE STRING "Build libcapstanFoam.so: OFF, ON (Debian's OpenFOAM, or the one in the environment) or its WM_PROJECT_DIR")
set(CAPSTAN_OPENFOAM_OPTIONS
    ""
    CACHE STRING "Which build of that OpenFOAM, where it has several: its WM_OPTIONS, for example linux64GccDPInt32Opt")
set(CAPSTAN_OPENFOAM_MPI
    ""
    CACHE STRING "Which MPI of that OpenFOAM, where it has several: its FOAM_MPI, for example sys-openmpi")
option(CAPSTAN_LIBRARY_ONLY "Build libcapstan and its tests only, for a Trilinos without Ifpack2 and MueLu" OFF)
option(CAPSTAN_PETSC_PEERS "Build libcapstanPetsc.so, and the PETSc peers of the benchmarks" OFF)
option(CAPSTAN_HYPRE "Build the preconditioner boomeramg, libcapstanHypre.so, and the hypre peers of the benchmarks" OFF)
set(CAPSTAN_STRATIMIKOS
    AUTO
    CACHE STRING "Build libcapstanStratimikos.so for applications over Thyra: AUTO (where Trilinos has Stratimikos), ON, OFF")
option(CAPSTAN_BENCHMARKS "Build the benchmarks in perf/" ON)
set(CAPSTAN_SANITIZE
    ""
    CACHE STRING "Sanitizers for Capstan's own code, for example 'address,undefined'")

set(CAPSTAN_TEST_NODE
    ""
    CACHE STRING "Node of all that is built: empty, Tpetra's default one, or 'protected', whose memory the host may not touch")
if(NOT CAPSTAN_TEST_NODE MATCHES "^(protected)?$")
  message(FATAL_ERROR "CAPSTAN_TEST_NODE: found '${CAPSTAN_TEST_NODE}'; allowed: nothing, protected")
endif()
if(CAPSTAN_TEST_NODE AND NOT CAPSTAN_LIBRARY_ONLY)
  message(FATAL_ERROR "CAPSTAN_TEST_NODE needs CAPSTAN_LIBRARY_ONLY: Ifpack2 and MueLu have no such node")
endif()
set(CAPSTAN_TEST_THREADS
    1
    CACHE STRING "Threads of a rank in the tests, where Kokkos has OpenMP")
if(NOT CAPSTAN_TEST_THREADS MATCHES "^[1-9][0-9]*$")
  message(FATAL_ERROR "CAPSTAN_TEST_THREADS: found '${CAPSTAN_TEST_THREADS}'; allowed: a whole number from 1 on")
endif()
if(CAPSTAN_LIBRARY_ONLY AND (CAPSTAN_OPENFOAM OR CAPSTAN_PETSC_PEERS OR CAPSTAN_HYPRE))
  message(FATAL_ERROR "CAPSTAN_LIBRARY_ONLY leaves out what CAPSTAN_OPENFOAM, CAPSTAN_PETSC_PEERS and CAPSTAN_HYPRE ask for")
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE
      Release
      CACHE STRING "Build type" FORCE)
endif()

capstan_record_options()

# At least; Trilinos may ask for a later one (CapstanBackends.cmake).
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# The shared libraries say what they export (adapters/*.map); inline functions are for each library by itself.
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
if(CAPSTAN_TEST_NODE)
  # Its tests wait for the pages of the memory, not for computations; and Tpetra is compiled for it as well.
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")
endif()
