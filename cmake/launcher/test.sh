# `./capstan test`: all tests, and which parts of Capstan they leave out. Sourced by the launcher.
# shellcheck shell=bash

# Options without which tests are left out, and what those are about.
declare -A tested_parts=([CAPSTAN_OPENFOAM]="OpenFOAM" [CAPSTAN_HYPRE]="hypre (boomeramg)" [CAPSTAN_PETSC_PEERS]="PETSc's peers"
  [CAPSTAN_BENCHMARKS]="benchmarks")

# left_out <folder> <options...>: of the parts with these options those that the folder is configured without, a line each.
left_out() {
  local folder=$1 option value
  shift
  for option in "$@"; do
    value=$(sed -nE "s/^-D$option(:[A-Z]+)?=//p" "$folder/capstan-options" | tail -n 1)
    [[ ! ${value^^} =~ ^(OFF|0|NO|N|FALSE|IGNORE|.*NOTFOUND)$ ]] || echo "no ${tested_parts[$option]} ($option=$value)"
  done
}

# name_left_out <folder> <options...>: says which parts will not be tested. In CI that is an error, unless packages are missing for
# them that the launcher may not install.
name_left_out() {
  local folder=$1 parts option chosen=no
  mapfile -t parts < <(left_out "$@")
  [[ ${#parts[@]} -gt 0 ]] || return 0
  for option in "${@:2}"; do
    [[ -z $(left_out "$folder" "$option") ]] || ! grep -qs "^-D$option[:=]" "$folder/capstan-user-options" || chosen=yes
  done
  printf -v parts '%s, ' "${parts[@]}"
  if [[ ${CI:-} == true && $chosen == yes ]]; then
    fail 1 "CI tests all parts, but this build has ${parts%, }" \
      "The options were given to ./capstan or to CMake, and are kept in $folder/capstan-user-options."
  fi
  say "this build leaves out tests, since it has ${parts%, }"
}

help_test() {
  cat <<'TEXT'
usage: ./capstan test [--quick | --sanitize | --threads] [arguments of ctest]
       ./capstan test --openmp [--solvers] [arguments of ctest]
       ./capstan test --soak MINUTES [--ranks N] [arguments of the soak]
       ./capstan test --distribution NAME [--keep] [--log FILE] [arguments of ctest]

Builds everything and runs all tests, several at once, with about as many ranks as there are cores (-j N for another number); the
results are also in build/test-results.xml (JUnit). The exit status is ctest's.
Where packages are not installed for it (elsewhere than on Debian, or with CAPSTAN_INSTALL=off), tests that lack one are
skipped, and named with their reasons at the end. Parts that the build leaves out (CAPSTAN_OPENFOAM=OFF, ...) are named first;
with CI=true an option that leaves one out is an error.
  --quick      a first answer: builds the libraries and what few tests need, and runs these: unit tests of each layer on 1 and 2
               ranks, every method by name in a Belos application and in OpenFOAM
  --sanitize   the unit tests and those inside other programs (deck, plugin, OpenFOAM) with the address and
               undefined-behaviour sanitizers, in build-sanitize/
  --threads    the unit tests of kernels, threads and solvers on one rank under the thread sanitizer, in build-threads/, with
               kernels as tasks of three threads (CAPSTAN_EXECUTION, unless it is set)
  --openmp     the kernel tests on two threads, for CPUs and with the portable code for devices. Debian's Trilinos has no
               OpenMP: Kokkos is built in build-openmp/ from Debian's Trilinos source package (170 MB to download, once),
               or from the folder that CAPSTAN_KOKKOS_SOURCE names
    --solvers  the tests of the kernels, the solvers and their products on two threads a rank, with a Tpetra that has
               OpenMP, built there from the same package, or from the folder that CAPSTAN_TRILINOS_SOURCE names; the
               first run takes long
  --soak       random linear systems against what must hold after every solve, under the same sanitizers: half of the
               minutes on 1 rank, half on 3, or all on N. A failure shows its problem and the command that repeats it,
               such as: ./capstan test --soak 1 --ranks 3 --seed 17. Without --first SEED every run has the same seeds
               in the same order. All arguments: build-sanitize/test/soak --help
  --distribution  the tests of the committed sources in another Debian, made bare with debootstrap for this run and deleted
               after it (as root; 10 GB in /var/tmp, 1 GB to download): bookworm, trixie, sid, or experimental, which is sid
               with the Trilinos of experimental. Warnings of our own code are errors there
    --keep     it stays, and the next run with --keep goes on in it: with --rerun-failed for tests that have failed, with -F
               where a run was interrupted, else with all
    --log      a summary to commit: machine, commit, versions, what passed and failed. Later runs in a machine that was kept
               are added to it
Examples: ./capstan test -R gmres      ./capstan test -L unit -j 2      ./capstan test --soak 10 --first 100000
TEXT
}

# distribution <NAME> [--keep] [--log FILE] [arguments of ctest]
distribution() {
  local command suite=${1:-} options=()
  [[ ${1:-} =~ ^(bookworm|trixie|sid|experimental)$ ]] ||
    fail_usage "--distribution: found '${1:-}'; allowed: bookworm, trixie, sid, experimental" "See: ./capstan test --help"
  shift
  while [[ ${1:-} == --keep || ${1:-} == --log ]]; do
    options+=("$1")
    [[ $1 == --keep ]] || options+=("${2:-}")
    [[ $1 == --keep || $# -eq 1 ]] || shift
    shift
  done
  ensure_packages distribution
  printf -v command ' %q' test "$@"
  "$root/regression/fresh_machine/prove.sh" --suite "$suite" --werror "${options[@]}" "./capstan$command"
}

command_test() {
  local targets=(all) groups=(build openfoam petsc bench test) selection=() progress=() status=0
  local parts=(CAPSTAN_OPENFOAM CAPSTAN_HYPRE CAPSTAN_PETSC_PEERS CAPSTAN_BENCHMARKS)
  if [[ ${1:-} == --soak ]]; then
    shift
    soak "$@"
    return
  fi
  if [[ ${1:-} == --openmp ]]; then
    shift
    openmp "$@"
    return
  fi
  if [[ ${1:-} == --distribution ]]; then
    shift
    distribution "$@"
    return
  fi
  if [[ ${1:-} == --quick ]]; then
    shift
    targets=(capstan_products capstan_quick_tests) groups=(build openfoam) selection=(-L quick) parts=(CAPSTAN_OPENFOAM)
  fi
  if [[ ${1:-} == --sanitize ]]; then
    shift
    build_dir=$build_dir-sanitize targets=(capstan_unit_tests capstan_application_tests) groups=(build openfoam)
    selection=(-L 'unit|application') parts=(CAPSTAN_OPENFOAM CAPSTAN_HYPRE)
  fi
  if [[ ${1:-} == --threads ]]; then
    shift
    build_dir=$build_dir-threads groups=(build) parts=() targets=(kernels_test operators_test solvers_test)
    selection=(-R '^(kernels_test|(operators_test|solvers_test)\.np1)$')
    export CAPSTAN_EXECUTION=${CAPSTAN_EXECUTION:-tasks:3}
  fi
  ensure_packages "${groups[@]}"
  configure "$build_dir"
  name_left_out "$build_dir" "${parts[@]}"
  build_targets "$build_dir" "${targets[@]}"
  export_run_environment
  [[ ! -t 1 ]] || progress=(--progress)
  # Tests count their ranks. Programs and scripts that start many of them wait for a third of their time, so one more than there are
  # cores are run at a time, but no more than four: scripts that start ranks of their own may count as one. The arguments or
  # CTEST_PARALLEL_LEVEL may say otherwise.
  local jobs=$(($(core_count) < 4 ? $(core_count) + 1 : 4))
  local run=(ctest --test-dir "$build_dir" -j "${CTEST_PARALLEL_LEVEL:-$jobs}" --output-on-failure --no-tests=error "${progress[@]}"
    --output-junit "$build_dir/test-results.xml" "${selection[@]}" "$@")
  # See cmake/when_installed.py.
  if installs_packages; then
    export CAPSTAN_COMPLETE_TESTS=1
    exec "${run[@]}"
  fi
  export CAPSTAN_COMPLETE_TESTS=0 CAPSTAN_SKIPPED_TESTS=$build_dir/skipped-tests
  rm -f -- "$CAPSTAN_SKIPPED_TESTS"
  "${run[@]}" || status=$?
  [[ ! -e $CAPSTAN_SKIPPED_TESTS ]] || cat -- "$CAPSTAN_SKIPPED_TESTS" >&2
  return "$status"
}
