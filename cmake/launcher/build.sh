# Configuring and building, both quick when nothing is to do. Sourced by the launcher.
# shellcheck shell=bash

on_or_off() {
  if "$@"; then echo ON; else echo OFF; fi
}

# configure_options <folder> [options of the user...]: the options of ./capstan's own builds follow from what is installed, so
# that no two commands undo each other's. Debian 12's compiler and Trilinos are those Capstan is kept free of warnings with;
# others find new ones, which CAPSTAN_WERROR=ON in the environment makes errors.
configure_options() {
  local folder=$1
  printf '%s\n' "-DCAPSTAN_WERROR=${CAPSTAN_WERROR:-$(on_or_off on_debian 12)}"
  if [[ $folder == *-sanitize ]]; then
    printf '%s\n' -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1" -DCAPSTAN_SANITIZE=address,undefined \
      -DCAPSTAN_PCH=ON -DCAPSTAN_BENCHMARKS=OFF "-DCAPSTAN_OPENFOAM=$(on_or_off have_openfoam "$@")" \
      "-DCAPSTAN_PETSC_PEERS=$(on_or_off have_packages petsc)" "-DCAPSTAN_HYPRE=$(on_or_off have_packages hypre)"
  elif [[ $folder == *-threads ]]; then
    printf '%s\n' -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1" -DCAPSTAN_SANITIZE=thread -DCAPSTAN_PCH=ON \
      -DCAPSTAN_BENCHMARKS=OFF -DCAPSTAN_LIBRARY_ONLY=ON
  else
    printf '%s\n' -DCMAKE_BUILD_TYPE=Release -DCAPSTAN_PCH=ON \
      "-DCAPSTAN_OPENFOAM=$(on_or_off have_openfoam "$@")" \
      "-DCAPSTAN_PETSC_PEERS=$(on_or_off have_packages petsc)" "-DCAPSTAN_HYPRE=$(on_or_off have_packages hypre)"
  fi
}

# have_openfoam <folder> [options of the user...]: true where the distribution's OpenFOAM is installed and its headers can be had. Where the launcher sets
# everything up, a failure to fetch them ends CMake; elsewhere the build goes on without OpenFOAM, and ./capstan setup tries again.
have_openfoam() {
  local folder=$1 refused=$1/capstan-no-openfoam-headers reason
  have_packages openfoam || return 1
  ! installs_packages || return 0
  # The user names an OpenFOAM, or wants none.
  [[ " ${*:2}" != *" -DCAPSTAN_OPENFOAM"[:=]* ]] || return 0
  [[ ! -e $refused ]] || return 1
  mkdir -p -- "$folder/log"
  if "$root/adapters/openfoam/fetch_headers.sh" "$folder/openfoam" </dev/null >"$folder/log/openfoam-headers.log" 2>&1; then
    return 0
  fi
  reason=$(tail -n 1 -- "$folder/log/openfoam-headers.log")
  : >"$refused"
  say "OpenFOAM is installed, but not its headers, and they could not be fetched: ${reason#fetch_headers.sh: }"
  say "building without OpenFOAM (CAPSTAN_OPENFOAM=OFF); ./capstan setup tries again, -DCAPSTAN_OPENFOAM=<folder> names another one"
  return 1
}

# ensure_writable <folder>: ends with what hinders where a build folder cannot be made or written to.
ensure_writable() {
  local folder=$1 reason hint="Set CAPSTAN_BUILD_DIR to a folder that you may write to."
  reason=$(mkdir -p -- "$folder" 2>&1) ||
    fail 1 "the build folder $folder cannot be made: ${reason##*: }" "$hint"
  reason=$({ true >>"$folder/capstan-lock"; } 2>&1) ||
    fail 1 "the build folder $folder cannot be written to (by user $(id -un)): ${reason##*: }" "$hint"
}

# One command at a time configures or builds in a folder; others wait. The lock is the launcher's file descriptor 9.
lock() {
  ensure_writable "$1"
  exec 9>"$1/capstan-lock"
  flock -n 9 && return
  say "another ./capstan is at work in $1; waiting for it"
  flock 9
}

unlock() {
  exec 9>&-
}

