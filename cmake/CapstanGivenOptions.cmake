# Which options a user has given to CMake itself: CAPSTAN_GIVEN_OPTIONS in the cache, names. ./capstan leaves those as they
# are; it chooses the others by what is installed. An option counts as given where its value is another than the last run of
# CMake left, or, in the first run, where it has one. Included before project(), which gives some their defaults.
set(CAPSTAN_CHOSEN_OPTIONS CMAKE_BUILD_TYPE CMAKE_CXX_FLAGS_DEBUG CAPSTAN_WERROR CAPSTAN_PCH CAPSTAN_SANITIZE CAPSTAN_BENCHMARKS
                           CAPSTAN_BASELINE CAPSTAN_OPENFOAM CAPSTAN_PETSC_PEERS CAPSTAN_HYPRE)

# capstan_record_options(): the values as they are now are the project's own, not given by anyone.
function(capstan_record_options)
  set(values "|")
  foreach(name IN LISTS CAPSTAN_CHOSEN_OPTIONS)
    string(APPEND values "${name}=$CACHE{${name}}|")
  endforeach()
  set(CAPSTAN_LAST_OPTIONS "${values}" CACHE INTERNAL "Values of the options after the last run")
endfunction()

function(capstan_find_given_options)
  set(given ${CAPSTAN_GIVEN_OPTIONS})
  foreach(name IN LISTS CAPSTAN_CHOSEN_OPTIONS)
    string(FIND "${CAPSTAN_LAST_OPTIONS}" "|${name}=$CACHE{${name}}|" at)
    if(at EQUAL -1 AND NOT "$CACHE{${name}}" STREQUAL "")
      list(APPEND given ${name})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES given)
  # ./capstan keeps the options of its users by itself. A cache from before there was a record tells nothing.
  if(CAPSTAN_FROM_LAUNCHER OR (DEFINED CACHE{CMAKE_PROJECT_NAME} AND NOT DEFINED CACHE{CAPSTAN_LAST_OPTIONS}))
    set(given)
  endif()
  unset(CAPSTAN_FROM_LAUNCHER CACHE)
  set(CAPSTAN_GIVEN_OPTIONS "${given}" CACHE INTERNAL "Options that were given to CMake itself")
endfunction()

capstan_find_given_options()
