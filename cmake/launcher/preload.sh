# `capstan preload`: starts a Belos application with libcapstan_preload.so preloaded on all ranks, which opens libcapstan.so; or
# one over another host with that host's library (preload_hosts.sh). Sourced by the launcher and by the installed command `capstan`.
# shellcheck shell=bash

capstan_called=${capstan_called:-./capstan}

help_preload() {
  cat <<TEXT
usage: $capstan_called preload [hypre | petsc | saturne] [--dry-run] [--no-check] -- mpirun [arguments of mpirun] application [its arguments]

Runs an application that chooses its solvers through Belos::SolverFactory with Capstan's among them: puts libcapstan_preload.so,
which opens libcapstan.so in programs that it fits, into LD_PRELOAD of all ranks, in the way of the MPI at hand (mpirun or
mpiexec of Open MPI, MPICH and Intel MPI, srun, jsrun), and hands over the variables CAPSTAN_OPTIONS, ... that are set. Before
that it looks whether the two go together: the application must have Belos, Tpetra and MPI as shared libraries with the names
that libcapstan.so was linked with, and with all functions that it needs.
  hypre      for an application over hypre: libcapstanHypre.so. CAPSTAN_OPTIONS says which of hypre's solvers are redirected
  saturne    for code_saturne's cs_solver: libcapstanSaturne.so. CAPSTAN_OPTIONS says which fields are redirected
  petsc      for an application over PETSc: -dll_append libcapstanPetsc.so in PETSC_OPTIONS. -ksp_type names the method
  --dry-run    print the command instead
  --no-check   do not look at the application, and preload libcapstan.so itself, as where it loads Belos later by itself
Examples: $capstan_called preload -- mpirun -n 64 naluX -i deck.yaml
          CAPSTAN_OPTIONS='redirect: {hypre_gmres: capstan_sstep_gmres}' $capstan_called preload hypre -- mpirun -n 64 application
TEXT
}

# Variables of Capstan's that are about this script and builds, not about solves.
preload_own_variables=(CAPSTAN_BUILD_DIR CAPSTAN_SOURCE_DIR CAPSTAN_JOBS CAPSTAN_INSTALL CAPSTAN_REPORT_SECONDS)

# shared_libraries <file>: names of the shared libraries that it needs, itself or by others, and where they are: "name path".
shared_libraries() {
  ldd -- "$1" 2>/dev/null | awk '$2 == "=>" { print $1, ($3 == "not" ? "not-found" : $3) }'
}

# of_kind <kind> <lines of shared_libraries>: those of Belos (trilinos_belos or belos), Tpetra or MPI: "name path".
of_kind() {
  local pattern
  case $1 in
    MPI) pattern='^libmpi[.]so' ;;
    *) pattern="^lib(trilinos_)?${1,,}[.]so" ;;
  esac
  grep -E -m 1 -- "$pattern" <<<"$2" || true
}

# Whether a program has code of Belos in it, as one that is linked statically: names of its classes, mangled or not.
holds_belos() {
  LC_ALL=C grep -qaE 'N5Belos|Belos::' -- "$1"
}

# Whether a program has Capstan in it: the longest of its solvers' names, which a stripped one has, too.
holds_capstan() {
  LC_ALL=C grep -qaF 'CAPSTAN GMRES S-STEP PIPELINE' -- "$1"
}

