#!/usr/bin/env bash
# Proves Capstan on a Tpetra whose node runs on OpenMP threads, or is for NVIDIA's devices, or has memory that the host may not
# touch, and on a static Trilinos; and its kernels for AMD's devices. Debian's Trilinos is none of these.
#
# usage: prove.sh --backend openmp|cuda|cuda17|serial-static|protected|hip [--folder DIR] [--prefix DIR] [--no-build] [--pack FILE]
#                 [--record] [--until PART] [--headers] [-- arguments of ctest]
#
# 1. Fetches Debian's Trilinos source package (170 MB), or takes the folder that CAPSTAN_TRILINOS_SOURCE names.
# 2. Builds Kokkos, KokkosKernels, Teuchos, Tpetra and Belos with that backend, for double and Tpetra's usual ordinals only.
# 3. Builds libcapstan, the tests of tpetra_ext, belos_ext and the plugin, and two benchmarks with them; warnings are errors.
# 4. openmp: runs the tests of 1 and 2 ranks, those of the kernels among them, with 2 threads a rank; with arguments of
#    ctest, those they select. cuda: runs nothing where nvidia-smi finds no GPU, and says so; with one, the same tests, the
#    benchmark of the kernels (beside the bandwidth of the triad, and cuBLAS where the loader finds it) and that of the solvers.
#    serial-static: the same tests, and a program of regression/consumer, in which all is linked statically but MPI: with each
#    name it takes the iterations that it takes with libcapstan.so preloaded, on the shared Trilinos of the system.
# protected: 1. and 2. fall away: Capstan's build instantiates Tpetra for that node (tpetra_ext/test/protected) with the
# headers of the Trilinos 13.2 that CMake finds. 3. builds the tests that reach into vectors, matrices and messages, and 4.
# runs them on 1 and 2 ranks, on two a part of the solvers'.
# cuda17: as cuda, for Trilinos 17.0 (the source package of Debian experimental) with nvcc 12.4 and the g++-13 or g++-12 at hand,
# without unified memory, for one pair of ordinals. It is built in parts, and a run goes on where an earlier one was stopped:
# base (Kokkos, KokkosKernels, Teuchos), tpetra (and Belos), ifpack2, muelu. --until ends with one (default: tpetra); Capstan
# is then built with what is there.
# --headers (cuda17, hip): no Trilinos is built. All objects of libcapstan, and those of tpetra_ext's tests, are compiled on the
# headers of Debian's packages of Trilinos 17.0, set for the device; nothing is linked or run. --until: operators, exchange,
# kernels (their tests), belos_ext, plugin or tests (of tpetra_ext; the default).
# hip: in a bare Debian 13, which it makes (root), the kernels, their tests and benchmark are compiled with its hipcc for
# gfx90a, on the Kokkos inside Debian's Trilinos source package or in the folder that CAPSTAN_KOKKOS_SOURCE names. It lists
# the code for the device in each object. Nothing is run: 2. to 4. fall away, and with them --no-build, --pack and ctest.
# cuda takes nvcc 11.8 and g++-11 as tpetra_ext/kernels/cuda does: those installed, else unpacked (1.1 GB). KOKKOS_CUDA_ARCH
# is Kokkos' name of the GPU (default: the one at hand, else AMPERE80); HOPPER90 is known here, too.
# --folder: where all of it is put (default: build-<backend> in the repository; 1 GB, cuda over 4 GB). --prefix: where
# Trilinos is installed (default: trilinos in that folder); one that an earlier run built is used again. --no-build: 4.
# alone, with what is in the folder: for nodes that have the GPU and no compiler. --pack: makes an archive of the programs
# and all that they need (pack.sh), for machines that have a driver and nothing else, where its program run does 4. --record:
# copies the report to <backend>.log beside this script. JOBS: compiler jobs (default: cores). CAPSTAN_WERROR=OFF: warnings
# are no errors.
# The report of a run is prove.log in the folder, the whole logs are in log/. Exit status: 0 proved, 1 not, 2 wrong use.
set -euo pipefail
unset CDPATH

here=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
root=$(cd -- "$here/../.." && pwd)
backend="" work="" prefix="" record=no pack="" build=yes until="" headers=no selection=() jobs=${JOBS:-$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)} report=/dev/null
# Of the protected memory: the tests that reach into vectors, matrices and messages.
protected_programs=(protected_node_test operators_test node_aware_operator_test reductions_test exchange_test embedded_exchange_test
  panels_test orthogonality_test solvers_test solver_communication_test solver_columns_test solver_guess_test)
threads=2 werror=${CAPSTAN_WERROR:-ON}

say() { printf '== %s\n' "$*" | tee -a "$report"; }
die() {
  printf 'prove.sh: error: %s\n' "$*" | tee -a "$report" >&2
  exit 1
}
wrong_use() {
  printf 'prove.sh: %s\n' "$*" >&2
  exit 2
}
# quietly <log> <command...>: only a failure shows the end of the log.
quietly() {
  local log=$work/log/$1 started=$SECONDS
  shift
  "$@" </dev/null >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    die "this failed: $* (the whole log: $log)"
  }
  say "done after $((SECONDS - started)) s: $1 ${log##*/}"
}

