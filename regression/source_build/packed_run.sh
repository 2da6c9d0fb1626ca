#!/usr/bin/env bash
# Runs the test programs of an archive that pack.sh made, on a machine with a device and nothing but its driver.
#
# usage: run [--seconds S] [--processes P] [--ranks 1,2] [--only PROGRAM] [--filter TESTS] [--benchmarks] [--out DIR]
#
# --seconds: when whatever still runs is ended (default: 240). --processes: how many ranks run at once (default: cores).
# --ranks: of solvers_test (default: 1,2); the other programs run on one rank. --only: that program alone. --filter: tests
# as GoogleTest selects them. --benchmarks: the benchmarks when the tests are done, alone on the device.
# --out (default: results in the working folder): results.jsonl has a line for each test with its program, ranks, outcome
# (passed, failed, skipped, cut: the time was up) and milliseconds, and first of all the device; a program that ends on its
# own before its tests have counts as failed. The programs' own output lies beside it. Where the driver has NVIDIA's multi-process service, the processes share the device through it: else
# they take turns, and are 20 times slower. It is ended with the run.
# Exit status: 0 all passed, 1 a test failed, 2 wrong use, 3 the time was up before all were done.
set -uo pipefail
unset CDPATH

here=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
seconds=240 processes=$(nproc) ranks=1,2 only="" filter="*" benchmarks=no out=$PWD/results

wrong_use() {
  printf 'run: %s\n' "$*" >&2
  exit 2
}

read_arguments() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      --seconds | --processes | --ranks | --only | --filter | --out) [[ -n ${2:-} ]] || wrong_use "$1: a value is missing" ;;&
      --seconds) seconds=$2 && shift ;;
      --processes) processes=$2 && shift ;;
      --ranks) ranks=$2 && shift ;;
      --only) only=$2 && shift ;;
      --filter) filter=$2 && shift ;;
      --out) out=$2 && shift ;;
      --benchmarks) benchmarks=yes ;;
      -h | --help)
        sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"
        exit 0
        ;;
      *) wrong_use "unknown argument '$1'; allowed: --seconds, --processes, --ranks, --only, --filter, --benchmarks, --out, --help" ;;
    esac
    shift
  done
  [[ $seconds =~ ^[1-9][0-9]*$ ]] || wrong_use "--seconds: found '$seconds'; allowed: a whole number from 1 on"
  [[ $processes =~ ^[1-9][0-9]*$ ]] || wrong_use "--processes: found '$processes'; allowed: a whole number from 1 on"
  [[ $ranks =~ ^[1-4](,[1-4])*$ ]] || wrong_use "--ranks: found '$ranks'; allowed: numbers from 1 to 4, with commas"
  [[ -z $only || -x $here/bin/$only ]] || wrong_use "--only: found '$only'; there are: $(cd "$here/bin" && echo *_test)"
}

# Open MPI and PMIx look for their parts where they were built, unless told otherwise.
set_environment() {
  export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export OPAL_PREFIX=$here OPAL_BINDIR=$here/bin OPAL_LIBDIR=$here/lib OPAL_PKGLIBDIR=$here/parts OPAL_PKGDATADIR=$here/share
  export OPAL_DATADIR=$here/share OPAL_SYSCONFDIR=$here/share OMPI_MCA_mca_base_component_path=$here/parts
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1
  export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_rmaps_base_oversubscribe=1
  export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMP_NUM_THREADS=1
  export CUDA_MANAGED_FORCE_DEVICE_ALLOC=1
}

start_sharing() {
  control=$(command -v nvidia-cuda-mps-control || ls /usr/local/nvidia/bin/nvidia-cuda-mps-control 2>/dev/null || true)
  [[ -n $control ]] || return 0
  CUDA_MPS_PIPE_DIRECTORY=$(mktemp -d) CUDA_MPS_LOG_DIRECTORY=$(mktemp -d)
  export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
  "$control" -d || control=""
}
end_sharing() {
  [[ -z ${control:-} ]] || echo quit | "$control" >/dev/null 2>&1
}

device() {
  local names
  names=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | paste -sd ';') || true
  printf '%s' "${names:-none}"
}

left() { echo $((seconds - SECONDS)); }

# job NAME RANKS COMMAND...: its output to NAME.log, its exit status to NAME.status; ended when the time is up.
job() {
  local name=$1 n=$2
  shift 2
  [[ $(left) -gt 3 ]] || return 0
  timeout -k 3 "$(left)" "$here/bin/mpirun" -np "$n" "$@" </dev/null >"$out/$name.log" 2>&1
  echo $? >"$out/$name.status"
}

