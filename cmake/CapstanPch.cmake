# One precompiled header of Tpetra and Belos, shared by every target that includes them.
#
# GCC accepts a precompiled header only where the code generation flags agree, -fPIC against -fPIE included. Programs
# are therefore compiled with -fPIC here, as the libraries are, so that one header serves both.

# capstan_use_pch(<target> [<header target>]): lets <target> start from the shared header. Does nothing with CAPSTAN_PCH=OFF.
# <header target>: capstan_pch, or capstan_pch_unoptimized for what is compiled with -O0.
function(capstan_use_pch target)
  if(NOT CAPSTAN_PCH)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  set(header capstan_pch)
  if(ARGC GREATER 1)
    set(header ${ARGV1})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${header})
endfunction()

if(CAPSTAN_PCH)
  foreach(header IN ITEMS capstan_pch capstan_pch_unoptimized)
    add_library(${header} OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/cmake/pch/pch.cpp")
    target_link_libraries(${header} PRIVATE capstan_trilinos capstan_flags)
    target_precompile_headers(${header} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/pch/trilinos.hpp")
  endforeach()
  target_compile_options(capstan_pch_unoptimized PRIVATE -O0)
endif()