read_arguments() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      --backend | --folder | --prefix | --pack | --until) [[ -n ${2:-} ]] || wrong_use "$1: a value is missing" ;;&
      --backend) backend=$2 && shift ;;
      --folder) work=$2 && shift ;;
      --prefix) prefix=$2 && shift ;;
      --pack) pack=$2 && shift ;;
      --until) until=$2 && shift ;;
      --headers) headers=yes ;;
      --record) record=yes ;;
      --no-build) build=no ;;
      -h | --help)
        sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"
        exit 0
        ;;
      --)
        shift
        selection=("$@")
        break
        ;;
      *) wrong_use "unknown argument '$1'; allowed: --backend, --folder, --prefix, --no-build, --pack, --record, --until, --headers, --help, -- arguments of ctest" ;;
    esac
    shift
  done
  [[ $backend =~ ^(openmp|cuda|cuda17|serial-static|protected|hip)$ ]] ||
    wrong_use "--backend: found '$backend'; allowed: openmp, cuda, cuda17, serial-static, protected, hip"
  [[ $backend =~ ^(cuda17|hip)$ || $headers == no ]] || wrong_use "--headers is for the backends cuda17 and hip"
  [[ $backend == cuda17 || $headers == yes || -z $until ]] || wrong_use "--until is for --backend cuda17 and --headers"
  parts="base tpetra ifpack2 muelu"
  [[ $headers == no ]] || parts="operators exchange kernels belos_ext plugin tests"
  [[ -z $until || " $parts " == *" $until "* ]] || wrong_use "--until: found '$until'; allowed: ${parts// /, }"
  [[ ($backend != hip && $headers == no) || ($build == yes && -z $pack$prefix && ${#selection[@]} -eq 0) ]] ||
    wrong_use "--backend hip and --headers only compile: with neither --no-build, --pack, --prefix nor arguments of ctest"
  [[ $headers == yes ]] || until=${until:-tpetra}
  [[ $jobs =~ ^[1-9][0-9]*$ ]] || wrong_use "JOBS: found '$jobs'; allowed: a whole number from 1 on"
  proof=$backend$([[ $headers == no ]] || echo -headers)
  work=${work:-$root/build-$proof}
  work=$(mkdir -p -- "$work/log" && cd -- "$work" && pwd)
  prefix=${prefix:-$work/trilinos}
  [[ $prefix == /* ]] || prefix=$PWD/$prefix
}

require_tools() {
  local tool missing=()
  local tools=(cmake:cmake ctest:cmake mpirun:openmpi-bin python3:python3)
  [[ $backend != serial-static ]] || tools+=(ninja:ninja-build c++:g++)
  [[ $build == no ]] || tools+=(ninja:ninja-build c++:g++ mpicxx:libopenmpi-dev tar:tar)
  for tool in "${tools[@]}"; do
    command -v "${tool%%:*}" >/dev/null || missing+=("${tool##*:}")
  done
  [[ ${#missing[@]} -eq 0 ]] || die "programs are missing; on Debian: apt-get install ${missing[*]} (or: ./capstan setup)"
}

build_capstan() {
  local test_threads=1
  [[ $backend != openmp ]] || test_threads=$threads
  [[ $backend != cuda* ]] || forbid_warnings_of_nvcc "$werror"
  say "building libcapstan and its tests"
  local options=("-DTrilinos_DIR=$prefix/lib/cmake/Trilinos" -DCAPSTAN_BENCHMARKS=ON) targets=(all capstan_bench) only=ON
  # capstan-solve needs Ifpack2 and MueLu.
  [[ $backend != cuda17 || $until != muelu ]] || only=OFF
  if [[ $backend == protected ]]; then
    options=(-DCAPSTAN_TEST_NODE=protected -DCAPSTAN_BENCHMARKS=OFF) targets=("${protected_programs[@]}")
  fi
  quietly capstan-configure.log cmake -G Ninja -S "$root" -B "$work/build-capstan" \
    "${options[@]}" -DCMAKE_BUILD_TYPE=Release -DCAPSTAN_LIBRARY_ONLY=$only \
    "-DCAPSTAN_WERROR=$werror" "-DCAPSTAN_TEST_THREADS=$test_threads" "${compiler_options[@]}"
  quietly capstan-build.log ninja -C "$work/build-capstan" -j "$jobs" "${targets[@]}"
}

# run_tests: those of 1 and 2 ranks and of the kernels, or those that the arguments select. The kernel tests take their
# threads from here, the others from CAPSTAN_TEST_THREADS; both look whether they have them.
run_tests() {
  local log=$work/log/tests.log status=0
  if [[ $backend == openmp ]]; then
    export OMP_NUM_THREADS=$threads OMP_PROC_BIND=false OMP_WAIT_POLICY=passive CAPSTAN_TEST_CONCURRENCY=$threads
  fi
  if [[ ${#selection[@]} -eq 0 && $backend == protected ]]; then
    local names
    names=$(IFS='|' && echo "${protected_programs[*]}")
    # On two ranks the quicker part of the solvers' tests.
    selection=(-R "^($names)[.]np[12]\$|^solvers_test[.]generic[.]np2\$" -E '^solvers_test[.]np2$' -j "$jobs")
  fi
  [[ ${#selection[@]} -gt 0 ]] || selection=(-R '^kernels_test|[.]np[12]$')
  # Ranks of several tests share a GPU well: most of them is waiting for small kernels.
  [[ $backend != cuda* ]] || selection+=(-j "$jobs")
  say "running the tests: ctest ${selection[*]}"
  ctest --test-dir "$work/build-capstan" --output-on-failure --no-tests=error "${selection[@]}" 2>&1 | tee "$log" || status=$?
  sed -n '/tests passed/,$p' "$log" >>"$report"
  return "$status"
}

finish() {
  local status=$?
  [[ $report != /dev/null ]] || exit "$status"
  # A run that was stopped has no status of its own.
  [[ $proved == yes || $status -ne 0 ]] || status=1
  say "$([[ $status -eq 0 ]] && echo PASSED || echo FAILED): $proof, $verdict, $(date -u +%FT%TZ)"
  [[ $record == no ]] || cp -- "$report" "$here/$proof.log"
  exit "$status"
}

read_arguments "$@"
# shellcheck source=tpetra_ext/kernels/kokkos/source.sh
source "$root/tpetra_ext/kernels/kokkos/source.sh"
# shellcheck source=tpetra_ext/kernels/cuda/toolkit.sh
source "$root/tpetra_ext/kernels/cuda/toolkit.sh"
# shellcheck source=regression/source_build/trilinos.sh
source "$here/trilinos.sh"
# shellcheck source=regression/source_build/cuda.sh
source "$here/cuda.sh"
# shellcheck source=regression/source_build/hip.sh
source "$here/hip.sh"
# shellcheck source=regression/source_build/headers.sh
source "$here/headers.sh"
arch=$(cuda_arch)

report=$work/prove.log
: >"$report"
verdict="not built" proved=no without=$([[ $werror != ON ]] || echo " without warnings")
trap finish EXIT
[[ $backend == hip ]] || require_tools
if [[ $backend == cuda17 ]]; then
  use_cuda 12.4
  # shellcheck disable=SC2034
  source_release=experimental
fi
if [[ $build == yes ]]; then
  say "Capstan $(git -C "$root" describe --always --dirty --exclude='*' 2>/dev/null || echo "of an unknown commit")," \
    "$(if [[ $backend == hip ]]; then echo "for gfx90a"; else c++ --version | head -n 1; fi)"
  if [[ $backend == hip ]]; then prepare_hip; else prepare_compiler_of_backend; fi
  if [[ $headers == yes ]]; then
    prove_headers
    verdict+="$without; NOT RUN: nothing was linked" proved=yes
    exit 0
  elif [[ $backend == hip ]]; then
    prove_hip
    verdict="the kernels compiled$without for gfx90a; NOT RUN: compiled only" proved=yes
    exit 0
  fi
  [[ $backend == protected ]] || build_trilinos
  if [[ $until == base ]]; then
    verdict="Kokkos, KokkosKernels and Teuchos compiled; NOT RUN: nothing of Capstan was built" proved=yes
    exit 0
  fi
  build_capstan
  built="all compiled and linked$without"
  cp -- "$report" "$work/built.log"
else
  [[ -e $work/built.log ]] || die "--no-build: $work holds no build of an earlier run"
  cat -- "$work/built.log" | tee -a "$report"
  built="built by an earlier run"
fi
if [[ -n $pack ]]; then
  say "packing $pack"
  cuda_libraries=()
  [[ $backend != cuda* ]] || cuda_libraries=(--libraries "$work/cuda/lib64")
  quietly pack.log "$here/pack.sh" --build "$work/build-capstan" --out "$pack" --libraries "$prefix/lib" "${cuda_libraries[@]}"
fi
verdict="$built, not run"
if [[ $backend == cuda* ]] && ! has_gpu; then
  verdict="$built; NOT RUN: nvidia-smi finds no GPU here, so no kernel, solver or message was tried"
  proved=yes
  exit 0
fi
[[ $backend != cuda* ]] || say "$(nvidia-smi -L)"
if [[ $backend == serial-static ]]; then
  verdict="$built, the static program failed"
  # shellcheck source=regression/source_build/static.sh
  source "$here/static.sh"
  set -a
  # shellcheck source=/dev/null
  source <("$root/cmake/run_environment.sh" --oversubscribed)
  set +a
  compare_with_preloaded
fi
verdict="$built, tests failed"
run_tests
verdict="$built, a benchmark failed"
[[ $backend != cuda* ]] || run_benchmarks
verdict="$built, all tests of this run passed" proved=yes
