# The commands: command_<name> does it, help_<name> explains it. Sourced by the launcher.
# shellcheck shell=bash

help_help() {
  cat <<'TEXT'
Capstan: communication-avoiding Krylov solvers for Trilinos applications and OpenFOAM.

usage: ./capstan <command> [arguments]          ./capstan <command> --help

  setup    install the Debian packages Capstan needs and configure the build
  build    build the libraries and capstan-solve
  run      run a case of app-inputs/
  solve    solve the systems of a deck (a YAML file)
  preload  start an application over Belos, hypre, PETSc or code_saturne with Capstan's solvers
  advise   say which solver to write into an OpenFOAM case, a deck or a program's command, from runs of it
  enable   write Capstan into the dictionaries of an OpenFOAM case
  disable  take back what enable has written
  plot     draw the solves of a run, from the file that tells them
  list     show the solvers and their parameters
  test     build and run all tests
  bench    measure kernels and solvers
  study    count and model the messages of thousands of ranks
  docs     write the documents and the API as HTML
  version  show the version, as --version does
  help     show this

Every command first does whatever set-up is still missing. On Debian 12, 13 and unstable it installs packages itself, as
root or with passwordless sudo; elsewhere it names what is missing.

Environment: CAPSTAN_BUILD_DIR (default: build/), CAPSTAN_JOBS (compiler jobs, default: by cores and memory),
             CAPSTAN_INSTALL=off (never install packages).
Completion in bash: source cmake/launcher/completion.bash
TEXT
}