# application_among <host> <kind of the first word> <words...>: the number of the word, from 0 on, that is the application: the first
# program with the host, by shared libraries or inside; else the first program behind mpirun. Fails where there is none.
application_among() {
  local host=$1 kind=$2 number path programs=()
  shift 2
  for ((number = 0; number < $#; number++)); do
    path=${*:number+1:1}
    [[ $path != -* && ($number -gt 0 || $kind == other) ]] && path=$(type -P -- "$path") && programs+=("$number $path")
  done
  for path in "${programs[@]}"; do
    [[ -z $(of_host "$host" "$(shared_libraries "${path#* }")") ]] || { echo "${path%% *}" && return; }
  done
  for path in "${programs[@]}"; do
    ! holds_host "$host" "${path#* }" || { echo "${path%% *}" && return; }
  done
  [[ ${#programs[@]} -gt 0 ]] && echo "${programs[0]%% *}"
}

# check_meets <application> <library>: ends with what keeps the library from meeting the application's Belos.
check_meets() {
  local application=$1 library=$2 theirs ours kind their our
  theirs=$(shared_libraries "$application") ours=$(shared_libraries "$library")
  if [[ -z $(of_kind Belos "$theirs") ]]; then
    [[ $(head -c 2 -- "$application") != "#!" ]] ||
      fail 2 "$application is a script: nothing tells which program it starts" "Put 'capstan preload' into the script, or say --no-check."
    ! holds_capstan "$application" ||
      fail 1 "Capstan is linked into $application already, together with Belos: there is nothing to preload" \
        "Start it as it is: it knows Capstan's solvers. The variables CAPSTAN_... work as with a preloaded library."
    ! holds_belos "$application" ||
      fail 1 "Belos is linked into $application statically (no libbelos among its shared libraries)" \
        "What is preloaded cannot reach it. Link Capstan::capstan into it, built with that Trilinos: docs/belos.md#with-a-static-trilinos"
    fail 1 "$application does not use Belos: there is no libbelos among its shared libraries" \
      "If it loads Belos later by itself, say --no-check."
  fi
  for kind in Belos Tpetra MPI; do
    their=$(of_kind "$kind" "$theirs") our=$(of_kind "$kind" "$ours")
    [[ -n $their && -n $our ]] || continue
    [[ ${their%% *} == "${our%% *}" ]] ||
      fail 1 "$application needs ${their%% *}, and $library ${our%% *}" \
        "They cannot meet. Build Capstan with the Trilinos and the MPI of the application: CMAKE_PREFIX_PATH, see docs/building.md"
    [[ ${their#* } != not-found ]] ||
      fail 1 "${their%% *}, which $application needs, is not found" "Set LD_LIBRARY_PATH as for a run of the application."
    [[ $(readlink -f -- "${their#* }") == "$(readlink -f -- "${our#* }")" ]] ||
      say "note: ${their%% *} is ${their#* } for $application and ${our#* } for $library; the ranks will use one of them"
  done
}

# check_fits <application> <library> <whose>: ends where the loader does not find all that the library needs in the application's
# libraries. They have the right names then, but come of another compiler, another std::string, or another build.
check_fits() {
  local application=$1 library=$2 whose=$3 missing
  # All lines are read: a reader that stops at the first one fails those that still write.
  missing=$(LD_PRELOAD=$library ldd -r -- "$application" 2>&1 | grep -F "undefined symbol" | grep -F -- "$library" || true)
  [[ -n $missing ]] || return 0
  missing=${missing%%$'\n'*} missing=${missing#*undefined symbol: }
  fail 1 "$library does not fit the $whose of $application, which lacks $(c++filt "${missing%%[[:space:]]*}" 2>/dev/null || echo "${missing%%[[:space:]]*}")" \
    "It was built by another compiler, with another std::string, or otherwise. Build Capstan with that $whose and its compiler: docs/building.md"
}

# mpi_kind <launcher>: openmpi, hydra (MPICH, Intel MPI), srun, jsrun, or other.
mpi_kind() {
  local said
  case ${1##*/} in
    srun | jsrun)
      echo "${1##*/}"
      return
      ;;
    mpirun* | mpiexec* | orterun | prterun) ;;
    *)
      echo other
      return
      ;;
  esac
  said=$("$1" --version 2>&1 </dev/null | head -n 20 || true)
  case $said in
    *"Open MPI"* | *OpenRTE* | *PRRTE* | *prterun*) echo openmpi ;;
    *HYDRA* | *MPICH* | *"Intel(R) MPI"*) echo hydra ;;
    *) echo other ;;
  esac
}

# preload_words <variable> <value> <kind of MPI> <number of the application's word> <words...>: sets `command` to the words with the
# value in the variable, LD_PRELOAD or PETSC_OPTIONS, before what it has.
preload_words() {
  local variable=$1 first=$2 kind=$3 at=$4 glue=: preload name exported=() variables=() i
  shift 4
  [[ $variable == LD_PRELOAD ]] || glue=" "
  preload=$first${!variable:+$glue${!variable}}
  while IFS= read -r name; do
    contains "$name" "${preload_own_variables[@]}" || variables+=("$name")
  done < <(compgen -e | grep '^CAPSTAN_' | sort)
  case $kind in
    openmpi) for name in "${variables[@]}"; do exported+=(-x "$name"); done ;;
    jsrun) for name in "${variables[@]}"; do exported+=(-E "$name"); done ;;
  esac
  # The user preloads something, too: NAME=VALUE, or two words.
  for ((i = 2; i <= at; i++)); do
    case ${!i} in
      "$variable="*) command=("${@:1:i-1}" "$variable=$first$glue${!i#*=}" "${@:i+1}") ;;
      "$variable")
        if [[ $kind == openmpi ]]; then # the name alone: what the environment has
          command=("${@:1:i-1}" "$variable=$preload" "${@:i+1}")
        else
          command=("${@:1:i}" "$first$glue${*:i+1:1}" "${@:i+2}")
        fi
        ;;
      # Of lists of variables srun takes one.
      --export | --export=*)
        kind=other
        continue
        ;;
      *) continue ;;
    esac
    command=("${command[0]}" "${exported[@]}" "${command[@]:1}")
    return
  done
  case $kind in
    openmpi)
      # Each part of a command with several programs has variables of its own.
      exported=(-x "$variable=$preload" "${exported[@]}") command=("$1" "${exported[@]}")
      for name in "${@:2}"; do
        command+=("$name")
        [[ $name != : ]] || command+=("${exported[@]}")
      done
      ;;
    hydra) command=("$1" -genv "$variable" "$preload" "${@:2}") ;; # hands over the whole environment, as srun does
    jsrun) command=("$1" -E "$variable=$preload" "${exported[@]}" "${@:2}") ;;
    srun) command=("$1" "--export=ALL,$variable=$preload" "${@:2}") ;;
    *) command=("${@:1:at}" env "$variable=$preload" "${@:at+1}") ;;
  esac
}

