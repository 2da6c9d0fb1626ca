# cmake -DROOT=<Capstan's source root> -DSOURCE=<this folder> -DWORK=<scratch> -DGENERATOR=.. -DCXX=.. -P run_test.cmake
#
# With a static Trilinos Capstan::capstan is the archive that a program takes all of, and nobody makes a shared one; with a shared
# Trilinos it is libcapstan.so.
cmake_minimum_required(VERSION 3.20)

# configure(<kind of Trilinos> [options...]): sets `status` and `output`, and `folder` to where.
macro(configure kind)
  set(folder "${WORK}/${kind}${ARGN}")
  execute_process(COMMAND "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${SOURCE}" -B "${folder}" "-DCMAKE_CXX_COMPILER=${CXX}"
                          "-DROOT=${ROOT}" -DKIND=${kind} ${ARGN}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
endmacro()

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed (${status}):\n${output}")
  endif()
endfunction()

# expect_form(<shared library or not> <kind of Trilinos> [options...])
function(expect_form shared kind)
  configure(${kind} ${ARGN})
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${kind} ${ARGN}: cmake failed:\n${output}")
  endif()
  run("${CMAKE_COMMAND}" --build "${folder}")
  run("${folder}/application")
  run("${folder}/twice")
  set(library "${folder}/libstandin.so")
  if(shared AND NOT EXISTS "${library}")
    message(FATAL_ERROR "${kind} ${ARGN}: ${library} was not built")
  elseif(NOT shared AND EXISTS "${library}")
    message(FATAL_ERROR "${kind} ${ARGN}: ${library} was built, though Trilinos' code would be in it and in the program")
  endif()
  message("Trilinos ${kind} ${ARGN}: shared library ${shared}")
endfunction()

file(REMOVE_RECURSE "${WORK}")
expect_form(OFF STATIC)
expect_form(ON SHARED)
expect_form(OFF SHARED -DBUILD_SHARED_LIBS=OFF)
configure(STATIC -DBUILD_SHARED_LIBS=ON)
if(status EQUAL 0 OR NOT output MATCHES "BUILD_SHARED_LIBS is ON, but[^:]* static:")
  message(FATAL_ERROR "a shared libcapstan with a static Trilinos was not refused:\n${output}")
endif()
