# The instruction set that everything but the kernels is compiled for. A library that is preloaded on every node of a cluster
# must not depend on the node it was built on; the kernels choose theirs when they run (tpetra_ext/kernels/host).
include(CheckCXXCompilerFlag)

check_cxx_compiler_flag(-march=x86-64-v2 CAPSTAN_KNOWS_X86_64_V2)
if(CAPSTAN_KNOWS_X86_64_V2)
  set(capstan_default_baseline x86-64-v2)
else()
  set(capstan_default_baseline "")
endif()
set(CAPSTAN_BASELINE
    "${capstan_default_baseline}"
    CACHE STRING "Oldest instruction set that runs the libraries (-march=): x86-64-v2, x86-64-v3, native; empty: the compiler's")
if(CAPSTAN_BASELINE)
  string(MAKE_C_IDENTIFIER "CAPSTAN_KNOWS_${CAPSTAN_BASELINE}" known)
  check_cxx_compiler_flag("-march=${CAPSTAN_BASELINE}" ${known})
  if(NOT ${known})
    message(FATAL_ERROR "CAPSTAN_BASELINE: found '${CAPSTAN_BASELINE}', which ${CMAKE_CXX_COMPILER} does not know as -march=; "
                        "allowed: x86-64-v2, x86-64-v3, native and its other names, or empty")
  endif()
endif()
