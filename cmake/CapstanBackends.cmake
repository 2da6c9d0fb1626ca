# What Kokkos inside the Trilinos found can run on: sets CAPSTAN_KOKKOS_OPENMP and CAPSTAN_KOKKOS_CUDA. Kokkos' own header is
# asked, since Trilinos' package files have no such list before release 14.
find_file(
  CAPSTAN_KOKKOS_CONFIG KokkosCore_config.h
  PATHS ${Trilinos_INCLUDE_DIRS}
  PATH_SUFFIXES kokkos
  NO_DEFAULT_PATH)
mark_as_advanced(CAPSTAN_KOKKOS_CONFIG)
if(NOT CAPSTAN_KOKKOS_CONFIG)
  message(FATAL_ERROR "Capstan needs Kokkos' KokkosCore_config.h, which is not in ${Trilinos_INCLUDE_DIRS}")
endif()
foreach(backend OPENMP CUDA)
  file(STRINGS "${CAPSTAN_KOKKOS_CONFIG}" found REGEX "^[ \t]*#[ \t]*define[ \t]+KOKKOS_ENABLE_${backend}([ \t]|$)")
  set(CAPSTAN_KOKKOS_${backend} OFF)
  if(found)
    set(CAPSTAN_KOKKOS_${backend} ON)
  endif()
endforeach()
if(CAPSTAN_KOKKOS_OPENMP)
  # Before release 14 Trilinos' targets leave the compiler's option to the application.
  find_package(OpenMP REQUIRED COMPONENTS CXX)
elseif(CAPSTAN_TEST_THREADS GREATER 1)
  message(FATAL_ERROR "CAPSTAN_TEST_THREADS is ${CAPSTAN_TEST_THREADS}, but Kokkos in ${Trilinos_DIR} has no OpenMP")
endif()
