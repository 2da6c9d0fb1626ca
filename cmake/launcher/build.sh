# Configuring and building, both quick when nothing is to do. Sourced by the launcher.
# shellcheck shell=bash

jobs_wanted=${CAPSTAN_JOBS:-}
[[ -z $jobs_wanted || $jobs_wanted =~ ^[1-9][0-9]*$ ]] ||
  fail_usage "CAPSTAN_JOBS is '$jobs_wanted'; it must be a whole number from 1 on"

# Megabytes free for us: the machine's, or the container's where that is less.
available_megabytes() {
  local free limit used
  free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
  used=$(cat /sys/fs/cgroup/memory.current 2>/dev/null || echo 0)
  if [[ $limit != max && $(((limit - used) / 1048576)) -lt $free ]]; then
    free=$(((limit - used) / 1048576))
  fi
  echo "$free"
}

# One compiler job a core, as long as each has the memory the heaviest sources take.
parallel_jobs() {
  local cores memory_jobs
  if [[ -n $jobs_wanted ]]; then
    echo "$jobs_wanted"
    return
  fi
  cores=$(nproc)
  memory_jobs=$(($(available_megabytes) / 2500))
  ((memory_jobs >= 1)) || memory_jobs=1
  echo $((cores < memory_jobs ? cores : memory_jobs))
}

on_or_off() {
  if "$@"; then echo ON; else echo OFF; fi
}

# The options of ./capstan's own builds follow from what is installed, so that no two commands undo each other's.
configure_options() {
  local folder=$1
  if [[ $folder == *-sanitize ]]; then
    printf '%s\n' -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1" -DCAPSTAN_SANITIZE=address,undefined \
      -DCAPSTAN_PCH=ON -DCAPSTAN_BENCHMARKS=OFF "-DCAPSTAN_OPENFOAM=$(on_or_off have_packages openfoam)"
  else
    printf '%s\n' -DCMAKE_BUILD_TYPE=Release -DCAPSTAN_PCH=ON \
      "-DCAPSTAN_OPENFOAM=$(on_or_off have_packages openfoam)" \
      "-DCAPSTAN_PETSC_PEERS=$(on_or_off have_packages petsc)"
  fi
}

# One command at a time configures or builds in a folder; others wait. The lock is the launcher's file descriptor 9.
lock() {
  mkdir -p "$1"
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

# configure <folder> [-D options...]: runs CMake where the options changed since the last time. Ninja itself notices
# changed CMake files. Options given are kept for later, and win over those that follow from what is installed.
configure() {
  local folder=$1 options kept stamp
  shift
  lock "$folder"
  mapfile -t kept < <(kept_options "$folder" "$@")
  mapfile -t options < <(configure_options "$folder")
  options+=("${kept[@]}")
  stamp=$(printf '%s\n' "$root" "${options[@]}")
  if [[ -f $folder/build.ninja && -f $folder/capstan-options && $(<"$folder/capstan-options") == "$stamp" ]]; then
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
  run_logged "$folder/log/configure.log" cmake -G Ninja -S "$root" -B "$folder" "${options[@]}" 9>&- ||
    fail 1 "CMake could not configure $folder"
  [[ ${#kept[@]} -eq 0 ]] || printf '%s\n' "${kept[@]}" >"$folder/capstan-user-options"
  printf '%s\n' "$stamp" >"$folder/capstan-options"
  unlock
}

# build_targets <folder> <targets...>
build_targets() {
  local folder=$1 jobs
  shift
  jobs=$(parallel_jobs)
  lock "$folder"
  if [[ $(ninja -C "$folder" -n "$@" 2>/dev/null 9>&- | tail -n 1) != *"no work to do."* ]]; then
    say "building ($jobs jobs): $*"
    # Ninja draws its own progress on a terminal.
    run_logged "$folder/log/build.log" ninja -C "$folder" -j "$jobs" "$@" 9>&- || fail 1 "the build failed"
  fi
  unlock
}

# ensure_built <targets...>: packages, configuration, build.
ensure_built() {
  ensure_packages build
  configure "$build_dir"
  build_targets "$build_dir" "$@"
}

# The environment of everything we start: see cmake/run-environment.txt. What the user has set wins.
export_run_environment() {
  local line
  while IFS= read -r line; do
    [[ $line == [A-Z]*=* && ! -v ${line%%=*} ]] || continue
    export "${line?}"
  done <"$root/cmake/run-environment.txt"
  export CAPSTAN_SOURCE_DIR=$root CAPSTAN_BUILD_DIR=$build_dir
  # A program under mpirun cannot tell by itself whether its progress reaches a terminal.
  if [[ ! -v CAPSTAN_PROGRESS ]]; then
    CAPSTAN_PROGRESS=$(if on_terminal; then echo 1; else echo 0; fi)
    export CAPSTAN_PROGRESS
  fi
  prefer_openblas
}
