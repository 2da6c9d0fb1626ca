# Where installed programs and libraries look for those they need.

# capstan_installed_rpath(<target> [FOLDERS <folders relative to the file>] [LIBRARIES <folders>]): the target finds what it
# needs from any prefix, and libraries outside the system's folders where they were when it was linked. The same holds in
# the build tree: CMake's own path there, which it replaces when it installs, ends in ':', and the loader takes that for the
# working folder.
function(capstan_installed_rpath target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FOLDERS;LIBRARIES")
  set(path)
  foreach(folder IN LISTS arg_FOLDERS)
    if(folder STREQUAL ".")
      list(APPEND path "$ORIGIN")
    else()
      list(APPEND path "$ORIGIN/${folder}")
    endif()
  endforeach()
  # CMake leaves out those below the source tree.
  foreach(folder IN LISTS arg_LIBRARIES)
    get_filename_component(folder "${folder}" REALPATH)
    if(NOT folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES AND NOT folder MATCHES "^(/usr)?/lib(/|$)")
      list(APPEND path "${folder}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES path)
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${path}" INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ON)
endfunction()
