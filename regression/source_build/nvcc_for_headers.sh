#!/usr/bin/env bash
# nvcc as a compiler that takes the options of GCC, for objects: Kokkos' own nvcc_wrapper is no part of Debian's packages.
# NVCC_WRAPPER_DEFAULT_COMPILER: the host's compiler, as for Kokkos'.
set -euo pipefail

options=()
for option in "$@"; do
  case $option in
    -Wl,*) options+=(-Xlinker "${option#-Wl,}") ;;
    -W* | -f* | -march=* | -mtune=* | -pthread | -rdynamic) options+=(-Xcompiler "$option") ;;
    -c | -E) options+=(-x cu "$option") ;;
    *) options+=("$option") ;;
  esac
done
exec nvcc -ccbin "${NVCC_WRAPPER_DEFAULT_COMPILER:?}" "${options[@]}"
