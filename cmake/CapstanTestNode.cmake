# CAPSTAN_TEST_NODE=protected: everything is compiled for a Tpetra node whose memory the host may not touch, as that of a
# device without unified memory. A host loop over a view of the device is found out, and so is a view of one side that is
# alive while the other side is asked for (tpetra_ext/test/protected). For tests; nothing of it is installed.
set(capstan_node_header "${PROJECT_SOURCE_DIR}/tpetra_ext/test/protected/node.hpp")
if(CAPSTAN_KOKKOS_CUDA OR CAPSTAN_KOKKOS_OPENMP OR NOT Trilinos_VERSION VERSION_GREATER_EQUAL 13.2
   OR Trilinos_VERSION VERSION_GREATER_EQUAL 13.3)
  message(FATAL_ERROR "CAPSTAN_TEST_NODE=protected needs Trilinos 13.2 whose Kokkos has the serial back end alone; found ${Trilinos_VERSION} in ${Trilinos_DIR}")
endif()
add_subdirectory(tpetra_ext/test/protected)
# First of all libraries and first of all headers. What takes the precompiled header has the header in it.
get_target_property(capstan_libraries capstan_trilinos INTERFACE_LINK_LIBRARIES)
list(PREPEND capstan_libraries "$<BUILD_INTERFACE:capstan_protected_node>")
set_property(TARGET capstan_trilinos PROPERTY INTERFACE_LINK_LIBRARIES "${capstan_libraries}")
target_compile_options(
  capstan_trilinos
  INTERFACE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<STREQUAL:$<TARGET_PROPERTY:PRECOMPILE_HEADERS_REUSE_FROM>,>>:SHELL:$<BUILD_INTERFACE:-include ${capstan_node_header}>>")

# capstan_add_node_header(): for the sources that take no precompiled header though their target does.
function(capstan_add_node_header)
  foreach(target IN ITEMS capstan_belos_ext capstan_plugin)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    foreach(source IN LISTS sources)
      get_source_file_property(skips "${folder}/${source}" TARGET_DIRECTORY ${target} SKIP_PRECOMPILE_HEADERS)
      if(skips)
        set_property(SOURCE "${folder}/${source}" TARGET_DIRECTORY ${target}
                     APPEND PROPERTY COMPILE_OPTIONS -include "${capstan_node_header}")
      endif()
    endforeach()
  endforeach()
endfunction()
if(CAPSTAN_PCH)
  cmake_language(DEFER DIRECTORY "${PROJECT_SOURCE_DIR}" CALL capstan_add_node_header)
endif()
