# Interface targets every room links: how our own code is compiled, and what of Trilinos it sees.

set(CAPSTAN_INCLUDE_ROOT "${PROJECT_SOURCE_DIR}")
# Installed headers keep their paths below this folder, so that #include "tpetra_ext/..." works there as well.
set(CAPSTAN_INSTALL_INCLUDE_ROOT "${CMAKE_INSTALL_INCLUDEDIR}/capstan")

add_library(capstan_flags INTERFACE)
target_compile_features(capstan_flags INTERFACE cxx_std_17)
target_compile_options(capstan_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
# nvcc's generated code does not pass -Wpedantic.
if(NOT CAPSTAN_KOKKOS_CUDA)
  target_compile_options(capstan_flags INTERFACE -Wpedantic)
elseif(CMAKE_CXX_STANDARD GREATER_EQUAL 20)
  # With C++20 fmt 9 checks its formats by consteval functions, but calls none of its functions constexpr with nvcc.
  target_compile_definitions(capstan_flags INTERFACE FMT_USE_CONSTEXPR=1 FMT_CONSTEVAL=)
endif()
if(CAPSTAN_WERROR)
  target_compile_options(capstan_flags INTERFACE -Werror)
  if(Trilinos_VERSION VERSION_GREATER_EQUAL 14)
    # The #warning of Epetra's headers, which MueLu's include: to GCC one of a system header is one of ours.
    target_compile_options(capstan_flags INTERFACE -Wno-error=cpp)
  endif()
endif()
if(CAPSTAN_BASELINE)
  target_compile_options(capstan_flags INTERFACE -march=${CAPSTAN_BASELINE})
endif()
if(CAPSTAN_SANITIZE)
  target_compile_options(capstan_flags INTERFACE -fsanitize=${CAPSTAN_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer -g1)
  # With sanitizers GCC 12 takes parts of its own library for uninitialised (GCC's manual warns of such false positives).
  target_compile_options(capstan_flags INTERFACE -Wno-maybe-uninitialized)
  target_link_options(capstan_flags INTERFACE -fsanitize=${CAPSTAN_SANITIZE})
endif()

# Trilinos' own headers are system headers: their warnings are not ours. The installed package refills the
# BUILD_INTERFACE parts from the Trilinos it finds (cmake/CapstanConfig.cmake.in).
add_library(capstan_trilinos INTERFACE)
foreach(folder IN LISTS Trilinos_INCLUDE_DIRS Trilinos_TPL_INCLUDE_DIRS)
  target_include_directories(capstan_trilinos SYSTEM INTERFACE "$<BUILD_INTERFACE:${folder}>")
endforeach()
foreach(library IN LISTS Trilinos_LIBRARIES)
  target_link_libraries(capstan_trilinos INTERFACE "$<BUILD_INTERFACE:${library}>")
endforeach()
target_link_libraries(capstan_trilinos INTERFACE MPI::MPI_CXX)
if(CAPSTAN_KOKKOS_OPENMP)
  target_link_libraries(capstan_trilinos INTERFACE OpenMP::OpenMP_CXX)
endif()
if(CAPSTAN_KOKKOS_CUDA OR CAPSTAN_KOKKOS_HIP)
  # Those of the device's compiler, the architecture among them: before release 14 only Kokkos' own target has them.
  if(NOT TARGET Kokkos::kokkos)
    find_package(Kokkos REQUIRED CONFIG HINTS "${Trilinos_DIR}/../Kokkos")
  endif()
  target_compile_options(capstan_trilinos
                         INTERFACE "$<BUILD_INTERFACE:$<TARGET_PROPERTY:Kokkos::kokkos,INTERFACE_COMPILE_OPTIONS>>")
endif()
target_compile_definitions(capstan_trilinos INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

# The same for Stratimikos and what it stands on.
if(CAPSTAN_HAS_STRATIMIKOS)
  add_library(capstan_stratimikos_trilinos INTERFACE)
  foreach(library IN LISTS Stratimikos_LIBRARIES ThyraTpetraAdapters_LIBRARIES)
    target_link_libraries(capstan_stratimikos_trilinos INTERFACE "$<BUILD_INTERFACE:${library}>")
  endforeach()
  target_link_libraries(capstan_stratimikos_trilinos INTERFACE capstan_trilinos)
endif()

# What `./capstan run`, `solve` and `list` need and what is installed, without tests and benchmarks. Filled in CapstanInstall.
add_custom_target(capstan_products)

# What `./capstan bench` builds: perf/ and kernels/ hang their programs under it. The default build has those only that a
# test runs, which says so: add_dependencies(capstan_tests <program>).
add_custom_target(capstan_bench)
