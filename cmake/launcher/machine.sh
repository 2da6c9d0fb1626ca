# What this machine gives us: cores and memory, and so compiler jobs. Sourced by the launcher.
# shellcheck shell=bash

jobs_wanted=${CAPSTAN_JOBS:-}
[[ -z $jobs_wanted || $jobs_wanted =~ ^[1-9][0-9]*$ ]] ||
  fail_usage "CAPSTAN_JOBS is '$jobs_wanted'; it must be a whole number from 1 on"

proc_root=/proc cgroup_root=/sys/fs/cgroup

# Our control groups that may limit memory, a line each: the files of the limit and of what is used, and their folder. Of
# versions 2 and 1 of control groups; up to the root, since a limit of a group holds for those below.
memory_groups() {
  local path version
  while read -r version path; do
    while true; do
      if [[ $version == 2 ]]; then
        echo "memory.max memory.current $cgroup_root$path"
      else
        echo "memory.limit_in_bytes memory.usage_in_bytes $cgroup_root/memory$path"
      fi
      [[ -n $path ]] || break
      path=${path%/*}
    done
  done < <(awk -F: '{ path = $3 == "/" ? "" : $3 } $1 == 0 && $2 == "" { print 2, path }
    $2 ~ /(^|,)memory(,|$)/ { print 1, path }' "$proc_root/self/cgroup" 2>/dev/null)
}

# Megabytes free for us: the machine's, or those of our control groups where that is less. Files that were read long ago count
# as used there, but give way to whoever needs memory.
available_megabytes() {
  local free folder most used limit taken cached left
  free=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' "$proc_root/meminfo")
  while read -r most used folder; do
    limit=$(cat "$folder/$most" 2>/dev/null) && [[ $limit != max ]] || continue
    taken=$(cat "$folder/$used" 2>/dev/null || echo 0)
    # Version 1 has sums over the groups below, too.
    cached=$(awk '{ value[$1] = $2 } END { name = ("total_inactive_file" in value ? "total_" : "") "inactive_file"
      print name in value ? value[name] : "0" }' "$folder/memory.stat" 2>/dev/null) || cached=0
    left=$(((limit - taken + cached) / 1048576))
    ((left >= 0)) || left=0
    ((left >= free)) || free=$left
  done < <(memory_groups)
  echo "$free"
}

# The machine's cores. nproc alone takes OMP_NUM_THREADS, which is about threads in a program, for their number.
core_count() {
  env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc
}

# One compiler job a core, as long as each has the memory the heaviest sources take.
parallel_jobs() {
  local cores memory_jobs
  if [[ -n $jobs_wanted ]]; then
    echo "$jobs_wanted"
    return
  fi
  cores=$(core_count)
  memory_jobs=$(($(available_megabytes) / 2500))
  ((memory_jobs >= 1)) || memory_jobs=1
  echo $((cores < memory_jobs ? cores : memory_jobs))
}
