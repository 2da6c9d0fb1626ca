# cmake -DBUILD=<Capstan's build folder> -DROOT=<Capstan's source root> -DSOURCE=<this folder> -DWORK=<scratch>
#       -DGENERATOR=.. -DCXX=.. -DTRILINOS=<Trilinos_DIR> -DMPIEXEC=.. -DMPIEXEC_FLAG=.. -P run_test.cmake
#
# Installs Capstan into WORK/prefix, configures and builds the consumer against it, runs it on one and two ranks. The build
# also compiles every installed header by itself.
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

step("configure" "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${SOURCE}" -B "${WORK}/build" "-DCMAKE_CXX_COMPILER=${CXX}"
     "-DCMAKE_PREFIX_PATH=${WORK}/prefix" "-DTrilinos_DIR=${TRILINOS}")
step("build" "${CMAKE_COMMAND}" --build "${WORK}/build")
foreach(program consumer consumer_static consumer_api)
  foreach(ranks 1 2)
    step("${program} on ${ranks} ranks" "${MPIEXEC}" ${MPIEXEC_FLAG} ${ranks} "${WORK}/build/${program}")
  endforeach()
endforeach()
