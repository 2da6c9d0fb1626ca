# `capstan preload`: starts a Belos application with libcapstan_preload.so preloaded on all ranks, which opens libcapstan.so.
# Sourced by the launcher and by the installed command `capstan`.
# shellcheck shell=bash

capstan_called=${capstan_called:-./capstan}

help_preload() {
  cat <<TEXT
usage: $capstan_called preload [--dry-run] [--no-check] -- mpirun [arguments of mpirun] application [its arguments]

Runs an application that chooses its solvers through Belos::SolverFactory with Capstan's among them: puts libcapstan_preload.so,
which opens libcapstan.so in programs that it fits, into LD_PRELOAD of all ranks, in the way of the MPI at hand (mpirun or
mpiexec of Open MPI, MPICH and Intel MPI, srun, jsrun), and hands over the variables CAPSTAN_OPTIONS, ... that are set. Before
that it looks whether the two go together: the application must have Belos, Tpetra and MPI as shared libraries with the names
that libcapstan.so was linked with, and with all functions that it needs.
  --dry-run    print the command instead
  --no-check   do not look at the application, and preload libcapstan.so itself, as where it loads Belos later by itself
Example: $capstan_called preload -- mpirun -n 64 naluX -i deck.yaml
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

# application_among <kind of the first word> <words...>: the number of the word, from 0 on, that is the application: the first
# program with Belos, by shared libraries or inside; else the first program behind mpirun. Fails where there is none.
application_among() {
  local kind=$1 number path programs=()
  shift
  for ((number = 0; number < $#; number++)); do
    path=${*:number+1:1}
    [[ $path != -* && ($number -gt 0 || $kind == other) ]] && path=$(type -P -- "$path") && programs+=("$number $path")
  done
  for path in "${programs[@]}"; do
    [[ -z $(of_kind Belos "$(shared_libraries "${path#* }")") ]] || { echo "${path%% *}" && return; }
  done
  for path in "${programs[@]}"; do
    ! holds_belos "${path#* }" || { echo "${path%% *}" && return; }
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

# check_fits <application> <library>: ends where the loader does not find all that the library needs in the application's
# libraries. They have the right names then, but come of another compiler, another std::string, or another build.
check_fits() {
  local application=$1 library=$2 missing
  missing=$(LD_PRELOAD=$library ldd -r -- "$application" 2>&1 | grep -F "undefined symbol" | grep -F "$library" | head -n 1) || return 0
  missing=${missing#*undefined symbol: }
  fail 1 "$library does not fit the Trilinos of $application, which lacks $(c++filt "${missing%%[[:space:]]*}" 2>/dev/null || echo "${missing%%[[:space:]]*}")" \
    "It was built by another compiler, with another std::string, or otherwise. Build Capstan with that Trilinos and its compiler: docs/building.md"
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

# preload_words <library> <kind of MPI> <number of the application's word> <words...>: sets `command` to the words with the
# preloading in them.
preload_words() {
  local library=$1 kind=$2 at=$3 preload name exported=() variables=() i
  shift 3
  preload=$library${LD_PRELOAD:+:$LD_PRELOAD}
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
      LD_PRELOAD=*) command=("${@:1:i-1}" "LD_PRELOAD=$library:${!i#*=}" "${@:i+1}") ;;
      LD_PRELOAD) command=("${@:1:i}" "$library:${*:i+1:1}" "${@:i+2}") ;;
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
      exported=(-x "LD_PRELOAD=$preload" "${exported[@]}") command=("$1" "${exported[@]}")
      for name in "${@:2}"; do
        command+=("$name")
        [[ $name != : ]] || command+=("${exported[@]}")
      done
      ;;
    hydra) command=("$1" -genv LD_PRELOAD "$preload" "${@:2}") ;; # hands over the whole environment, as srun does
    jsrun) command=("$1" -E "LD_PRELOAD=$preload" "${exported[@]}" "${@:2}") ;;
    srun) command=("$1" "--export=ALL,LD_PRELOAD=$preload" "${@:2}") ;;
    *) command=("${@:1:at}" env "LD_PRELOAD=$preload" "${@:at+1}") ;;
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

# preload <library> [options] -- <words...>
preload() {
  local library=$1 preloaded=$1 dry=no check=yes kind at command
  shift
  while [[ $# -gt 0 && $1 != -- ]]; do
    case $1 in
      --dry-run) dry=yes ;;
      --no-check) check=no ;;
      -*) fail_usage "preload: unknown option '$1'. Did you mean '$(nearest "$1" --dry-run --no-check)'?" "Arguments of mpirun stand after --" ;;
      *) fail_usage "preload: found '$1' before --" "See: $capstan_called preload --help" ;;
    esac
    shift
  done
  [[ $# -gt 1 ]] || fail_usage "preload wants -- and a command that starts the application" "See: $capstan_called preload --help"
  shift
  if [[ ! -e $library && -e ${library%/*}/libcapstan_static.a ]]; then
    fail 1 "this Capstan has no ${library##*/}: it was built with a static Trilinos, and what is preloaded cannot reach a program with that" \
      "Link Capstan::capstan into the application: docs/belos.md#with-a-static-trilinos"
  fi
  [[ -e $library ]] || fail 3 "$library is missing"
  type -P -- "$1" >/dev/null || fail_usage "preload: '$1' is no program in PATH"
  kind=$(mpi_kind "$1")
  at=$(application_among "$kind" "$@") ||
    fail_usage "preload: none of these words is a program: ${*:2}" "Is the application in PATH, or is its path wrong?"
  if [[ $check == yes ]]; then
    check_meets "$(type -P -- "${*:at+1:1}")" "$library"
    check_fits "$(type -P -- "${*:at+1:1}")" "$library"
    preloaded=${library%.so}_preload.so
  fi
  preload_words "$preloaded" "$kind" "$at" "$@"
  if [[ $dry == yes ]]; then
    shell_words "${command[@]}"
    return
  fi
  exec "${command[@]}"
}
