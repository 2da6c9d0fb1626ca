# What `capstan preload` knows of the hosts that are reached through libcapstanC.so: hypre, PETSc and code_saturne. Sourced by the
# launcher and by the installed command `capstan`, beside preload.sh.
# shellcheck shell=bash

preload_hosts=(belos hypre petsc saturne)
declare -A host_called=([hypre]=hypre [petsc]=PETSc [saturne]=code_saturne)
declare -A host_library=([hypre]=libcapstanHypre.so [petsc]=libcapstanPetsc.so [saturne]=libcapstanSaturne.so)
# What a program has of it: among its shared libraries, or, as one that is linked statically, inside.
declare -A host_shared=([hypre]='^libHYPRE' [petsc]='^libpetsc' [saturne]='^libsaturne')
declare -A host_inside=([hypre]=hypre_ParVector [petsc]=KSPRegister [saturne]=cs_sles_define)
declare -A host_page=([hypre]=docs/hosts.md#hypre [petsc]=docs/petsc.md [saturne]=docs/saturne.md)
# What an option has in it that asks for a method.
declare -A host_asks=([hypre]=hypre_ [petsc]=capstan_ [saturne]=saturne_)

# host_among <host> <lines of shared_libraries>: the host's library: "name path".
host_among() {
  grep -E -m 1 -- "${host_shared[$1]}" <<<"$2" || true
}

# of_host <host> <lines of shared_libraries>: that of Belos, or of another host: "name path".
of_host() {
  if [[ $1 == belos ]]; then of_kind Belos "$2"; else host_among "$1" "$2"; fi
}

# holds_host <host> <program>: whether it has code of the host inside.
holds_host() {
  [[ $1 == belos ]] || { LC_ALL=C grep -qaF "${host_inside[$1]}" -- "$2" && return; }
  [[ $1 == belos ]] && holds_belos "$2"
}

# check_meets_host <host> <application> <library>: ends with what keeps the library from meeting the application's host.
check_meets_host() {
  local host=$1 application=$2 library=$3 called=${host_called[$1]} theirs ours kind their our
  theirs=$(shared_libraries "$application") ours=$(shared_libraries "$library")
  their=$(host_among "$host" "$theirs") our=$(host_among "$host" "$(direct_libraries "$library")")
  if [[ -z $their ]]; then
    [[ $(head -c 2 -- "$application") != "#!" ]] ||
      fail 2 "$application is a script: nothing tells which program it starts" "Put 'capstan preload' into the script, or say --no-check."
    ! holds_host "$host" "$application" ||
      fail 1 "$called is linked into $application statically" "What is loaded beside it cannot reach it: link $called as a shared library."
    fail 1 "$application does not use $called: there is no ${host_shared[$host]#^} among its shared libraries" \
      "If it loads $called later by itself, say --no-check."
  fi
  for kind in host MPI; do
    [[ $kind == host ]] || their=$(of_kind MPI "$theirs") our=$(of_kind MPI "$ours")
    [[ ${their#* } != not-found ]] ||
      fail 1 "${their%% *}, which $application needs, is not found" "Set LD_LIBRARY_PATH as for a run of the application."
    [[ -z $their || -z $our || ${their%% *} == "${our%% *}" ]] ||
      fail 1 "$application needs ${their%% *}, and $library ${our%% *}" \
        "They cannot meet. Build Capstan with the $([[ $kind == host ]] && echo "$called" || echo MPI) of the application: docs/building.md"
  done
}

# direct_libraries <file>: the shared libraries that it names itself: "name path", without paths.
direct_libraries() {
  readelf -d -- "$1" 2>/dev/null | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1 ?/p'
}

# say_if_nothing_is_asked <host> <words...>: with no option that names a method, the run is as without Capstan.
say_if_nothing_is_asked() {
  local host=$1 options="${CAPSTAN_OPTIONS:-} ${CAPSTAN_OPTIONS_FILE:-}"
  shift
  [[ ! -r ${CAPSTAN_OPTIONS_FILE:-} ]] || options+=$(<"$CAPSTAN_OPTIONS_FILE")
  [[ $host != petsc ]] || options="${PETSC_OPTIONS:-} $*"
  [[ $options != *"${host_asks[$host]}"* ]] || return 0
  say "note: no option names a method for ${host_called[$host]}, which solves as without Capstan: ${host_page[$host]}"
}

# check_application <host> <application> <library>: ends with why the library does not reach the application.
check_application() {
  if [[ $1 == belos ]]; then
    check_meets "$2" "$3"
    check_fits "$2" "$3" Trilinos
  else
    check_meets_host "$1" "$2" "$3"
    check_fits "$2" "$3" "${host_called[$1]}"
  fi
}

# library_is_there <host> <library>: ends where it is not, with why.
library_is_there() {
  [[ ! -e $2 ]] || return 0
  if [[ -e ${2%/*}/libcapstan_static.a && ! -e ${2%/*}/libcapstan.so ]]; then
    fail 1 "this Capstan has no ${2##*/}: it was built with a static Trilinos, and what is preloaded cannot reach a program with that" \
      "Link Capstan::capstan into the application: docs/belos.md#with-a-static-trilinos"
  fi
  [[ $1 == belos ]] || fail 3 "$2 is missing: ${host_called[$1]} was not found when Capstan was built" "See: ${host_page[$1]}"
  fail 3 "$2 is missing"
}
