# Part of run_test.cmake: what WORK/prefix holds, and whether it works where it is moved to.

# search_path(<file> <variable>): where the loader looks for what a program or library needs.
function(search_path file variable)
  execute_process(COMMAND readelf -d "${file}" OUTPUT_VARIABLE text RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "readelf -d ${file} failed")
  endif()
  set(path "")
  if(text MATCHES "Library r(un)?path: \\[([^\n]*)\\]\n")
    set(path "${CMAKE_MATCH_2}")
  elseif(text MATCHES "R(UN)?PATH")
    message(FATAL_ERROR "this is no path: ${text}")
  endif()
  set(${variable} "${path}" PARENT_SCOPE)
endfunction()

# An empty entry is the working folder to the loader; a path into the build tree is of no use to anybody else.
function(check_search_path file)
  search_path("${file}" path)
  if(path MATCHES "^:|::|:$")
    message(FATAL_ERROR "${file} looks for libraries in the working folder: its path is '${path}'")
  endif()
  foreach(entry IN LISTS ARGN)
    string(FIND "${path}" "${entry}" position)
    if(NOT position EQUAL -1)
      message(FATAL_ERROR "${file} looks for libraries in ${entry}: its path is '${path}'")
    endif()
  endforeach()
endfunction()

file(GLOB libraries "${WORK}/prefix/lib*/libcapstan*.so" "${WORK}/prefix/lib*/*/libcapstan*.so")
list(LENGTH libraries count)
if(count EQUAL 0 AND SHARED)
  message(FATAL_ERROR "the installation holds no libraries")
endif()
foreach(file IN LISTS libraries ITEMS "${WORK}/prefix/bin/capstan-solve")
  check_search_path("${file}" "${BUILD}" "${ROOT}")
endforeach()
file(GLOB built "${BUILD}/lib/libcapstan*.so")
foreach(file IN LISTS built ITEMS "${BUILD}/bin/capstan-solve")
  check_search_path("${file}")
endforeach()

# Binary compatible within a minor version: applications ask for that one.
file(GLOB_RECURSE library "${WORK}/prefix/libcapstan_static.a")
get_filename_component(folder "${library}" DIRECTORY)
set(library "${folder}/libcapstan.so")
if(SHARED)
  execute_process(COMMAND readelf -d "${library}" OUTPUT_VARIABLE text)
  string(REGEX MATCH "libcapstan\\.so\\.[0-9]+\\.[0-9]+" name "${text}")
  if(name STREQUAL "" OR NOT EXISTS "${folder}/${name}")
    message(FATAL_ERROR "${library} has no name with its version, or ${folder} no file of that name")
  endif()
elseif(EXISTS "${library}")
  message(FATAL_ERROR "${library} is there, although Capstan::capstan is an archive")
endif()

# The package finds what its targets name, and nothing else. Some releases of yaml-cpp have no namespace.
file(READ "${folder}/cmake/Capstan/CapstanTargets.cmake" targets)
file(READ "${folder}/cmake/Capstan/CapstanConfig.cmake" config)
string(REGEX MATCHALL "[A-Za-z_][A-Za-z0-9_-]*::" named "${targets}")
list(TRANSFORM named REPLACE "::" "")
list(APPEND named MPI Threads)  # Trilinos' own may name them
if(targets MATCHES "yaml-cpp")
  list(APPEND named yaml-cpp)
endif()
list(REMOVE_ITEM named Capstan)
list(REMOVE_DUPLICATES named)
# What its conditions leave out is not looked for.
string(REGEX REPLACE "if\\((OFF|FALSE|0|)\\)[^\n]*\n[^\n]*\n *endif\\(\\)" "" config "${config}")
string(REGEX MATCHALL "find_dependency\\([A-Za-z_][A-Za-z0-9_-]*" found "${config}")
list(TRANSFORM found REPLACE "find_dependency\\(" "")
foreach(package IN LISTS named)
  if(NOT package IN_LIST found)
    message(FATAL_ERROR "CapstanTargets.cmake names ${package}::, which CapstanConfig.cmake does not find")
  endif()
