# For Trilinos' build, as CMAKE_PROJECT_Trilinos_INCLUDE: the libraries that consist of many instances of the same templates
# are compiled in few large pieces, which takes half the time.

# capstan_compile_in_pieces(<library> <sources in a piece> <regex of sources that stay alone>)
function(capstan_compile_in_pieces library size alone)
  get_target_property(sources ${library} SOURCES)
  get_target_property(here ${library} SOURCE_DIR)
  get_target_property(written ${library} BINARY_DIR)
  list(FILTER sources INCLUDE REGEX "[.]cpp$")
  set(count 0)
  foreach(source IN LISTS sources)
    # Some are named as they lie in one of these folders, and would be taken for those of this file's folder.
    foreach(folder IN ITEMS "${here}" "${written}")
      if(NOT IS_ABSOLUTE "${source}" AND EXISTS "${folder}/${source}")
        set(source "${folder}/${source}")
      endif()
    endforeach()
    math(EXPR piece "${count} / ${size}")
    math(EXPR count "${count} + 1")
    if(NOT source MATCHES "${alone}")
      set_source_files_properties("${source}" TARGET_DIRECTORY ${library} PROPERTIES UNITY_GROUP ${piece})
    endif()
  endforeach()
  set_target_properties(${library} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

function(capstan_compile_libraries_in_pieces)
  # GCC leaves out a function that these need where CrsMatrix is instantiated before them in the same piece.
  capstan_compile_in_pieces(tpetra 12 "/Tpetra_RowMatrixTransposer_")
  capstan_compile_in_pieces(belostpetra 12 "^$")
endfunction()
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL capstan_compile_libraries_in_pieces)
