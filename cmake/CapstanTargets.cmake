# Interface targets every room links: how our own code is compiled, and what of Trilinos it sees.

add_library(capstan_flags INTERFACE)
target_compile_features(capstan_flags INTERFACE cxx_std_17)
target_compile_options(capstan_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(CAPSTAN_WERROR)
  target_compile_options(capstan_flags INTERFACE -Werror)
endif()
if(CAPSTAN_NATIVE)
  target_compile_options(capstan_flags INTERFACE -march=native)
endif()
if(CAPSTAN_SANITIZE)
  target_compile_options(capstan_flags INTERFACE -fsanitize=${CAPSTAN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  target_link_options(capstan_flags INTERFACE -fsanitize=${CAPSTAN_SANITIZE})
endif()

# Trilinos' own headers are system headers: their warnings are not ours.
add_library(capstan_trilinos INTERFACE)
target_include_directories(capstan_trilinos SYSTEM INTERFACE ${Trilinos_INCLUDE_DIRS} ${Trilinos_TPL_INCLUDE_DIRS})
target_link_libraries(capstan_trilinos INTERFACE ${Trilinos_LIBRARIES} MPI::MPI_CXX)
target_compile_definitions(capstan_trilinos INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

set(CAPSTAN_INCLUDE_ROOT "${PROJECT_SOURCE_DIR}")
