# capstan_add_test(NAME name SOURCES a.cpp ... [LIBRARIES lib ...] [RANKS 1 2 3 4] [LABELS unit] [TIMEOUT 300])
#
# Builds one GoogleTest program and registers it once per number of ranks as <name>.np<ranks>.
find_package(GTest REQUIRED)

add_library(capstan_test_main STATIC "${PROJECT_SOURCE_DIR}/tpetra_ext/test/support/mpi_test_main.cpp")
target_link_libraries(capstan_test_main PUBLIC GTest::gtest capstan_trilinos PRIVATE capstan_flags)

set(CAPSTAN_TEST_ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1
    OMPI_MCA_mpi_yield_when_idle=1
    OMPI_MCA_hwloc_base_binding_policy=none
    OMPI_MCA_btl_vader_single_copy_mechanism=none
    OPENBLAS_NUM_THREADS=1
    OMP_NUM_THREADS=1)
if(CAPSTAN_SANITIZE)
  # Open MPI and Trilinos keep memory until the process ends.
  list(APPEND CAPSTAN_TEST_ENVIRONMENT ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1)
endif()

function(capstan_add_test)
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT" "SOURCES;LIBRARIES;RANKS;LABELS" ${ARGN})
  if(NOT ARG_RANKS)
    set(ARG_RANKS 1 2 3 4)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_LIBRARIES} capstan_test_main capstan_flags)
  target_include_directories(${ARG_NAME} PRIVATE "${CAPSTAN_INCLUDE_ROOT}")
  set_target_properties(${ARG_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/test")
  foreach(ranks IN LISTS ARG_RANKS)
    add_test(NAME ${ARG_NAME}.np${ranks}
             COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${ARG_NAME}>)
    set_tests_properties(
      ${ARG_NAME}.np${ranks} PROPERTIES PROCESSORS ${ranks} TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}" ENVIRONMENT
                                                                                       "${CAPSTAN_TEST_ENVIRONMENT}")
  endforeach()
endfunction()