command_help() {
  if [[ $# -gt 0 ]]; then
    contains "$1" "${commands[@]}" ||
      fail_usage "no command '$1'. Did you mean '$(nearest "$1" "${commands[@]}")'?" "Commands: ${commands[*]}"
    "help_$1"
    return
  fi
  help_help
}

help_setup() {
  cat <<'TEXT'
usage: ./capstan setup

Installs what all commands need (compiler, CMake, Trilinos, hypre, Open MPI, OpenBLAS, yaml-cpp, GoogleTest, OpenFOAM; PETSc and
matplotlib for the benchmarks; clang-format, shellcheck, Doxygen, Chromium and on Debian 12 SimGrid for the tests) and
configures the build. The other commands do the part they need by themselves.
TEXT
}

command_setup() {
  [[ $# -eq 0 ]] || fail_usage "setup takes no arguments, got: $*"
  ensure_packages build openfoam petsc bench test
  rm -f -- "$build_dir/capstan-no-openfoam-headers"
  export_run_environment
  configure "$build_dir"
  say "everything is set up; next: ./capstan build, ./capstan test or ./capstan run app-inputs/openfoam/cavity3d"
}

help_build() {
  cat <<'TEXT'
usage: ./capstan build [--sanitize] [--jobs N] [-DNAME=VALUE ...] [target ...]

Builds lib/libcapstan.so, bin/capstan-solve and, where OpenFOAM is installed, lib/libcapstanFoam.so, all in build/.
  --sanitize     build the unit and application tests in build-sanitize/ with the address and undefined-behaviour
                 sanitizers
  --jobs N       compiler jobs (default: one a core, as far as the memory goes: 2.5 GB each)
  -DNAME=VALUE   a CMake option, kept for later commands in this build folder
  target         build these Ninja targets instead
TEXT
}

command_build() {
  local targets=() options=() usual=(capstan_products)
  while [[ $# -gt 0 ]]; do
    case $1 in
      --sanitize) build_dir=$build_dir-sanitize usual=(capstan_unit_tests capstan_application_tests) ;;
      --jobs)
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail_usage "--jobs wants a whole number from 1 on, got '${2:-}'"
        jobs_wanted=$2
        shift
        ;;
      -D?*) options+=("$1") ;;
      -*) fail_usage "build: unknown option '$1'" "See: ./capstan build --help" ;;
      *) targets+=("$1") ;;
    esac
    shift
  done
  [[ ${#targets[@]} -gt 0 ]] || targets=("${usual[@]}")
  ensure_packages build
  configure "$build_dir" "${options[@]}"
  build_targets "$build_dir" "${targets[@]}"
  say "up to date in $build_dir: ${targets[*]}"
}

help_run() {
  cat <<'TEXT'
usage: ./capstan run <case> [arguments]

Builds what the case needs and runs its script, <case>/run, with the arguments. A case is a folder, or the last part of its
name where it is below app-inputs/. Its own arguments: ./capstan run <case> --help after the first build
Examples: ./capstan run app-inputs/openfoam/cavity3d 32      ./capstan run pitzDaily --compare
TEXT
}

# All case folders, relative to the root, one a line.
case_folders() {
  (cd -- "$root" && find app-inputs -mindepth 2 -name run -type f -perm -u+x -printf '%h\n' | sort)
}

# case_named <name>: the case folder whose last part is this name; fails where there is none, or more than one.
case_named() {
  case_folders | awk -F/ -v name="$1" '$NF == name { found = $0; number++ } END { if (number == 1) print found; exit number != 1 }'
}

# nearest_case <word> <cases...>: by the last part of the name where the word is no path.
nearest_case() {
  local wanted=$1 name
  shift
  if [[ $wanted == */* ]]; then
    nearest "$wanted" "$@"
  else
    name=$(nearest "$wanted" "${@##*/}")
    printf '%s\n' "$@" | awk -F/ -v name="$name" '$NF == name { print; exit }'
  fi
}

# refuse_build_folder <kinds...>: ends where its path has what those who read it would misread.
refuse_build_folder() {
  refuse_in_path "the build folder" "$build_dir" "Set CAPSTAN_BUILD_DIR to a folder" "$@"
}

command_run() {
  [[ $# -gt 0 ]] || fail_usage "run wants a case folder, or its name" "Cases: $(case_folders | tr '\n' ' ')"
  local wanted=$1 folder cases named
  shift
  if [[ -x $wanted/run ]]; then
    folder=$(cd -- "$wanted" && pwd)
  elif [[ -x $root/$wanted/run ]]; then
    folder=$(cd -- "$root/$wanted" && pwd)
  elif named=$(case_named "${wanted%/}"); then
    folder=$root/$named
  else
    mapfile -t cases < <(case_folders)
    fail_usage "'$wanted' is no case folder: it holds no executable file 'run'" \
      "The nearest case is $(nearest_case "${wanted%/}" "${cases[@]}"). All cases: ${cases[*]}"
  fi
  local targets=(capstan_products)
  case $folder in
    */openfoam/*)
      refuse_build_folder blank colon
      ensure_packages build openfoam
      ;;
  esac
  ensure_packages build
  configure "$build_dir"
  # What a run would take if all-reduces were slow: an emulation, which is a part of the benchmarks.
  [[ $folder != */openfoam/* || -n $(left_out "$build_dir" CAPSTAN_BENCHMARKS) ]] || targets+=(capstan_latency)
  build_targets "$build_dir" "${targets[@]}"
  export_run_environment
  exec "$folder/run" "$@"
}

help_solve() {
  cat <<'TEXT'
usage: ./capstan solve <deck.yaml> [--ranks N] [arguments of capstan-solve]

Solves the linear systems of a deck through Belos::SolverFactory, on N MPI ranks (default: one a core, at most 4).
Example: ./capstan solve app-inputs/decks/laplace3d.yaml --ranks 2
For the arguments of capstan-solve itself: build/bin/capstan-solve --help
TEXT
}

command_solve() {
  local ranks="" arguments=() kinds=(--quiet)
  while [[ $# -gt 0 ]]; do
    case $1 in
      --ranks | -n)
        [[ $# -gt 1 ]] || fail_usage "$1 wants a number of ranks"
        ranks=$2
        shift
        ;;
      --ranks=*) ranks=${1#*=} ;;
      *)
        arguments+=("$1")
        [[ $1 != --mpi-threads ]] || kinds+=(--threads)
        ;;
    esac
    shift
  done
  [[ ${#arguments[@]} -gt 0 ]] || fail_usage "solve wants a deck (a YAML file)" "See: ./capstan solve --help"
  ranks=${ranks:-$(($(core_count) < 4 ? $(core_count) : 4))}
  [[ $ranks =~ ^[1-9][0-9]*$ ]] || fail_usage "--ranks wants a whole number from 1 on, got '$ranks'"
  ensure_built capstan_products
  # Quiet: a failed solve has said why; mpirun's own paragraph about it helps nobody.
  export_run_environment --ranks "$ranks" "${kinds[@]}"
  exec mpirun -n "$ranks" "$build_dir/bin/capstan-solve" "${arguments[@]}"
}

command_preload() {
  local word
  # Wrong use is told before anything is built.
  for word in "$@"; do [[ $word != -- ]] || break; done
  [[ ${word:-} == -- ]] || fail_usage "preload wants -- and a command that starts the application" "See: ./capstan preload --help"
  if [[ ${1:-} == petsc ]]; then refuse_build_folder blank; else refuse_build_folder blank colon; fi
  case ${1:-} in
    hypre | petsc | saturne) ensure_built capstan_products ;;
    *) ensure_built capstan_library ;;
  esac
  preload "$build_dir/lib/libcapstan.so" "$@"
}

help_advise() {
  cat <<'TEXT'
usage: ./capstan advise <case or deck> [--ranks N] [--latency US,...] [--turns N] [--steps S] [--field NAME] [--solver NAME]
                        [--folder DIR]
       ./capstan advise petsc | hypre_pcg | saturne_pressure | ... [--ranks N] [--latency US,...] [--turns N] -- application [arguments]

Runs a copy of an OpenFOAM case, or the systems of a deck, with its own solver and with each of Capstan's in turn, and says which
name to write: for this machine as it is, and as if an all-reduce took longer (emulated). It also measures what an all-reduce takes
here, and what share of the solves the case's own solver spends in them. The case stays as it is.
  --ranks N      MPI ranks (default: one a core, at most 4)
  --latency US   microseconds of an all-reduce, separated by commas; 0: as this machine is (default 0,200)
  --turns N      how often each solver runs (default 3); those that fall behind are left out after each turn
  --steps S      time steps of an OpenFOAM case (default 5)
  --field NAME   the field of an OpenFOAM case whose solver is sought (default: the pressure)
  --solver NAME  the entry of a deck's linear_solvers (default: the first)
  --folder DIR   where to work (default <build folder>/run/advise); its old contents go
In place of a case or a deck: a program over PETSc, over hypre (hypre_pcg, hypre_gmres, ...) or code_saturne (saturne_ and a field), whose
command stands behind --, without mpirun. It is run as it is, where you are, and is reached through the library of its host.
Examples: ./capstan advise my/case --ranks 2      ./capstan advise app-inputs/decks/laplace3d.yaml --latency 0,50,200
TEXT
}

command_advise() {
  local targets=(capstan_products ping_pong capstan_latency)
  [[ $# -gt 0 ]] || fail_usage "advise wants the folder of an OpenFOAM case, a deck (a YAML file), or a name such as hypre_pcg and a command behind --" "See: ./capstan advise --help"
  # It preloads what emulates slow all-reduces.
  refuse_build_folder blank colon
  ensure_packages build
  [[ ! -d $1 ]] || ensure_packages build openfoam
  configure "$build_dir"
  build_targets "$build_dir" "${targets[@]}"
  CAPSTAN_BUILD_DIR=$build_dir exec python3 "$root/app-inputs/advise/advise.py" "$@"
}

command_enable() {
  [[ $# -gt 0 ]] || fail_usage "enable wants the folder of an OpenFOAM case" "See: ./capstan enable --help"
  refuse_build_folder blank
  ensure_packages build openfoam
  ensure_built capstan_products
  switch_case "$root/app-inputs/openfoam/switch_case.py" "$build_dir/lib/libcapstanFoam.so" enable "$@"
}

command_disable() {
  switch_case "$root/app-inputs/openfoam/switch_case.py" "" disable "$@"
}

help_plot() {
  cat <<'TEXT'
usage: ./capstan plot <file> ... [--fields NAME ...] [--window US] [--out PICTURE]

Draws iterations, all-reduces an iteration, seconds by phase and outcomes of each field over the run. The file is
capstanReport.csv (the function object capstanReport in OpenFOAM), a report or a history of capstan-solve, or advice.csv:
  ./capstan plot case/postProcessing/watch/0/capstanReport.csv
  ./capstan plot report.json      the report of ./capstan solve, or of the parameter "Report File"
  ./capstan plot history.csv      the history of ./capstan solve, or of the parameter "History File"
  ./capstan plot advice.csv       the solvers that ./capstan advise has compared
  ./capstan plot trace.0.json trace.1.json    what each thread of each rank did in a solve ("Trace File")
The picture has the file's name with .png where --out names no other: PNG, SVG or PDF.
TEXT
}

command_plot() {
  local python=python3
  [[ $# -gt 0 ]] || fail_usage "plot wants a file: capstanReport.csv, a report or a history" "See: ./capstan plot --help"
  ensure_packages plot
  # Debian's packages, matplotlib among them, serve Debian's Python.
  ! on_debian || python=/usr/bin/python3
  exec "$python" "$root/adapters/tools/plot/plot" "$@"
}

help_list() {
  cat <<'TEXT'
usage: ./capstan list [--markdown] [--costs]

Shows all solvers, their names in a deck, and all parameters with type, range, default and meaning.
--costs shows what an iteration of each solver costs instead.
TEXT
}

command_list() {
  ensure_built capstan_products
  export_run_environment
  exec "$build_dir/bin/capstan-solve" list "$@"
}

help_bench() {
  cat <<'TEXT'
usage: ./capstan bench [arguments of perf/bench]

Measures kernels against STREAM and solvers against Belos' own (and PETSc's and hypre's) in one run.
  ./capstan bench                                        kernels and the default campaign
  ./capstan bench --kernels                              kernels only
  ./capstan bench multigrid                              one campaign of perf/campaigns, or a deck
  ./capstan bench --latency 0,20,50,100,200,500          the campaign 'pipelined' under emulated latencies
  ./capstan bench headline                               the cells by which Capstan is judged: targets, table, report.html
  ./capstan bench report DIR                             the report of results anew
  ./capstan bench overlap                                what nonblocking all-reduces hide
  ./capstan bench openfoam                               pressure solves of tutorials, against OpenFOAM's own solvers
  ./capstan bench models                                 latencies and rates of this machine, and how well the models predict
  ./capstan bench simulation                             iterations on 64 to 1024 ranks, simulated by SimGrid
For all arguments: perf/bench --help, perf/overlap/run --help, and so on for openfoam, models, simulation
TEXT
}

command_bench() {
  local python=python3 groups=(build petsc bench) targets=(capstan_products capstan_bench)
  case ${1:-} in
    openfoam) groups+=(openfoam) ;;
    overlap) targets=(overlap_bench capstan_latency) ;;
    models) targets=(ping_pong exchange_bench) ;;
    simulation) groups=(build simulation plot) targets=(study_plans) ;;
    report) groups=(plot) targets=() ;;
  esac
  ensure_packages "${groups[@]}"
  # Debian's packages, matplotlib among them, serve Debian's Python.
  ! on_debian || python=/usr/bin/python3
  if [[ ${#targets[@]} -gt 0 ]]; then
    configure "$build_dir"
    build_targets "$build_dir" "${targets[@]}"
  fi
  export_run_environment
  exec "$python" "$root/perf/bench" "$@"
}

help_study() {
  cat <<'TEXT'
usage: ./capstan study [arguments of perf/study/run]

Builds the communication plans (standard, two-step, three-step, optimal) of up to thousands of virtual ranks for a matrix, in
one process without MPI; counts their messages and bytes, and models what share of an enlarged CG iteration they take.
  ./capstan study --plots                                the paper's Example 2.1 on 256 to 8192 ranks, about two minutes
  ./capstan study --matrix my.mtx.gz --ranks 64,512 --ranks-per-node 8 --partition graph
  ./capstan study --ranks 1024 --machine my-machine.yaml   as ./capstan bench models writes it
  ./capstan study embedded my.mtx.gz --ranks 16,256      exchanges embedded in an all-reduce, and mappings to its hypercube
  ./capstan study crossover --machine my-machine.yaml    from how many values on embedding loses on that machine
For all arguments: perf/study/run --help, and so on for run_embedded, run_crossover; what the numbers mean: docs/study.md
TEXT
}

command_study() {
  local python=python3 program=study_plans script=run
  # Debian's packages, matplotlib among them, serve Debian's Python.
  ! on_debian || python=/usr/bin/python3
  case ${1:-} in
    embedded)
      program=study_embedding script=run_embedded
      shift
      ;;
    crossover)  # builds nothing
      shift
      ensure_packages plot
      exec "$python" "$root/perf/study/run_crossover" "$@"
      ;;
  esac
  ensure_packages build plot
  configure "$build_dir"
  build_targets "$build_dir" "$program"
  export_run_environment
  exec "$python" "$root/perf/study/$script" "$@"
}

help_docs() {
  cat <<'TEXT'
usage: ./capstan docs

Writes the documents (README.md, docs/) and the API of all headers as HTML to build/docs/html, with Doxygen. It needs no build.
Exit status: 1 where Doxygen warns of something.
TEXT
}

command_docs() {
  local status=0
  [[ $# -eq 0 ]] || fail_usage "docs takes no arguments, got: $*"
  ensure_packages docs
  lock "$build_dir"
  run_logged "$build_dir/log/docs.log" "writing the documents" "$root/docs/build_html" "$build_dir/docs" 9>&- || status=$?
  unlock
  [[ $status -ne 3 ]] || fail 3 "Doxygen is missing"
  [[ $status -eq 0 ]] || fail 1 "the documents have mistakes, or could not be written"
  say "open $build_dir/docs/html/index.html"
}

help_version() {
  cat <<'TEXT'
usage: ./capstan version

Shows the version of this source tree.
TEXT
}

command_version() {
  [[ $# -eq 0 ]] || fail_usage "version takes no arguments, got: $*"
  echo "capstan $(version_of "$root")"
}
