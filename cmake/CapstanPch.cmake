# One precompiled header of Tpetra and Belos, shared by every target that includes them.
#
# GCC accepts a precompiled header only where the code generation flags agree, -fPIC against -fPIE included. Programs
# are therefore compiled with -fPIC here, as the libraries are, so that one header serves both.

# capstan_use_pch(<target>): lets <target> start from the shared header. Does nothing with CAPSTAN_PCH=OFF.
function(capstan_use_pch target)
  if(NOT CAPSTAN_PCH)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM capstan_pch)
endfunction()

if(CAPSTAN_PCH)
  add_library(capstan_pch OBJECT "${PROJECT_SOURCE_DIR}/cmake/pch/pch.cpp")
  target_link_libraries(capstan_pch PRIVATE capstan_trilinos capstan_flags)
  target_precompile_headers(capstan_pch PRIVATE "${PROJECT_SOURCE_DIR}/cmake/pch/trilinos.hpp")
endif()
