# For Trilinos' build, as CMAKE_PROJECT_Trilinos_INCLUDE: the libraries that consist of many instances of the same templates
# are compiled in few large pieces, which takes a third of the time.
function(capstan_compile_in_pieces)
  foreach(library tpetra belostpetra)
    if(TARGET ${library})
      set_target_properties(${library} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    endif()
  endforeach()
endfunction()
cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL capstan_compile_in_pieces)
