#!/usr/bin/env bash
# Builds a bare Kokkos with CUDA and the kernels with it; runs their tests and benchmark where a GPU is at hand.
#
#   tpetra_ext/kernels/cuda/build_and_test.sh [work folder]      (default: build-cuda in the repository)
#
# Not part of CI: it downloads about 1.1 GB and needs about 7 GB in the work folder. Debian 12, no root needed: CUDA 11.8
# (non-free) and g++-11 are unpacked into the work folder, the system and its package sources stay as they are. An nvcc
# and a g++-11 that are installed already are used instead. Kokkos is the one inside Debian's Trilinos source package.
# KOKKOS_CUDA_ARCH (default AMPERE80) is Kokkos' name of the GPU; newer GPUs run the embedded PTX.
# Exit status: 0 when everything built and, where a GPU was found, all tests passed.
set -euo pipefail

room=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mkdir -p "${1:-$room/../../build-cuda}" && cd "${1:-$room/../../build-cuda}" && pwd)
arch=${KOKKOS_CUDA_ARCH:-AMPERE80}
jobs=${JOBS:-$(nproc)}

say() { printf '== %s\n' "$*"; }
die() {
  printf 'build_and_test.sh: %s\n' "$*" >&2
  exit 1
}

# shellcheck source=tpetra_ext/kernels/kokkos/source.sh
source "$room/kokkos/source.sh"

# The lists of Debian 12, whose CUDA fits its g++-11 and its Kokkos.
debian_packages() {
  command -v dpkg-deb >/dev/null || die "needs Debian 12's apt-get and dpkg-deb; or install nvcc 11.8 and g++-11"
  prepare_apt bookworm main contrib non-free
}

# unpack <package>... into $work/root
unpack() {
  mkdir -p "$work/debs" "$work/root"
  (cd "$work/debs" && private_apt download "$@")
  local package
  for package in "$@"; do dpkg-deb -x "$work"/debs/"$package"_*.deb "$work/root"; done
  rm -rf "$work/debs"
}

prepare_compiler() {
  if command -v g++-11 >/dev/null; then
    host_compiler=$(command -v g++-11)
    return
  fi
  host_compiler=$work/root/usr/bin/g++-11
  [[ ! -e $work/root/compiler-ready ]] || return 0
  debian_packages
  say "unpacking g++-11 into $work/root"
  unpack g++-11 gcc-11 cpp-11 gcc-11-base libgcc-11-dev libstdc++-11-dev libasan6 libtsan0
  # The compiler looks for the run-time libraries, which the system has, beside its own folder.
  local name libraries=$work/root/usr/lib/x86_64-linux-gnu
  mkdir -p "$libraries"
  for name in libstdc++.so.6 libgcc_s.so.1 libgomp.so.1 libatomic.so.1 libquadmath.so.0; do
    [[ ! -e /usr/lib/x86_64-linux-gnu/$name ]] || ln -sfn "/usr/lib/x86_64-linux-gnu/$name" "$libraries/$name"
  done
  touch "$work/root/compiler-ready"
}

prepare_cuda() {
  if command -v nvcc >/dev/null; then
    cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
    return
  fi
  cuda=$work/cuda
  if [[ ! -e $work/root/cuda-ready ]]; then
    debian_packages
    say "unpacking CUDA 11.8 into $work/root (about 900 MB to download)"
    unpack nvidia-cuda-toolkit nvidia-cuda-dev libcudart11.0 libnvvm4 libcu++-dev
    lay_out_cuda "$work/root/usr"
    touch "$work/root/cuda-ready"
  fi
  export PATH=$cuda/bin:$PATH LD_LIBRARY_PATH=$cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# The folder layout CMake and nvcc know, over Debian's files in $1.
lay_out_cuda() {
  local from=$1 toolkit=$1/lib/nvidia-cuda-toolkit
  mkdir -p "$cuda/nvvm"
  ln -sfn "$toolkit/bin" "$cuda/bin"
  ln -sfn "$from/include" "$cuda/include"
  ln -sfn "$from/lib/x86_64-linux-gnu" "$cuda/lib64"
  ln -sfn "$toolkit/libdevice" "$cuda/nvvm/libdevice"
  rm -f "$toolkit/bin/nvcc.profile"
  cat >"$toolkit/bin/nvcc.profile" <<PROFILE
NVVMIR_LIBRARY_DIR = $toolkit/libdevice
PATH += $toolkit/bin:$from/bin:
INCLUDES += "-isystem" "$from/include" \$(_SPACE_)
LIBRARIES =+ \$(_SPACE_) -L$from/lib/x86_64-linux-gnu/stubs -L$from/lib/x86_64-linux-gnu
PROFILE
}

build_kokkos() {
  kokkos=$work/kokkos-$arch
  [[ ! -e $kokkos/ready ]] || return 0
  debian_packages
  fetch_kokkos "$work/kokkos-source"
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
