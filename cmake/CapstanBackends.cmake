# What Kokkos inside the Trilinos found can run on, and in which C++ it was built: sets CAPSTAN_KOKKOS_OPENMP,
# CAPSTAN_KOKKOS_CUDA, CAPSTAN_KOKKOS_HIP and CMAKE_CXX_STANDARD. Kokkos' own header is asked, since Trilinos' package files
# have no such lists before release 14.
find_file(
  CAPSTAN_KOKKOS_CONFIG KokkosCore_config.h
  PATHS ${Trilinos_INCLUDE_DIRS}
  PATH_SUFFIXES kokkos ../kokkos # beside Trilinos' own folder since Debian's release 17
  NO_DEFAULT_PATH)
mark_as_advanced(CAPSTAN_KOKKOS_CONFIG)
if(NOT CAPSTAN_KOKKOS_CONFIG)
  message(FATAL_ERROR "Capstan needs Kokkos' KokkosCore_config.h, which is not in ${Trilinos_INCLUDE_DIRS}")
endif()

# capstan_kokkos_has(<word> <variable>): whether Kokkos was built with KOKKOS_ENABLE_<word>.
function(capstan_kokkos_has word variable)
  file(STRINGS "${CAPSTAN_KOKKOS_CONFIG}" found REGEX "^[ \t]*#[ \t]*define[ \t]+KOKKOS_ENABLE_${word}([ \t]|$)")
  set(${variable} OFF PARENT_SCOPE)
  if(found)
    set(${variable} ON PARENT_SCOPE)
  endif()
endfunction()

foreach(backend OPENMP CUDA HIP)
  capstan_kokkos_has(${backend} CAPSTAN_KOKKOS_${backend})
endforeach()
if(CAPSTAN_KOKKOS_OPENMP)
  # Before release 14 Trilinos' targets leave the compiler's option to the application.
  find_package(OpenMP REQUIRED COMPONENTS CXX)
elseif(CAPSTAN_TEST_THREADS GREATER 1)
  message(FATAL_ERROR "CAPSTAN_TEST_THREADS is ${CAPSTAN_TEST_THREADS}, but Kokkos in ${Trilinos_DIR} has no OpenMP")
endif()

# Trilinos' headers may be read in the C++ that they were built in, or a later one: C++20 since release 17.
foreach(standard 20 23 26)
  capstan_kokkos_has(CXX${standard} built)
  if(built AND CMAKE_CXX_STANDARD LESS standard)
    set(CMAKE_CXX_STANDARD ${standard})
    message(STATUS "Compiling as C++${standard}, as Trilinos was")
  endif()
endforeach()
