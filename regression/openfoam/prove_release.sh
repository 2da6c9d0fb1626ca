#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# prove_release.sh [--build FOLDER] [--ranks N] [--log FILE] <FOLDER of build_release.sh>
#
# Capstan in a release of OpenFOAM that build_release.sh has built: wmake makes libcapstanFoam.so for it, the tutorials of
# release.yaml run with the release's own solvers and with `solver capstan;`, and their fields must agree (survey.py); then GAMG
# runs with Capstan's solvers on its coarsest level, with all-reduces as they are and with 200 us (release_coarse.yaml), which must
# take no more cycles than with PCG there.
#
#   --build   a build folder of Capstan (default: build/); its libcapstanFoamTrilinos.so serves every OpenFOAM
#   --ranks   MPI ranks (default 2)
#   --log     what was done and found goes there, too
#
# It works in FOLDER/capstan, and wmake for a while in adapters/openfoam. Exit status: 0 all holds, 1 something does not, 2 wrong
# use, 3 something must be built first.
set -euo pipefail
unset CDPATH

fail() {
  echo "prove_release.sh: $*" >&2
  exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build
ranks=2
log=/dev/null
folder=
while [[ $# -gt 0 ]]; do
  case $1 in
    --build)
      build=${2:-}
      [[ -n $build ]] || fail "--build takes a folder"
      shift
      ;;
    --ranks)
      ranks=${2:-}
      [[ $ranks =~ ^[1-9][0-9]*$ ]] || fail "--ranks takes a whole number from 1 on, found '$ranks'"
      shift
      ;;
    --log)
      log=${2:-}
      [[ -n $log ]] || fail "--log takes a file"
      shift
      ;;
    -h | --help)
      sed -n '4,17s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    -*) fail "unknown option '$1'; allowed: --build FOLDER, --ranks N, --log FILE" ;;
    *)
      [[ -z $folder ]] || fail "one folder, found '$folder' and '$1'"
      folder=$1
      ;;
  esac
  shift
done
[[ -n $folder ]] || fail "usage: prove_release.sh [--build FOLDER] [--ranks N] [--log FILE] <FOLDER of build_release.sh>"
[[ -f $folder/etc/bashrc ]] || fail "'$folder' is no OpenFOAM: it holds no etc/bashrc"
folder=$(cd "$folder" && pwd)
for library in libcapstanFoamTrilinos.so libcapstan_latency.so; do
  if [[ ! -f $build/lib/$library ]]; then
    echo "prove_release.sh: '$build/lib/$library' is missing: cmake --build $build --target capstanFoamTrilinos capstan_latency" >&2
    exit 3
  fi
done
build=$(cd "$build" && pwd)

set +eu
# shellcheck disable=SC1091
. "$folder/etc/bashrc" WM_MPLIB=SYSTEMOPENMPI WM_LABEL_SIZE=32 WM_PRECISION_OPTION=DP WM_COMPILE_OPTION=Opt
set -eu
for program in icoFoam pimpleFoam interFoam foamDictionary; do
  if ! command -v "$program" | grep -q "^$folder/"; then
    echo "prove_release.sh: $program of $folder is missing: build_release.sh" >&2
    exit 3
  fi
done

# As a build folder to the tools: the library of this release, and the rest of the other build folder's.
work=$folder/capstan
mkdir -p "$work/lib"
ln -sf "$build"/lib/*.so* "$work/lib/"
ln -sf "$build/CMakeCache.txt" "$work/"
rm -f "$work/lib/libcapstanFoam.so"
export FOAM_USER_LIBBIN=$work/lib CAPSTAN_DIR=$build CAPSTAN_BUILD_DIR=$work CAPSTAN_TUTORIALS=$folder/tutorials

run() { # run <title> <command...>
  echo "== $1"
  shift
  "$@" || {
    local status=$?
    failed=1
    echo "failed with status $status"
  }
}

# Solvers of CG's kind end where PCG does; GMRES leaves less than relTol asks for, and may save a cycle. None may take more.
same_cycles() {
  python3 - "$1" <<'CODE'
import json, sys
found = {(one["emulated_latency_us"], label): {sample["iterations"] for sample in samples}
         for one in json.load(open(sys.argv[1], encoding="utf-8"))["settings"] for label, samples in one["samples"].items()}
wrong = not found
for (latency, label), cycles in found.items():
    expected, = found[latency, "GAMG/PCG"]
    fits = cycles == {expected} or ("gmres" in label and len(cycles) == 1 and 0.97 * expected <= min(cycles) < expected)
    wrong |= not fits
    print(f"{latency:g} us, {label}: {sorted(cycles)} cycles{'' if fits else ', with PCG ' + str(expected)}")
sys.exit(wrong)
CODE
}

# What wmake leaves in the sources.
clean() { rm -rf "$root/adapters/openfoam/Make/$WM_OPTIONS" "$root/adapters/openfoam/lnInclude"; }

prove() {
  failed=0
  echo "OpenFOAM $(sed -n 's/^api=//p' "$folder/META-INFO/api-info") in $folder; Capstan $(git -C "$root" describe --always --dirty); $(date -u +%Y-%m-%d)"
  clean # of another release, perhaps
  run "wmake libso adapters/openfoam" wmake -s libso "$root/adapters/openfoam" >"$work/log.wmake" 2>&1
  [[ $failed -eq 0 && -f $work/lib/libcapstanFoam.so ]] || {
    tail -n 20 "$work/log.wmake"
    return 1
  }
  clean
  run "tutorials, $ranks rank(s)" python3 "$root/regression/openfoam/survey.py" "$root/regression/openfoam/release.yaml" --ranks "$ranks" \
    --seconds 600
  run "the coarsest level of GAMG" python3 "$root/perf/openfoam/run" "$root/regression/openfoam/release_coarse.yaml" --ranks "$ranks" \
    --latency 0,200 --repeat 3 --out "$work/coarse"
  run "cycles with each solver there" same_cycles "$work/coarse/openfoam.json"
  return "$failed"
}

# Folders of this machine are nobody else's business.
if prove > >(sed -u "s#$root/##g; s#$folder#$(basename "$folder")#g" | tee "$log") 2>&1; then verdict=PASSED; else verdict=FAILED; fi
wait
echo "$verdict" | tee -a "$log"
[[ $verdict == PASSED ]]