# kept_options <folder> [-D options...]: the options that the user has given for this folder so far, one a line; of those
# with the same name the last one.
kept_options() {
  local folder=$1
  shift
  {
    [[ ! -f $folder/capstan-user-options ]] || cat -- "$folder/capstan-user-options"
    [[ $# -eq 0 ]] || printf '%s\n' "$@"
  } | awk '{ name = $0; sub(/[:=].*/, "", name); if (!(name in last)) order[++count] = name; last[name] = $0 }
    END { for (i = 1; i <= count; i++) print last[order[i]] }'
}

# given_options <folder>: the options that the user has given to CMake itself since ./capstan last configured the folder, one a
# line; see cmake/CapstanGivenOptions.cmake.
given_options() {
  local cache=$1/CMakeCache.txt name
  grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache" || return 0
  for name in $(sed -n 's/^CAPSTAN_GIVEN_OPTIONS:INTERNAL=//p' "$cache" | tr ';' ' '); do
    sed -nE "s/^($name):[A-Z]+=(.*)\$/-D\\1=\\2/p" "$cache"
  done
}

# adopt_options <folder>: keeps the options that the user has given to CMake itself, as if they had been given to ./capstan.
adopt_options() {
  local folder=$1 given kept
  mapfile -t given < <(given_options "$folder")
  [[ ${#given[@]} -gt 0 ]] || return 0
  mapfile -t kept < <(kept_options "$folder" "${given[@]}")
  printf '%s\n' "${kept[@]}" >"$folder/capstan-user-options"
  say "options of $folder that CMake itself was given ($(generator_of "$folder")) stay: ${given[*]}"
}

# generator_of <folder>: the one the folder was configured with, else Ninja.
generator_of() {
  local found=""
  [[ ! -f $1/CMakeCache.txt ]] || found=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$1/CMakeCache.txt")
  echo "${found:-Ninja}"
}

# configure <folder> [-D options...]: runs CMake where the options changed since the last time. The build itself notices
# changed CMake files. Options given, here or to CMake itself, are kept for later, and win over those that follow from what is
# installed.
configure() {
  local folder=$1 options kept stamp
  shift
  lock "$folder"
  adopt_options "$folder"
  [[ -e $folder/capstan-user-options ]] || : >"$folder/capstan-user-options"
  mapfile -t kept < <(kept_options "$folder" "$@")
  mapfile -t options < <(configure_options "$folder" "${kept[@]}")
  options+=("${kept[@]}")
  stamp=$(printf '%s\n' "$root" "${options[@]}")
  if [[ (-f $folder/build.ninja || -f $folder/Makefile) && -f $folder/capstan-options &&
    $(<"$folder/capstan-options") == "$stamp" ]]; then
    unlock
    return
  fi
  say "configuring $folder"
  # Whatever ends this, the next command begins here again: the stamp is written last.
  rm -f -- "$folder/capstan-options"
  # A build folder that was copied or moved with its sources still names the old place; CMake would refuse it.
  if [[ -f $folder/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    say "the build folder belongs to another source tree; starting it afresh"
    rm -rf -- "$folder/CMakeCache.txt" "$folder/CMakeFiles"
  fi
  run_logged "$folder/log/configure.log" "configuring" \
    cmake -G "$(generator_of "$folder")" -S "$root" -B "$folder" -DCAPSTAN_FROM_LAUNCHER=ON "${options[@]}" 9>&- ||
    fail 1 "CMake could not configure $folder"
  [[ ${#kept[@]} -eq 0 ]] || printf '%s\n' "${kept[@]}" >"$folder/capstan-user-options"
  printf '%s\n' "$stamp" >"$folder/capstan-options"
  unlock
}

# up_to_date <folder> <targets...>: true where Ninja has nothing to do. It looks for itself whether CMake must run again,
# which a dry run alone cannot tell: lists of files that CMake has globbed count as changed there. Under another name the
# same rules do not begin with that.
up_to_date() {
  local folder=$1
  shift
  run_quietly "$folder/log/check.log" ninja -C "$folder" build.ninja || fail 1 "CMake could not configure $folder"
  ln -sf build.ninja "$folder/capstan-dry-run.ninja"
  [[ $(ninja -C "$folder" -f capstan-dry-run.ninja -n "$@" 2>/dev/null | tail -n 1) == *"no work to do."* ]]
}

# build_targets <folder> <targets...>
build_targets() {
  local folder=$1 jobs
  shift
  jobs=$(parallel_jobs)
  lock "$folder"
  if [[ $(generator_of "$folder") != Ninja ]]; then
    # Only doing it tells whether there is work.
    run_logged "$folder/log/build.log" "building ($jobs jobs): $*" \
      cmake --build "$folder" --parallel "$jobs" --target "$@" 9>&- || fail 1 "the build failed"
  elif ! up_to_date "$folder" "$@" 9>&-; then
    say "building ($jobs jobs): $*"
    # Ninja draws its own progress on a terminal.
    run_logged "$folder/log/build.log" "building" ninja -C "$folder" -j "$jobs" "$@" 9>&- || fail 1 "the build failed"
  fi
  unlock
}

# ensure_built <targets...>: packages, configuration, build.
ensure_built() {
  ensure_packages build
  configure "$build_dir"
  build_targets "$build_dir" "$@"
}

# export_run_environment [options of run_environment.sh]: the environment of everything we start; see cmake/run-environment.txt. What the
# user has set wins.
export_run_environment() {
  local line
  while IFS= read -r line; do
    [[ -v ${line%%=*} ]] || export "${line?}"
  done < <("$root/cmake/run_environment.sh" "$@")
  export CAPSTAN_SOURCE_DIR=$root CAPSTAN_BUILD_DIR=$build_dir
  # A program under mpirun cannot tell by itself whether its progress reaches a terminal.
  if [[ ! -v CAPSTAN_PROGRESS ]]; then
    CAPSTAN_PROGRESS=$(if on_terminal; then echo 1; else echo 0; fi)
    export CAPSTAN_PROGRESS
  fi
  prefer_openblas
}
