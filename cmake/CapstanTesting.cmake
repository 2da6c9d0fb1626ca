# How tests are declared. Every test runs in CAPSTAN_TEST_ENVIRONMENT; what it builds hangs under capstan_tests, which is
# part of the default build, so that ctest finds all of it, benchmark programs that tests run included. The part labelled
# `unit` hangs under capstan_unit_tests too, that labelled `application` (Capstan inside other programs) under
# capstan_application_tests. The sanitizer run builds these two.
add_library(capstan_test_main STATIC "${PROJECT_SOURCE_DIR}/tpetra_ext/test/support/mpi_test_main.cpp"
                                     "${PROJECT_SOURCE_DIR}/tpetra_ext/test/support/watched_views.cpp")
if(CAPSTAN_TEST_NODE)
  target_sources(capstan_test_main PRIVATE "${PROJECT_SOURCE_DIR}/tpetra_ext/test/protected/faults_fail.cpp")
endif()
# What watches launches looks whether they are delayed.
target_link_libraries(capstan_test_main PUBLIC GTest::gtest capstan_trilinos PRIVATE capstan_kernels_host capstan_flags)
target_include_directories(capstan_test_main PUBLIC "${CAPSTAN_INCLUDE_ROOT}")
capstan_use_pch(capstan_test_main)

# What `./capstan test --quick` runs: programs of every layer on 1 and 2 ranks, every method by name in a Belos application and
# in OpenFOAM. They carry the label `quick`, and what they need hangs under capstan_quick_tests.
set(CAPSTAN_QUICK_PROGRAMS reductions_test exchange_test operators_test core_test orthogonality_test solver_columns_test
                           plugin_factory_test deck_test)
set(CAPSTAN_QUICK_SCRIPTS layers plugin_app.nalu_like openfoam.methods.np2)
add_custom_target(capstan_quick_tests)

add_custom_target(capstan_tests ALL)
add_custom_target(capstan_unit_tests)
add_custom_target(capstan_application_tests)
add_dependencies(capstan_tests capstan_unit_tests capstan_application_tests)

# Tests may run more ranks than there are cores, and some more threads than one.
execute_process(
  COMMAND "${PROJECT_SOURCE_DIR}/cmake/run_environment.sh" --oversubscribed --threads "${MPIEXEC_EXECUTABLE}"
  OUTPUT_VARIABLE CAPSTAN_TEST_ENVIRONMENT
  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" CAPSTAN_TEST_ENVIRONMENT "${CAPSTAN_TEST_ENVIRONMENT}")
if(CAPSTAN_TEST_THREADS GREATER 1)
  # Threads that wait must not spin, either. The programs look whether they really have so many.
  list(FILTER CAPSTAN_TEST_ENVIRONMENT EXCLUDE REGEX "^OMP_NUM_THREADS=")
  list(APPEND CAPSTAN_TEST_ENVIRONMENT OMP_NUM_THREADS=${CAPSTAN_TEST_THREADS} OMP_PROC_BIND=false
       OMP_WAIT_POLICY=passive CAPSTAN_TEST_CONCURRENCY=${CAPSTAN_TEST_THREADS})
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/run-environment.txt"
                                       "${PROJECT_SOURCE_DIR}/cmake/run_environment.sh")
if(CAPSTAN_SANITIZE)
  # Open MPI and Trilinos keep memory until the process ends.
  list(APPEND CAPSTAN_TEST_ENVIRONMENT ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1)
endif()
if(CAPSTAN_SANITIZE MATCHES address)
  # Programs of others, into which Capstan is loaded, know nothing of the sanitizer: it is preloaded, and so is the library whose
  # exceptions it looks at, which programs in C do not have.
  foreach(name IN ITEMS libasan.so libstdc++.so.6)
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=${name} OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE
                            COMMAND_ERROR_IS_FATAL ANY)
    list(APPEND CAPSTAN_SANITIZER_LIBRARY "${file}")
  endforeach()
  add_library(capstan_no_locale SHARED "${PROJECT_SOURCE_DIR}/regression/sanitizers/no_locale.c")
  add_dependencies(capstan_application_tests capstan_no_locale)
  list(APPEND CAPSTAN_SANITIZER_LIBRARY "${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libcapstan_no_locale.so")
  list(JOIN CAPSTAN_SANITIZER_LIBRARY ":" CAPSTAN_SANITIZER_LIBRARY)
  list(APPEND CAPSTAN_TEST_ENVIRONMENT "CAPSTAN_TEST_PRELOAD=${CAPSTAN_SANITIZER_LIBRARY}")
endif()

# capstan_compile_quickly(<target>): a test, or a part of one, is compiled without optimization, which takes half the time: what
# it calls is in the library, or in objects that are optimized. Not where the library is static: of two copies of an inline
# function in a program the linker takes any, and benchmarks may be among what is linked.
function(capstan_compile_quickly target)
  if(CAPSTAN_SHARED)
    target_compile_options(${target} PRIVATE -O0)
    capstan_use_pch(${target} capstan_pch_unoptimized)
  else()
    capstan_use_pch(${target})
  endif()
endfunction()

