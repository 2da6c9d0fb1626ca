# Installation: libraries, headers, tools, decks, presets and the package `find_package(Capstan)` reads. Also the
# capstan_products target. Runs after all rooms have declared their targets.
include(CMakePackageConfigHelpers)
include(CapstanRpath)

foreach(target IN LISTS CAPSTAN_PRODUCTS)
  if(TARGET ${target})
    add_dependencies(capstan_products ${target})
  endif()
endforeach()

# Benchmarks are built when asked for, not with everything: the tests need to be quick from nothing.
get_target_property(benchmarks capstan_bench MANUALLY_ADDED_DEPENDENCIES)
foreach(target IN LISTS benchmarks)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endforeach()

# capstan_export(<target> AS <name> [SET <export set>]): makes <target> part of the package under Capstan::<name>. The source
# tree leaves its include directories and the compile flags of our own code stay private.
function(capstan_export target as name)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "SET" "")
  if(NOT arg_SET)
    set(arg_SET CapstanTargets)
  endif()
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  if(links)
    list(REMOVE_ITEM links capstan_flags "$<LINK_ONLY:capstan_flags>" "$<LINK_ONLY:$<BUILD_INTERFACE:capstan_flags>>")
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${links}")
  endif()
  set_target_properties(
    ${target}
    PROPERTIES EXPORT_NAME ${name}
               INTERFACE_INCLUDE_DIRECTORIES
               "$<BUILD_INTERFACE:${CAPSTAN_INCLUDE_ROOT}>;$<INSTALL_INTERFACE:${CAPSTAN_INSTALL_INCLUDE_ROOT}>")
  install(
    TARGETS ${target}
    EXPORT ${arg_SET}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

set_target_properties(capstan_trilinos PROPERTIES EXPORT_NAME trilinos)
install(TARGETS capstan_trilinos EXPORT CapstanTargets)
capstan_export(capstan_kernels_host AS kernels_host)
capstan_export(capstan_kernels AS kernels)
capstan_export(capstan_topology AS topology)
capstan_export(capstan AS capstan)
capstan_export(capstan_static AS capstan_static)
capstan_export(capstan_whole_archive AS capstan_whole_archive)
if(CAPSTAN_SHARED)
  # Of Trilinos' hundred libraries it needs few, and every process that loads it waits for those it names.
  target_link_options(capstan PRIVATE LINKER:--as-needed)
endif()

install(
  EXPORT CapstanTargets
  NAMESPACE Capstan::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Capstan)
# find_package(Capstan COMPONENTS stratimikos)
if(TARGET capstanStratimikos)
  set_target_properties(capstan_stratimikos_trilinos PROPERTIES EXPORT_NAME stratimikos_trilinos)
  install(TARGETS capstan_stratimikos_trilinos EXPORT CapstanStratimikosTargets)
  capstan_export(capstanStratimikos AS stratimikos SET CapstanStratimikosTargets)
  if(CAPSTAN_SHARED)
    target_link_options(capstanStratimikos PRIVATE LINKER:--as-needed)
    # As with libcapstan.so: an application that calls nothing in it has its lists for Belos served.
    target_link_libraries(
      capstanStratimikos
      INTERFACE "$<BUILD_INTERFACE:-Wl,--push-state,--no-as-needed,\"$<TARGET_FILE:capstanStratimikos>\",--pop-state>")
  endif()
  install(
    EXPORT CapstanStratimikosTargets
    NAMESPACE Capstan::
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Capstan)
endif()
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/CapstanConfig.cmake.in" "${PROJECT_BINARY_DIR}/CapstanConfig.cmake"
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Capstan)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/CapstanConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/CapstanConfig.cmake" "${PROJECT_BINARY_DIR}/CapstanConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/CapstanTrilinosKind.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Capstan)
# For applications that are not built with CMake.
file(RELATIVE_PATH capstan_pc_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" /prefix)
set(capstan_pc_libraries "-Wl,--push-state,--no-as-needed -lcapstan -Wl,--pop-state")
if(NOT CAPSTAN_SHARED)
  set(capstan_pc_libraries "-Wl,--whole-archive -lcapstan_static -Wl,--no-whole-archive -lcapstan_topology -lcapstan_kernels_host")
  string(APPEND capstan_pc_libraries " -lfmt -lyaml-cpp -lboost_context -lpthread")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/capstan.pc.in" "${PROJECT_BINARY_DIR}/capstan.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/capstan.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The public headers, and below them what they include. docs/belos.md says what they are for; the test installed_package
# compiles each by itself and finds missing ones. Whatever is not named here may change at any time.
set(CAPSTAN_PUBLIC_HEADERS
    # Registration with Belos.
    adapters/plugin/register.hpp
    # What happened in a solve.
    belos_ext/report/solve_report.hpp
    # Nonblocking inner products, and how they make progress.
    tpetra_ext/reductions/idot.hpp
    tpetra_ext/reductions/pending_reduction.hpp
    tpetra_ext/reductions/progress.hpp
    tpetra_ext/reductions/reduction_batch.hpp
    # The kernels (Capstan::kernels).
    tpetra_ext/kernels/block_update.hpp
    tpetra_ext/kernels/dots.hpp
    tpetra_ext/kernels/inner_products.hpp
    tpetra_ext/kernels/orthonormalize.hpp
    tpetra_ext/kernels/sweep.hpp
    tpetra_ext/kernels/sweep_list.hpp
    tpetra_ext/kernels/triangular_solve.hpp)
set(CAPSTAN_INCLUDED_HEADERS
    belos_ext/convergence/stop_reason.hpp
    belos_ext/events/event.hpp
    tpetra_ext/compat/trilinos.hpp
    tpetra_ext/kernels/base/copy.hpp
    tpetra_ext/kernels/base/delayed_launches.hpp
    tpetra_ext/kernels/base/execution.hpp
    tpetra_ext/kernels/base/fence.hpp
    tpetra_ext/kernels/base/host_mirror.hpp
    tpetra_ext/kernels/base/instruction_set.hpp
    tpetra_ext/kernels/base/kokkos_hooks.hpp
    tpetra_ext/kernels/base/launch.hpp
    tpetra_ext/kernels/base/matrix_ref.hpp
    tpetra_ext/kernels/base/queue.hpp
    tpetra_ext/kernels/generic/gram_tiles.hpp
    tpetra_ext/kernels/generic/partial_sums.hpp
    tpetra_ext/kernels/generic/row_solve.hpp
    tpetra_ext/kernels/generic/workspace.hpp
    tpetra_ext/kernels/host/chunk_kernels.hpp
    tpetra_ext/kernels/host/chunks.hpp
    tpetra_ext/kernels/host/interlude.hpp
    tpetra_ext/kernels/base/task_queue.hpp
    tpetra_ext/node_queue.hpp
    tpetra_ext/operators/traffic.hpp
    tpetra_ext/reductions/all_reduce.hpp
    tpetra_ext/reductions/counters.hpp
    tpetra_ext/single_columns.hpp
    tpetra_ext/types.hpp)
if(TARGET capstanStratimikos)
  # Stratimikos' linear solver type "Capstan" (Capstan::stratimikos).
  list(APPEND CAPSTAN_PUBLIC_HEADERS adapters/stratimikos/enable.hpp)
endif()
foreach(header IN LISTS CAPSTAN_PUBLIC_HEADERS CAPSTAN_INCLUDED_HEADERS)
  get_filename_component(folder "${header}" DIRECTORY)
  install(FILES "${header}" DESTINATION "${CAPSTAN_INSTALL_INCLUDE_ROOT}/${folder}")
endforeach()
# Trilinos lies in <prefix>/lib/cmake/Trilinos.
set(trilinos_libraries "${Trilinos_DIR}/../..")
if(CAPSTAN_SHARED)
  capstan_installed_rpath(capstan LIBRARIES "${trilinos_libraries}")
  capstan_installed_rpath(capstan_preload)
  # What it opens: packages for users need not hold libcapstan.so.
  target_compile_definitions(capstan_preload PRIVATE "CAPSTAN_SONAME=\"$<TARGET_SONAME_FILE_NAME:capstan>\"")
  install(TARGETS capstan_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET capstanStratimikos AND CAPSTAN_SHARED)
  capstan_installed_rpath(capstanStratimikos FOLDERS . LIBRARIES "${trilinos_libraries}")
endif()
if(TARGET capstanC)
  # find_package(CapstanC) and capstan-c.pc: C, C++ and Fortran without Trilinos' headers. And the module for Python.
  capstan_installed_rpath(capstanC FOLDERS . LIBRARIES "${trilinos_libraries}")
  set_target_properties(capstanC PROPERTIES EXPORT_NAME capstan_c)
  install(TARGETS capstanC EXPORT CapstanCTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          INCLUDES DESTINATION "${CAPSTAN_INSTALL_INCLUDE_ROOT}")
  install(EXPORT CapstanCTargets NAMESPACE Capstan:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/CapstanC)
  install(FILES adapters/c/capstan.h adapters/c/capstan.f90 DESTINATION "${CAPSTAN_INSTALL_INCLUDE_ROOT}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/CapstanCConfig.cmake.in" "${PROJECT_BINARY_DIR}/CapstanCConfig.cmake" COPYONLY)
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/CapstanCConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
  install(FILES "${PROJECT_BINARY_DIR}/CapstanCConfig.cmake" "${PROJECT_BINARY_DIR}/CapstanCConfigVersion.cmake"
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/CapstanC)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/capstan-c.pc.in" "${PROJECT_BINARY_DIR}/capstan-c.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/capstan-c.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(FILES adapters/python/capstan/__init__.py DESTINATION ${CMAKE_INSTALL_DATADIR}/capstan/python/capstan)
endif()
foreach(target capstanHypre capstanPetsc capstanSaturne)
  if(TARGET ${target})
    capstan_installed_rpath(${target} FOLDERS .)
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
foreach(target capstan-solve capstanPreconditioners capstanFoamTrilinos capstanFoam)
  if(TARGET ${target})
    # ../lib: in the build tree.
    capstan_installed_rpath(${target} FOLDERS . "../${CMAKE_INSTALL_LIBDIR}" ../lib LIBRARIES "${trilinos_libraries}")
    install(
      TARGETS ${target}
      RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()
# The command `capstan`: bin/capstan and what it reads.
file(RELATIVE_PATH CAPSTAN_FROM_BIN_TO_DATA "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_DATADIR}")
file(RELATIVE_PATH CAPSTAN_FROM_BIN_TO_LIB "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/launcher/installed.in" "${PROJECT_BINARY_DIR}/capstan-installed" @ONLY)
install(PROGRAMS "${PROJECT_BINARY_DIR}/capstan-installed" DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME capstan)
install(FILES cmake/launcher/output.sh cmake/launcher/preload.sh cmake/launcher/preload_hosts.sh cmake/launcher/enable.sh
        DESTINATION ${CMAKE_INSTALL_DATADIR}/capstan/launcher)
install(FILES app-inputs/openfoam/switch_case.py DESTINATION ${CMAKE_INSTALL_DATADIR}/capstan/app-inputs/openfoam)
foreach(part __init__ errors foam_text solvers)
  install(FILES app-inputs/openfoam/tutorials/${part}.py
          DESTINATION ${CMAKE_INSTALL_DATADIR}/capstan/app-inputs/openfoam/tutorials)
endforeach()
foreach(program capstan capstan-solve)
  install(
    FILES cmake/launcher/completion.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME ${program})
endforeach()
install(DIRECTORY app-inputs/decks app-inputs/muelu DESTINATION ${CMAKE_INSTALL_DATADIR}/capstan/app-inputs)
install(DIRECTORY adapters/patches DESTINATION ${CMAKE_INSTALL_DATADIR}/capstan)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.png")

if(BUILD_TESTING)
  # That debian/ has a package for all of this.
  capstan_add_script_test(NAME packages COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/regression/packages/test_packages.py")
endif()