# shell_words <words...>: as a shell reads them, in one line.
shell_words() {
  local word line=""
  for word in "$@"; do
    [[ $word =~ ^[A-Za-z0-9_./=:,+@%-]+$ ]] || word=${word@Q}
    line+="$word "
  done
  echo "${line% }"
}

# preload <libcapstan.so> [host] [options] -- <words...>
preload() {
  local library=$1 host=belos preloaded dry=no check=yes kind at command
  shift
  while [[ $# -gt 0 && $1 != -- ]]; do
    case $1 in
      --dry-run) dry=yes ;;
      --no-check) check=no ;;
      -*) fail_usage "preload: unknown option '$1'. Did you mean '$(nearest "$1" --dry-run --no-check)'?" "Arguments of mpirun stand after --" ;;
      *)
        contains "$1" "${preload_hosts[@]}" ||
          fail_usage "preload: found '$1' before --. Did you mean '$(nearest "$1" "${preload_hosts[@]}")'?" "See: $capstan_called preload --help"
        host=$1
        [[ $host == belos ]] || library=${library%/*}/${host_library[$host]}
        ;;
    esac
    shift
  done
  [[ $# -gt 1 ]] || fail_usage "preload wants -- and a command that starts the application" "See: $capstan_called preload --help"
  shift
  library_is_there "$host" "$library"
  refuse_in_path "the library" "$library" "Install Capstan in a folder" blank
  [[ $host == petsc ]] || refuse_in_path "the library" "$library" "Install Capstan in a folder" colon
  type -P -- "$1" >/dev/null || fail_usage "preload: '$1' is no program in PATH"
  kind=$(mpi_kind "$1")
  at=$(application_among "$host" "$kind" "$@") ||
    fail_usage "preload: none of these words is a program: ${*:2}" "Is the application in PATH, or is its path wrong?"
  [[ $check == no ]] || check_application "$host" "$(type -P -- "${*:at+1:1}")" "$library"
  preloaded=$library
  [[ $host == belos ]] || say_if_nothing_is_asked "$host" "$@"
  [[ $host != belos || $check == no ]] || preloaded=${library%/*}/libcapstan_preload.so
  if [[ $host == petsc ]]; then
    preload_words PETSC_OPTIONS "-dll_append $library" "$kind" "$at" "$@"
  else
    preload_words LD_PRELOAD "$preloaded" "$kind" "$at" "$@"
  fi
  if [[ $dry == yes ]]; then
    shell_words "${command[@]}"
    return
  fi
  exec "${command[@]}"
}