# start RANKS NAME COMMAND...: in the background, when so many ranks fit beside those that run.
declare -A width=()
used=0
start() {
  local n=$1 name=$2 ended
  shift 2
  while [[ $((used + n)) -gt $processes && $used -gt 0 ]]; do
    wait -n -p ended || true
    [[ -n ${ended:-} ]] || break
    used=$((used - width[$ended]))
  done
  job "$name" "$n" "$@" &
  width[$!]=$n
  used=$((used + n))
}

# Shards of a few dozen tests: what the time has not sufficed for is little.
start_solvers() {
  local n=$1 shards=24 shard
  for ((shard = 0; shard < shards; ++shard)); do
    start "$n" "solvers_test.np$n.$shard" env GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$shard \
      "$here/bin/solvers_test" --gtest_filter="$filter"
  done
}

run_tests() {
  local program name n
  for program in "$here"/bin/*_test; do
    name=${program##*/}
    [[ -z $only || $only == "$name" ]] || continue
    [[ $name == solvers_test ]] || start 1 "$name.np1.0" "$program" --gtest_filter="$filter"
  done
  if [[ -x $here/bin/solvers_test && (-z $only || $only == solvers_test) ]]; then
    for n in ${ranks//,/ }; do start_solvers "$n"; done
  fi
  wait
}

# Once the tests are done, so that nothing disturbs them.
run_benchmarks() {
  [[ $benchmarks == yes ]] || return 0
  job kernels_benchmark 1 "$here/bin/kernels_benchmark" --benchmark_out="$out/kernels_benchmark.json" --benchmark_out_format=json
  job device_bench 1 "$here/bin/device_bench" --cells 96 --tolerance 1e-6 --repeat 3 --output "$out/device_bench.json"
}

# results: a line of JSON for each test. One that began and has no end was cut, or its program has crashed; one that no test
# accounts for has failed before or after them.
results() {
  printf '{"device": "%s", "processes": %s, "shared": %s, "date": "%s"}\n' "$(device)" "$processes" \
    "$([[ -n ${control:-} ]] && echo true || echo false)" "$(date -u +%FT%TZ)"
  local log name n
  for log in "$out"/*_test.np*.log; do
    [[ -e $log ]] || continue
    name=${log##*/}
    n=${name#*.np}
    sed 's/\x1b\[[0-9;]*m//g' "$log" | awk -v program="${name%%.*}" -v ranks="${n%%.*}" \
      -v status="$(cat "${log%.log}.status")" '
      function line(test, outcome, ms) {
        printf "{\"program\": \"%s\", \"ranks\": %s, \"test\": \"%s\", \"outcome\": \"%s\", \"ms\": %s}\n", program, ranks, test, outcome, ms
      }
      match($0, /\[ RUN      \] [^ ,]+/) { running = substr($0, RSTART + 13, RLENGTH - 13) }
      /\[       OK \] .* ms\)|\[  FAILED  \] .* ms\)|\[  SKIPPED \] .* ms\)/ && running != "" {
        ms = $0; sub(/ ms\).*/, "", ms); sub(/.*\(/, "", ms)
        line(running, /OK/ ? "passed" : /SKIPPED/ ? "skipped" : "failed", ms)
        failed = failed || /FAILED/
        running = ""
      }
      END {
        cut = status == 124 || status == 137
        if (running != "") line(running, cut ? "cut" : "failed", "null")
        else if (status != 0 && !failed) line("the program", cut ? "cut" : "failed", "null")
      }'
  done
}

summary() {
  local outcome
  device
  printf '\n'
  for outcome in passed skipped failed cut; do
    printf '%s %s\n' "$outcome" "$(grep -c "\"outcome\": \"$outcome\"" "$out/results.jsonl")"
  done
  grep -E '"outcome": "(failed|cut)"' "$out/results.jsonl"
  return 0
}

read_arguments "$@"
mkdir -p "$out" || wrong_use "--out: '$out' cannot be made"
rm -f "$out"/*.log "$out"/*.status "$out"/*.json "$out/results.jsonl"
set_environment
start_sharing
trap end_sharing EXIT
run_tests
run_benchmarks
results >"$out/results.jsonl"
summary
if grep -q '"outcome": "failed"' "$out/results.jsonl"; then exit 1; fi
if [[ $(left) -le 3 ]] || grep -q '"outcome": "cut"' "$out/results.jsonl"; then exit 3; fi
grep -q '"outcome": "passed"' "$out/results.jsonl"
