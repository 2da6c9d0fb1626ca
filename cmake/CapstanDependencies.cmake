# The libraries Capstan stands on. Each one missing is named with its Debian package and the way to point CMake at it.

# capstan_find(<package> DEBIAN <packages> [COMPONENTS ...]): find_package that says what to do when it fails.
# A macro: the variables and targets of the package must reach the caller.
macro(capstan_find package)
  cmake_parse_arguments(_capstan_find "" "DEBIAN" "COMPONENTS" ${ARGN})
  if(_capstan_find_COMPONENTS)
    find_package(${package} QUIET COMPONENTS ${_capstan_find_COMPONENTS})
  else()
    find_package(${package} QUIET)
  endif()
  if(NOT ${package}_FOUND)
    list(TRANSFORM _capstan_find_COMPONENTS PREPEND " " OUTPUT_VARIABLE _capstan_find_parts)
    string(REPLACE ";" "" _capstan_find_parts "${_capstan_find_parts}")
    message(
      FATAL_ERROR
        "Capstan needs ${package}${_capstan_find_parts}, which CMake did not find.\n"
        "  Debian: apt-get install ${_capstan_find_DEBIAN}  (or ./capstan setup, which installs all that is missing)\n"
        "  Elsewhere: -DCMAKE_PREFIX_PATH=<its installation> or -D${package}_DIR=<folder of ${package}Config.cmake>")
  endif()
  message(STATUS "Found ${package} ${${package}_VERSION}")
endmacro()

capstan_find(MPI DEBIAN "libopenmpi-dev openmpi-bin" COMPONENTS C CXX)
set(capstan_trilinos_parts Tpetra Belos)
if(NOT CAPSTAN_LIBRARY_ONLY)
  list(APPEND capstan_trilinos_parts Ifpack2 MueLu)
endif()
capstan_find(Trilinos DEBIAN trilinos-all-dev COMPONENTS ${capstan_trilinos_parts})
if(Trilinos_VERSION VERSION_LESS 13.2)
  message(FATAL_ERROR "Capstan needs Trilinos 13.2 or newer; found ${Trilinos_VERSION} in ${Trilinos_DIR}")
endif()
# Trilinos' package files may switch this on again.
set(CMAKE_CXX_EXTENSIONS OFF)
include(CapstanBackends)
capstan_find(yaml-cpp DEBIAN libyaml-cpp-dev)
# Its target has had a namespace since 0.8.
set(CAPSTAN_YAML_CPP yaml-cpp)
if(TARGET yaml-cpp::yaml-cpp)
  set(CAPSTAN_YAML_CPP yaml-cpp::yaml-cpp)
endif()
capstan_find(nlohmann_json DEBIAN nlohmann-json3-dev)
capstan_find(fmt DEBIAN libfmt-dev)
capstan_find(Boost DEBIAN libboost-context-dev COMPONENTS context)
capstan_find(CLI11 DEBIAN libcli11-dev)
capstan_find(ZLIB DEBIAN zlib1g-dev)
find_package(Threads REQUIRED)
if(BUILD_TESTING)
  capstan_find(GTest DEBIAN libgtest-dev)
  # Debian's Python modules, matplotlib among them, serve Debian's Python only.
  if(EXISTS /etc/debian_version AND EXISTS /usr/bin/python3 AND NOT DEFINED Python3_EXECUTABLE)
    set(Python3_EXECUTABLE /usr/bin/python3)
  endif()
  capstan_find(Python3 DEBIAN python3 COMPONENTS Interpreter)
endif()
if(CAPSTAN_PETSC_PEERS)
  capstan_find(PkgConfig DEBIAN pkg-config)
  pkg_check_modules(PETSC QUIET IMPORTED_TARGET GLOBAL PETSc)
  if(NOT PETSC_FOUND)
    message(FATAL_ERROR "CAPSTAN_PETSC_PEERS needs PETSc, which pkg-config did not find.\n"
                        "  Debian: apt-get install libpetsc-real-dev\n  Elsewhere: PKG_CONFIG_PATH=<folder of PETSc.pc>")
  endif()
endif()
if(CAPSTAN_HYPRE)
  # Debian's package has neither CMake's files nor pkg-config's.
  find_path(CAPSTAN_HYPRE_INCLUDE HYPRE.h PATH_SUFFIXES hypre)
  find_library(CAPSTAN_HYPRE_LIBRARY HYPRE)
  mark_as_advanced(CAPSTAN_HYPRE_INCLUDE CAPSTAN_HYPRE_LIBRARY)
  if(NOT CAPSTAN_HYPRE_INCLUDE OR NOT CAPSTAN_HYPRE_LIBRARY)
    message(FATAL_ERROR "CAPSTAN_HYPRE needs hypre, of which CMake did not find HYPRE.h or libHYPRE.\n"
                        "  Debian: apt-get install libhypre-dev\n  Elsewhere: -DCMAKE_PREFIX_PATH=<its installation>")
  endif()
  file(STRINGS "${CAPSTAN_HYPRE_INCLUDE}/HYPRE_config.h" version REGEX "define HYPRE_RELEASE_VERSION ")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" CAPSTAN_HYPRE_VERSION "${version}")
  if(CAPSTAN_HYPRE_VERSION VERSION_LESS 2.24)
    message(FATAL_ERROR "CAPSTAN_HYPRE needs hypre 2.24 or newer; found '${CAPSTAN_HYPRE_VERSION}' in ${CAPSTAN_HYPRE_INCLUDE}")
  endif()
  message(STATUS "Found hypre ${CAPSTAN_HYPRE_VERSION}")
  # Its headers are system headers: their warnings are not ours.
  add_library(capstan_hypre INTERFACE)
  target_include_directories(capstan_hypre SYSTEM INTERFACE "${CAPSTAN_HYPRE_INCLUDE}")
  target_link_libraries(capstan_hypre INTERFACE "${CAPSTAN_HYPRE_LIBRARY}")
endif()