endforeach()
foreach(package IN LISTS found)
  if(NOT package IN_LIST named AND NOT package STREQUAL "Trilinos")
    message(FATAL_ERROR "CapstanConfig.cmake finds ${package}, which CapstanTargets.cmake does not name")
  endif()
endforeach()

# Libraries outside the system's folders, as on machines with a Trilinos of their own.
foreach(part IN ITEMS ON OFF)
  step("configure rpath, ${part}" "${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${SOURCE}/rpath" -B "${WORK}/rpath-${part}"
       "-DCMAKE_CXX_COMPILER=${CXX}" "-DROOT=${ROOT}" "-DOUTSIDE=${WORK}/outside" "-DMAKE_OUTSIDE=${part}")
  step("build rpath, ${part}" "${CMAKE_COMMAND}" --build "${WORK}/rpath-${part}")
endforeach()
step("install rpath" "${CMAKE_COMMAND}" --install "${WORK}/rpath-OFF" --prefix "${WORK}/rpath-prefix")
foreach(program IN ITEMS "${WORK}/rpath-OFF/program" "${WORK}/rpath-prefix/bin/program")
  step("${program}" "${CMAKE_COMMAND}" -E env --unset=LD_LIBRARY_PATH "${program}")
  search_path("${program}" path)
  if(NOT path STREQUAL "$ORIGIN:$ORIGIN/../lib:${WORK}/below:${WORK}/outside")
    message(FATAL_ERROR "${program} looks for libraries in '${path}'")
  endif()
endforeach()

# Moved: programs, libraries and presets go together. A preset that is nowhere else shows whose presets are found.
file(REMOVE_RECURSE "${WORK}/moved")
file(COPY "${WORK}/prefix/" DESTINATION "${WORK}/moved")
set(presets "${WORK}/moved/share/capstan/app-inputs/muelu")
configure_file("${presets}/no_reductions.xml" "${presets}/moved_only.xml" COPYONLY)
file(MAKE_DIRECTORY "${WORK}/elsewhere")
file(WRITE "${WORK}/elsewhere/deck.yaml" "linear_solvers:
  - {name: s, method: capstan_cg, preconditioner: muelu, muelu_xml_file_name: moved_only, tolerance: 1e-8}
systems:
  - {name: laplace, solvers: all, generate: {problem: laplace2d, cells: 20}}
")
step("the moved program" "${CMAKE_COMMAND}" -E env --unset=LD_LIBRARY_PATH "${WORK}/moved/bin/capstan-solve" "${WORK}/elsewhere/deck.yaml")
step("the moved program, found in PATH" "${CMAKE_COMMAND}" -E env --unset=LD_LIBRARY_PATH "PATH=${WORK}/moved/bin:$ENV{PATH}"
     sh -c "exec capstan-solve \"$0\"" "${WORK}/elsewhere/deck.yaml")

# pkg-config, for applications that are not built with CMake.
string(REPLACE "${WORK}/prefix" "${WORK}/moved" folder "${folder}")
set(environment "${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${folder}/pkgconfig")
execute_process(COMMAND ${environment} pkg-config --cflags --libs capstan OUTPUT_VARIABLE flags RESULT_VARIABLE status ERROR_VARIABLE flags)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "pkg-config does not know capstan: ${flags}")
endif()
if(SHARED)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  file(WRITE "${WORK}/elsewhere/registers.cpp" "#include \"adapters/plugin/register.hpp\"\nint main() { capstan::registerSolvers(); }\n")
  step("compile with pkg-config" "${CXX}" -std=c++17 "${WORK}/elsewhere/registers.cpp" ${flags} "-Wl,-rpath,${folder}" -o "${WORK}/elsewhere/registers")
  step("the program made with pkg-config" "${WORK}/elsewhere/registers")
elseif(NOT flags MATCHES "--whole-archive -lcapstan_static")
  # The libraries of Trilinos would have to come beside them.
  message(FATAL_ERROR "pkg-config does not ask for the whole archive: ${flags}")
endif()

# OpenFOAM's libraries, where they are built.
if(EXISTS "${folder}/libcapstanFoam.so")
  step("OpenFOAM with the moved libraries" "${PYTHON}" "${ROOT}/regression/openfoam/test_installed.py" "${BUILD}" "${folder}")
endif()