# capstan_add_test(NAME name SOURCES a.cpp ... [LIBRARIES lib ...] [RANKS 1 2 3 4] [LABELS unit] [TIMEOUT 300] [NO_PCH])
#
# Builds one GoogleTest program and registers it once per number of ranks as <name>.np<ranks>. NO_PCH is for programs
# that include no Trilinos header, or need compile flags of their own.
function(capstan_add_test)
  cmake_parse_arguments(ARG "NO_PCH" "NAME;TIMEOUT" "SOURCES;LIBRARIES;RANKS;LABELS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "capstan_add_test(${ARG_NAME}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
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
  if(NOT ARG_NO_PCH)
    capstan_compile_quickly(${ARG_NAME})
  elseif(CAPSTAN_SHARED AND "capstan" IN_LIST ARG_LIBRARIES)
    target_compile_options(${ARG_NAME} PRIVATE -O0)
  endif()
  if("unit" IN_LIST ARG_LABELS)
    add_dependencies(capstan_unit_tests ${ARG_NAME})
  else()
    add_dependencies(capstan_tests ${ARG_NAME})
  endif()
  capstan_register_test(NAME ${ARG_NAME} PROGRAM ${ARG_NAME} RANKS ${ARG_RANKS} LABELS ${ARG_LABELS} TIMEOUT ${ARG_TIMEOUT})
endfunction()

# capstan_register_test(NAME name PROGRAM target RANKS 1 2 ... [FILTER selection] [ENVIRONMENT NAME=value ...]
#                       [LABELS unit] [TIMEOUT 300])
#
# Registers a program of capstan_add_test() as <name>.np<ranks>: once more, with other variables in its environment, or a
# part of its tests alone.
function(capstan_register_test)
  cmake_parse_arguments(ARG "" "NAME;PROGRAM;FILTER;TIMEOUT" "RANKS;ENVIRONMENT;LABELS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "capstan_register_test(${ARG_NAME}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(CAPSTAN_TEST_NODE)
    math(EXPR ARG_TIMEOUT "4 * ${ARG_TIMEOUT}") # each kernel opens the memory and closes it
  endif()
  set(selection)
  if(ARG_FILTER)
    set(selection "--gtest_filter=${ARG_FILTER}")
  endif()
  if(ARG_NAME IN_LIST CAPSTAN_QUICK_PROGRAMS)
    add_dependencies(capstan_quick_tests ${ARG_PROGRAM})
    set_property(GLOBAL APPEND PROPERTY CAPSTAN_QUICK_FOUND ${ARG_NAME})
  endif()
  foreach(ranks IN LISTS ARG_RANKS)
    set(labels ${ARG_LABELS})
    if(ARG_NAME IN_LIST CAPSTAN_QUICK_PROGRAMS AND ranks LESS 3)
      list(APPEND labels quick)
    endif()
    add_test(NAME ${ARG_NAME}.np${ranks} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
                                                 $<TARGET_FILE:${ARG_PROGRAM}> ${selection})
    set_tests_properties(
      ${ARG_NAME}.np${ranks} PROPERTIES PROCESSORS ${ranks} TIMEOUT ${ARG_TIMEOUT} LABELS "${labels}" ENVIRONMENT
                                        "${CAPSTAN_TEST_ENVIRONMENT};${ARG_ENVIRONMENT}")
  endforeach()
endfunction()

# capstan_add_script_test(NAME name COMMAND program args ... [LABELS regression] [TIMEOUT 300] [PROCESSORS 1]
#                         [NEEDS program:shellcheck:shellcheck module:matplotlib:python3-matplotlib ...])
#
# Registers a test that is a command of its own (a Python or shell script); it fails with the exit status. NEEDS: what only
# this test needs, and the Debian packages that have it; cmake/when_installed.py says what happens without.
function(capstan_add_script_test)
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT;PROCESSORS" "COMMAND;LABELS;NEEDS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "capstan_add_script_test(${ARG_NAME}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS regression)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(NOT ARG_PROCESSORS)
    set(ARG_PROCESSORS 1)
  endif()
  if(ARG_NEEDS)
    # add_test() replaces a target by its file as the first word only.
    list(TRANSFORM ARG_COMMAND REPLACE "^Python3::Interpreter$" "$<TARGET_FILE:Python3::Interpreter>")
    list(PREPEND ARG_COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/cmake/when_installed.py" ${ARG_NAME} ${ARG_NEEDS} --)
  endif()
  if(ARG_NAME IN_LIST CAPSTAN_QUICK_SCRIPTS)
    list(APPEND ARG_LABELS quick)
    set_property(GLOBAL APPEND PROPERTY CAPSTAN_QUICK_FOUND ${ARG_NAME})
  endif()
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_COMMAND})
  set_tests_properties(
    ${ARG_NAME} PROPERTIES PROCESSORS ${ARG_PROCESSORS} TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}" SKIP_RETURN_CODE 77
                           ENVIRONMENT "${CAPSTAN_TEST_ENVIRONMENT}")
endfunction()

# capstan_check_quick_tests(): each test that `./capstan test --quick` names is there. After all tests.
function(capstan_check_quick_tests)
  get_property(found GLOBAL PROPERTY CAPSTAN_QUICK_FOUND)
  set(missing ${CAPSTAN_QUICK_PROGRAMS} ${CAPSTAN_QUICK_SCRIPTS})
  list(REMOVE_ITEM missing ${found})
  if(NOT TARGET capstanFoam)
    list(FILTER missing EXCLUDE REGEX "^openfoam\\.")
  endif()
  if(missing)
    message(FATAL_ERROR "cmake/CapstanTesting.cmake: quick tests that nobody declares: ${missing}")
  endif()
endfunction()
