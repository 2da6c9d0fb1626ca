# cmake -DBUILD=<Capstan's build folder> -DROOT=<Capstan's source root> -DSOURCE=<this folder> -DWORK=<scratch>
#       -DGENERATOR=.. -DCXX=.. -DTRILINOS=<Trilinos_DIR> -DMPIEXEC=.. -DMPIEXEC_FLAG=..
#       -DPYTHON=.. -P run_test.cmake
#
# Installs Capstan into WORK/prefix, looks at it and at a moved copy (check_installation.cmake), configures and builds the
# consumer against it, runs it on one and two ranks. The build also compiles every installed header by itself.
cmake_minimum_required(VERSION 3.20)

function(step name)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${name} failed (${status}):\n${output}")
  endif()
  message("${name}: done\n${output}")
endfunction()

file(REMOVE_RECURSE "${WORK}")
step("install" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")

foreach(program capstan capstan-solve)
  if(NOT EXISTS "${WORK}/prefix/share/bash-completion/completions/${program}")
    message(FATAL_ERROR "the installation holds no bash completion of ${program}")
  endif()
endforeach()

# The command `capstan` finds its parts: it knows its version, and takes a case back as it was.
set(capstan "${WORK}/prefix/bin/capstan")
step("capstan version" "${capstan}" version)
step("capstan preload --help" "${capstan}" preload --help)
set(control "application icoFoam;\n")
set(solution "solvers { p { solver PCG; preconditioner DIC; } }\n")
file(WRITE "${WORK}/case/system/controlDict" "${control}")
file(WRITE "${WORK}/case/system/fvSolution" "${solution}")
file(GLOB_RECURSE foam "${WORK}/prefix/lib*/libcapstanFoam.so")
if(foam)
  step("capstan enable" "${capstan}" enable "${WORK}/case" capstan_cg)
  file(READ "${WORK}/case/system/controlDict" written)
  file(REAL_PATH "${foam}" foam)
  string(FIND "${written}" "libs (\"${foam}\");" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "capstan enable has not written ${foam} into controlDict:\n${written}")
  endif()
  step("capstan disable" "${capstan}" disable "${WORK}/case")
endif()
file(READ "${WORK}/case/system/controlDict" control_now)
file(READ "${WORK}/case/system/fvSolution" solution_now)
if(NOT "${control_now}" STREQUAL "${control}" OR NOT "${solution_now}" STREQUAL "${solution}")
  message(FATAL_ERROR "capstan disable left another case:\n${control_now}\n${solution_now}")
endif()

# Both sides for OpenFOAM, where they are built: wmake needs the Trilinos side (adapters/openfoam/Make/options).
file(GLOB built RELATIVE "${BUILD}/lib" "${BUILD}/lib/libcapstanFoam*.so")
foreach(library IN LISTS built)
  file(GLOB_RECURSE installed "${WORK}/prefix/lib*/${library}")
  if(NOT installed)
    message(FATAL_ERROR "the installation holds no ${library}")
  endif()
endforeach()

# Nothing installed may point back into the source or build tree.
file(GLOB_RECURSE package "${WORK}/prefix/*Capstan*.cmake")
if(NOT package)
  message(FATAL_ERROR "the installation holds no package files")
endif()
foreach(file IN LISTS package)
  file(READ "${file}" text)
  foreach(folder IN ITEMS "${BUILD}" "${ROOT}")
    string(FIND "${text}" "${folder}/" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} names ${folder}")
    endif()
  endforeach()
endforeach()

# Whatever an installed header includes of Capstan is installed too.
set(includes "${WORK}/prefix/include/capstan")
file(GLOB_RECURSE headers RELATIVE "${includes}" "${includes}/*.hpp")
if(NOT headers)
  message(FATAL_ERROR "the installation holds no headers")
endif()
foreach(header IN LISTS headers)
  file(STRINGS "${includes}/${header}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*" "\\1" included "${line}")
    if(NOT EXISTS "${includes}/${included}")
      message(FATAL_ERROR "${header} includes ${included}, which is not installed: see cmake/CapstanInstall.cmake")
    endif()
  endforeach()
endforeach()

include("${SOURCE}/check_installation.cmake")

step("configure" "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${SOURCE}" -B "${WORK}/build" "-DCMAKE_CXX_COMPILER=${CXX}"
     "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DTrilinos_DIR=${TRILINOS}")
step("build" "${CMAKE_COMMAND}" --build "${WORK}/build")
# Its Belos and that of libcapstan.so are one.
step("capstan preload" "${capstan}" preload -- "${MPIEXEC}" ${MPIEXEC_FLAG} 2 "${WORK}/build/consumer_static")
set(programs consumer consumer_static consumer_api)
file(GLOB stratimikos "${BUILD}/lib/libcapstanStratimikos.so")
if(stratimikos)
  list(APPEND programs consumer_stratimikos)
endif()
foreach(program IN LISTS programs)
  foreach(ranks 1 2)
    step("${program} on ${ranks} ranks" "${MPIEXEC}" ${MPIEXEC_FLAG} ${ranks} "${WORK}/build/${program}")
  endforeach()
endforeach()
