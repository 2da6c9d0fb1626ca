#!/usr/bin/env bash
# test_mpich.sh <MPI C++ compiler> <launcher> <folder>: builds the layer and its tests for another MPI and runs them on 2 ranks.
set -euo pipefail
unset CDPATH
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)
"$here/../build_for" "$1" "$3" --test

run() {  # run <filter> <settings...>
  env "${@:2}" CAPSTAN_LATENCY_WAIT=yield "$launcher" -n 2 "$program" --gtest_filter="$1"
}
launcher=$2
program=$3/latency_test
run 'Unset.*'
run 'Collectives.*:Completion.*' CAPSTAN_LATENCY_US=20000
python3 "$here/test_preload.py" --launcher "$launcher" --library "$3/libcapstan_latency.so" --probe "$3/latency_probe"
