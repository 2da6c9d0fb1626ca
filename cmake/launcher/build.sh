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
    printf '%s\n' -DCMAKE_BUILD_TYPE=Release -DCAPSTAN_NATIVE=ON -DCAPSTAN_PCH=ON \
      "-DCAPSTAN_OPENFOAM=$(on_or_off have_packages openfoam)" \
      "-DCAPSTAN_PETSC_PEERS=$(on_or_off have_packages petsc)"
  fi
}

# configure <folder> [-D options...]: runs CMake where the options changed since the last time. Ninja itself notices
# changed CMake files.
configure() {
  local folder=$1 options stamp
  shift
  mapfile -t options < <(configure_options "$folder")
  options+=("$@")
  stamp=$(printf '%s\n' "$root" "${options[@]}")
  if [[ -f $folder/build.ninja && -f $folder/capstan-options && $(<"$folder/capstan-options") == "$stamp" ]]; then
    return
  fi
  say "configuring $folder"
  mkdir -p "$folder"
  # A build folder that was copied or moved with its sources still names the old place; CMake would refuse it.
  if [[ -f $folder/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    say "the build folder belongs to another source tree; starting it afresh"
    rm -rf -- "$folder/CMakeCache.txt" "$folder/CMakeFiles"
  fi
  run_logged "$folder/log/configure.log" cmake -G Ninja -S "$root" -B "$folder" "${options[@]}" ||
    fail 1 "CMake could not configure $folder"
  printf '%s\n' "$stamp" >"$folder/capstan-options"
}

# build_targets <folder> <targets...>: one build at a time in a folder, others wait.
build_targets() {
  local folder=$1 jobs
  shift
  jobs=$(parallel_jobs)
  exec 9>"$folder/capstan-lock"
  flock 9
  if [[ $(ninja -C "$folder" -n "$@" 2>/dev/null | tail -n 1) != *"no work to do."* ]]; then
    say "building ($jobs jobs): $*"
    # Ninja draws its own progress on a terminal.
    run_logged "$folder/log/build.log" ninja -C "$folder" -j "$jobs" "$@" 9>&- || fail 1 "the build failed"
  fi
  exec 9>&-
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
