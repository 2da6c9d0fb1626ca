# capstan_check_before_install(<targets...>): installing ends before anything is copied where one of the targets is not built.
# Call it ahead of all other install() commands. Targets may be declared later; those that never are do not count.
function(capstan_check_before_install)
  foreach(target IN LISTS ARGN)
    install(
      CODE "set(file \"$<$<TARGET_EXISTS:${target}>:$<TARGET_FILE:${target}>>\")
  if(file AND NOT EXISTS \"\${file}\")
    message(FATAL_ERROR \"nothing is installed, since '${target}' is not built: \${file} is missing.\\n\"
                        \"  Build first: cmake --build \\\"${CMAKE_BINARY_DIR}\\\", or: ./capstan build\")
  endif()")
  endforeach()
endfunction()
