#!/usr/bin/env bash
# Builds a bare Kokkos with OpenMP and the kernels with it, and runs their tests on two threads: for CPUs, and with the
# portable code that devices run (CAPSTAN_KERNELS=generic).
#
#   tpetra_ext/kernels/openmp/build_and_test.sh <work folder> [arguments of ctest]      (./capstan test --openmp)
#
# Debian's Trilinos has no OpenMP. Kokkos' source is the one inside Debian's Trilinos source package, or the folder that
# CAPSTAN_KOKKOS_SOURCE names. What is fetched and built stays in the work folder. JOBS: compiler jobs.
# Exit status: 0 when everything built and all tests passed.
set -euo pipefail
unset CDPATH

room=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mkdir -p "$1" && cd "$1" && pwd)
shift
jobs=${JOBS:-$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)}

say() { printf '== %s\n' "$*" >&2; }
die() {
  printf 'build_and_test.sh: error: %s\n' "$*" >&2
  printf '  With a copy of Kokkos at hand: CAPSTAN_KOKKOS_SOURCE=<its folder>\n' >&2
  exit 1
}
# quietly <log> <command...>: only a failure shows the end of the log.
quietly() {
  local log=$work/log/$1
  shift
  mkdir -p "$work/log"
  "$@" </dev/null >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    die "this failed: $* (the whole log: $log)"
  }
}

# shellcheck source=tpetra_ext/kernels/kokkos/source.sh
source "$room/kokkos/source.sh"

find_source() {
  source_folder=$work/kokkos-source
  if [[ -n ${CAPSTAN_KOKKOS_SOURCE:-} ]]; then
    source_folder=$CAPSTAN_KOKKOS_SOURCE
    [[ -e $source_folder/core/src/Kokkos_Core.hpp ]] ||
      die "CAPSTAN_KOKKOS_SOURCE is $source_folder, which holds no core/src/Kokkos_Core.hpp"
    return
  fi
  [[ -e $source_folder/CMakeLists.txt ]] || prepare_apt "$(debian_release)"
  fetch_kokkos "$source_folder"
}

build_kokkos() {
  kokkos=$work/kokkos
  # The stamp names the source it was built from.
  [[ ! -e $kokkos-ready || $(<"$kokkos-ready") != "${CAPSTAN_KOKKOS_SOURCE:-}" ]] || return 0
  find_source
  say "building Kokkos with OpenMP"
  rm -rf "$kokkos" "$work/build-kokkos"
  quietly kokkos.log cmake -S "$source_folder" -B "$work/build-kokkos" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$kokkos" -DCMAKE_CXX_STANDARD=17 -DCMAKE_CXX_EXTENSIONS=OFF -DKokkos_ENABLE_OPENMP=ON \
    -DKokkos_ENABLE_SERIAL=ON
  quietly kokkos.log cmake --build "$work/build-kokkos" --parallel "$jobs" --target install
  printf '%s\n' "${CAPSTAN_KOKKOS_SOURCE:-}" >"$kokkos-ready"
}

build_kokkos
say "building the kernels and their tests"
quietly kernels.log cmake -S "$room" -B "$work/build" -DKokkos_ROOT="$kokkos" -DCAPSTAN_BENCHMARKS=OFF \
  -DCAPSTAN_WERROR="${CAPSTAN_WERROR:-OFF}" -DCAPSTAN_SANITIZE="${CAPSTAN_SANITIZE:-}"
quietly kernels.log cmake --build "$work/build" --parallel "$jobs"
# The tests look whether they really have the threads.
export OMP_NUM_THREADS=2 OMP_PROC_BIND=false OMP_WAIT_POLICY=passive CAPSTAN_TEST_CONCURRENCY=2
say "running the tests on $OMP_NUM_THREADS threads"
cd "$work/build"
exec ctest --output-on-failure --no-tests=error "$@"
