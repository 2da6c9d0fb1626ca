# Which forms of the library are built, and what a program that links it gets.
#
# A program must have one copy of Trilinos. With a static one it lies in the program, and a shared libcapstan would bring a
# second: there the library is an archive, of which the program takes all.
include(CapstanTrilinosKind)
capstan_trilinos_kind(CAPSTAN_TRILINOS_KIND)
capstan_trilinos_before_mpi()
if(NOT DEFINED BUILD_SHARED_LIBS)
  set(CAPSTAN_SHARED ON)
  if(CAPSTAN_TRILINOS_KIND STREQUAL "STATIC")
    set(CAPSTAN_SHARED OFF)
  endif()
elseif(BUILD_SHARED_LIBS AND CAPSTAN_TRILINOS_KIND STREQUAL "STATIC")
  message(FATAL_ERROR "BUILD_SHARED_LIBS is ON, but Trilinos in ${Trilinos_DIR} is static: a shared libcapstan would bring a second "
                      "copy of it into each program. Leave BUILD_SHARED_LIBS out, or build Trilinos shared.")
else()
  set(CAPSTAN_SHARED ${BUILD_SHARED_LIBS})
endif()
if(CAPSTAN_OPENFOAM AND CAPSTAN_TRILINOS_KIND STREQUAL "STATIC")
  message(FATAL_ERROR "CAPSTAN_OPENFOAM makes shared libraries, which need a shared Trilinos; in ${Trilinos_DIR} it is static")
endif()
set(CAPSTAN_FORM "an archive")
if(CAPSTAN_SHARED)
  set(CAPSTAN_FORM "a shared library")
endif()
string(TOLOWER "${CAPSTAN_TRILINOS_KIND}" kind)
message(STATUS "Capstan::capstan is ${CAPSTAN_FORM} (Trilinos is ${kind})")

# capstan_add_library(<name> OBJECTS <objects> VERSION_SCRIPT <file> [PUBLIC <libraries>] [PRIVATE <libraries>])
#
# <name>: what applications link, shared where CAPSTAN_SHARED says so, else <name>_whole_archive. <name>_static: the archive, of
# which a program gets what it calls. <name>_whole_archive: the archive, of which it gets all, the registration of the solvers
# included, although it calls nothing.
function(capstan_add_library name)
  cmake_parse_arguments(ARG "" "VERSION_SCRIPT" "OBJECTS;PUBLIC;PRIVATE" ${ARGN})
  set(forms ${name}_static)
  add_library(${name}_static STATIC ${ARG_OBJECTS})
  if(CAPSTAN_SHARED)
    list(APPEND forms ${name})
    add_library(${name} SHARED ${ARG_OBJECTS})
    # Belos keeps the factory until the process ends, so the code behind it must stay.
    # Its own functions are found when it is linked: a look-up at run time goes through all libraries of the program.
    target_link_options(${name} PRIVATE LINKER:-z,nodelete LINKER:-z,defs LINKER:-Bsymbolic-functions
                                        "LINKER:--version-script=${ARG_VERSION_SCRIPT}")
    set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS "${ARG_VERSION_SCRIPT}")
    # An application may call nothing in the library; the linker must keep it all the same, since it registers the solvers.
    # One item, so that nothing comes between. CapstanConfig.cmake does the same for the installed library.
    target_link_libraries(
      ${name} INTERFACE "$<BUILD_INTERFACE:-Wl,--push-state,--no-as-needed,\"$<TARGET_FILE:${name}>\",--pop-state>")
  endif()
  foreach(form IN LISTS forms)
    target_include_directories(${form} PUBLIC "$<BUILD_INTERFACE:${CAPSTAN_INCLUDE_ROOT}>")
    target_link_libraries(${form} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
  endforeach()

  # The option and the archive are one word: Kokkos' nvcc_wrapper changes the order of words.
  add_library(${name}_whole_archive INTERFACE)
  target_link_libraries(
    ${name}_whole_archive INTERFACE "-Wl,--whole-archive,$<TARGET_FILE:$<TARGET_NAME:${name}_static>>,--no-whole-archive"
                                    ${name}_static)
  add_dependencies(${name}_whole_archive ${name}_static)
  if(NOT CAPSTAN_SHARED)
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ${name}_whole_archive)
    add_dependencies(${name} ${name}_whole_archive)
  endif()
endfunction()
