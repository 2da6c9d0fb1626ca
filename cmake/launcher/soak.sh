# `./capstan test --soak`: random problems under the sanitizers. Sourced by the launcher.
# shellcheck shell=bash

# soak_run <ranks> <arguments of the soak>: runs it in the environment of the tests, see cmake/CapstanTesting.cmake.
soak_run() {
  local ranks=$1 mpi=(mpirun)
  shift
  # Quiet: the soak has said what failed.
  if mpirun --version 2>/dev/null | grep -q "Open MPI"; then mpi+=(--quiet); fi
  # Ranks outnumber cores on a small machine; the second name of it is that of Open MPI 5.
  OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe OMPI_MCA_mpi_yield_when_idle=1 \
    ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1} \
    CAPSTAN_SOAK_COMMAND="./capstan test --soak 1" \
    "${mpi[@]}" -n "$ranks" "$build_dir/test/soak" "$@"
}

# minutes_share <minutes> <runs>: the minutes of one of the runs; nothing where the first is no number above 0.
minutes_share() {
  [[ $1 =~ ^[0-9]*\.?[0-9]+$ ]] || return 0
  LC_ALL=C awk -v minutes="$1" -v runs="$2" 'BEGIN { if (minutes > 0) printf "%g", minutes / runs }'
}

# soak <MINUTES> [--ranks N] [arguments of the soak]
soak() {
  local minutes=${1:-} arguments=() ranks=(1 3) limit=() share number status=0
  [[ $# -eq 0 ]] || shift
  while [[ $# -gt 0 ]]; do
    case $1 in
      --ranks)
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail_usage "--ranks wants a whole number from 1 on, got '${2:-}'"
        ranks=("$2")
        shift
        ;;
      *) arguments+=("$1") ;;
    esac
    shift
  done
  share=$(minutes_share "$minutes" "${#ranks[@]}")
  [[ -n $share ]] || fail_usage "--soak wants a number of minutes above 0, got '$minutes'" "See: ./capstan test --help"
  limit=(--minutes "$share")
  # One problem, or a number of them, takes the time it takes.
  if contains --seed "${arguments[@]}" || contains --problems "${arguments[@]}"; then limit=(); fi
  build_dir=$build_dir-sanitize
  ensure_packages build
  configure "$build_dir"
  build_targets "$build_dir" soak
  export_run_environment
  for number in "${ranks[@]}"; do
    say "soak: $number rank(s)${limit[1]:+, ${limit[1]} minute(s)}"
    soak_run "$number" "${limit[@]}" "${arguments[@]}" || status=$?
  done
  return "$status"
}
