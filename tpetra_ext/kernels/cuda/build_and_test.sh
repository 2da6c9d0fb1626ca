#!/usr/bin/env bash
# Builds a bare Kokkos with CUDA and the kernels with it; runs their tests and benchmark where a GPU is at hand.
#
#   tpetra_ext/kernels/cuda/build_and_test.sh [work folder]      (default: build-cuda in the repository)
#
# Not part of CI: it downloads about 1.1 GB and needs about 7 GB in the work folder. Debian 12, no root needed: CUDA 11.8
# (non-free) and g++-11 are unpacked into the work folder, the system and its package sources stay as they are. An nvcc
# and a g++-11 that are installed already are used instead. Kokkos is the one inside Debian's Trilinos source package.
# KOKKOS_CUDA_ARCH is Kokkos' name of the GPU (default: the one at hand, else AMPERE80); HOPPER90 is known here, too.
# Exit status: 0 when everything built and, where a GPU was found, all tests passed.
set -euo pipefail
unset CDPATH

room=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mkdir -p "${1:-$room/../../build-cuda}" && cd "${1:-$room/../../build-cuda}" && pwd)
jobs=${JOBS:-$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)}

say() { printf '== %s\n' "$*"; }
die() {
  printf 'build_and_test.sh: %s\n' "$*" >&2
  exit 1
}

# shellcheck source=tpetra_ext/kernels/kokkos/source.sh
source "$room/kokkos/source.sh"
# shellcheck source=tpetra_ext/kernels/cuda/toolkit.sh
source "$room/cuda/toolkit.sh"
arch=$(cuda_arch)

build_kokkos() {
  kokkos=$work/kokkos-$arch
  [[ ! -e $kokkos/ready ]] || return 0
  debian_packages
  fetch_kokkos "$work/kokkos-source"
  teach_kokkos "$work/kokkos-source" "$arch"
  say "building Kokkos for $arch"
  cmake -S "$work/kokkos-source" -B "$work/build-kokkos" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$kokkos" \
    -DCMAKE_CXX_COMPILER="$work/kokkos-source/bin/nvcc_wrapper" -DCMAKE_CXX_STANDARD=17 -DCMAKE_CXX_EXTENSIONS=OFF \
    -DCUDAToolkit_ROOT="$cuda" -DKokkos_ENABLE_CUDA=ON -DKokkos_ENABLE_CUDA_LAMBDA=ON -DKokkos_ENABLE_SERIAL=ON \
    -DKokkos_ARCH_"$arch"=ON
  cmake --build "$work/build-kokkos" --parallel "$jobs"
  cmake --install "$work/build-kokkos" >/dev/null
  touch "$kokkos/ready"
}

build_kernels() {
  say "building the kernels, their tests and benchmark"
  # To nvcc it is only a warning when device code calls a host function; the result would be wrong.
  export NVCC_APPEND_FLAGS="-Werror cross-execution-space-call"
  cmake -S "$room" -B "$work/build-kernels" -DCMAKE_CXX_COMPILER="$kokkos/bin/nvcc_wrapper" -DKokkos_ROOT="$kokkos" \
    -DCUDAToolkit_ROOT="$cuda"
  cmake --build "$work/build-kernels" --parallel "$jobs"
}

run_on_gpu() {
  if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
    say "built; NOT RUN: nvidia-smi finds no GPU here, so neither the tests nor the benchmark ran"
    return
  fi
  nvidia-smi -L
  say "running the tests"
  "$work/build-kernels/test/kernels_test"
  if [[ -x $work/build-kernels/bin/kernels_benchmark ]]; then
    say "running the benchmark; results in $work/kernels_benchmark.json"
    "$work/build-kernels/bin/kernels_benchmark" --benchmark_out="$work/kernels_benchmark.json" --benchmark_out_format=json
  else
    say "benchmark NOT RUN: Google Benchmark (libbenchmark-dev) was not found"
  fi
}

prepare_compiler
prepare_cuda
export NVCC_WRAPPER_DEFAULT_COMPILER=$host_compiler
"$host_compiler" --version | head -1
nvcc --version | tail -2
build_kokkos
build_kernels
run_on_gpu
