#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# build_release.sh [--jobs N] [--git URL|FOLDER] <version> [FOLDER]
#
# Builds what the adapter and its test cases need of a release of OpenFOAM by ESI-OpenCFD, v2306 to v2506: the libraries, and
# icoFoam, pisoFoam, pimpleFoam, interFoam, blockMesh, decomposePar, reconstructPar, setFields, mirrorMesh and foamDictionary; in
# double precision, labels of 32 bits, OpenFOAM's own options. About 2100 sources: 3 to 4 hours on two cores. A build that was
# interrupted goes on where it was.
#
#   <version>    v2506, ...
#   FOLDER       where sources and build go (default: openfoam-<version> beside the repository), outside the repository
#   --git        a repository of OpenFOAM with the tags OpenFOAM-vNNNN (default: that of OpenCFD), a folder or a URL
#   --jobs       compilers at a time (default: the cores)
#
# Use it afterwards: . FOLDER/etc/bashrc, or prove_release.sh FOLDER. Exit status: 0 all is built, 1 something failed, 2 wrong use.
set -euo pipefail
unset CDPATH

fail() {
  echo "build_release.sh: $*" >&2
  exit 2
}

jobs=$(nproc)
git=https://gitlab.com/openfoam/core/openfoam.git
arguments=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --jobs)
      jobs=${2:-}
      [[ $jobs =~ ^[1-9][0-9]*$ ]] || fail "--jobs takes a whole number from 1 on, found '$jobs'"
      shift
      ;;
    --git)
      git=${2:-}
      [[ -n $git ]] || fail "--git takes a URL or a folder"
      shift
      ;;
    -h | --help)
      sed -n '4,19s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    -*) fail "unknown option '$1'; allowed: --jobs N, --git URL|FOLDER" ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
[[ ${#arguments[@]} -ge 1 && ${#arguments[@]} -le 2 ]] || fail "usage: build_release.sh [--jobs N] [--git URL|FOLDER] <version> [FOLDER]"
version=${arguments[0]}
[[ $version =~ ^v2[3-9](06|12)$ ]] || fail "version '$version'; allowed: v2306, v2312, v2406, v2412, v2506, ..."
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
folder=$(realpath -m "${arguments[1]:-$root/../openfoam-$version}")
[[ $folder/ != "$root"/* ]] || fail "'$folder' is inside the repository"
for program in git g++ make flex mpicxx; do
  command -v "$program" >/dev/null || fail "'$program' is missing: apt-get install git g++ make flex libopenmpi-dev zlib1g-dev"
done
mkdir -p "$folder"

# Sources: only the folders that are needed.
if [[ ! -f $folder/.capstan-sources ]]; then
  if [[ ! -d $folder/.git ]]; then
    share=--filter=blob:none
    [[ -d $git ]] && share=--shared
    git clone --quiet --no-checkout "$share" "$git" "$folder"
  fi
  tutorials=(incompressible/icoFoam incompressible/pimpleFoam multiphase/interFoam)
  git -C "$folder" checkout --quiet "OpenFOAM-$version" -- META-INFO applications bin etc src wmake "${tutorials[@]/#/tutorials/}"
  # A library that a program links for what its user may name in a case is not needed by these cases.
  for program in solvers/incompressible/pisoFoam solvers/incompressible/pimpleFoam solvers/multiphase/interFoam \
    utilities/parallelProcessing/decomposePar; do
    sed -i -E 's/-l(fvOptions|atmosphericModels|regionFaModels|waveModels)\b//' "$folder/applications/$program/Make/options"
  done
  touch "$folder/.capstan-sources"
fi

# Those of dummyThirdParty stand for Scotch, METIS and KaHIP, which decomposePar is linked with.
libraries="
OpenFOAM fileFormats surfMesh meshTools finiteArea finiteVolume mesh/blockMesh mesh/extrudeModel dynamicMesh
genericPatchFields parallel/decompose/decompositionMethods dummyThirdParty/scotchDecomp dummyThirdParty/metisDecomp
dummyThirdParty/kahipDecomp lagrangian/basic dynamicFvMesh topoChangerFvMesh sampling
transportModels/compressible transportModels/twoPhaseMixture transportModels/incompressible
transportModels/interfaceProperties transportModels/twoPhaseProperties
thermophysicalModels/specie thermophysicalModels/thermophysicalProperties thermophysicalModels/basic
transportModels/immiscibleIncompressibleTwoPhaseMixture
TurbulenceModels/turbulenceModels TurbulenceModels/incompressible
phaseSystemModels/twoPhaseInter/VoFphaseIncompressibleTurbulenceModels
phaseSystemModels/twoPhaseInter/incompressibleInterPhaseTransportModel
parallel/decompose/decompose parallel/decompose/faDecompose parallel/reconstruct/reconstruct parallel/reconstruct/faReconstruct"
programs="
solvers/incompressible/icoFoam solvers/incompressible/pisoFoam solvers/incompressible/pimpleFoam solvers/multiphase/interFoam
utilities/mesh/generation/blockMesh utilities/parallelProcessing/decomposePar utilities/parallelProcessing/reconstructPar
utilities/preProcessing/setFields utilities/mesh/manipulation/mirrorMesh utilities/miscellaneous/foamDictionary"

set +eu
export WM_NCOMPPROCS=$jobs
# shellcheck disable=SC1091
. "$folder/etc/bashrc" WM_MPLIB=SYSTEMOPENMPI WM_LABEL_SIZE=32 WM_PRECISION_OPTION=DP WM_COMPILE_OPTION=Opt
set -eu

steps=$(echo "$libraries" "$programs" | wc -w)
step=0
# part <title> <command...>: one part of the build, its output in a file that is shown where it fails.
part() {
  local title=$1 log
  shift
  step=$((step + 1))
  log=$folder/log/${title//\//.}
  echo "[$step/$((steps + 2))] $title"
  if ! "$@" >"$log" 2>&1; then
    grep -n -m 5 -A 5 -E 'error|Error' "$log" >&2 || tail -n 20 "$log" >&2
    echo "build_release.sh: $title failed; all of its output: $log" >&2
    exit 1
  fi
}

mkdir -p "$folder/log"
cd "$WM_PROJECT_DIR"
(cd wmake/src && make >"$folder/log/wmake" 2>&1) || fail "wmake's own tools failed; see $folder/log/wmake"
for library in $libraries fvOptions atmosphericModels regionFaModels TurbulenceModels/phaseIncompressible parallel/decompose/scotchDecomp \
  parallel/decompose/metisDecomp parallel/decompose/kahipDecomp OSspecific/POSIX Pstream/mpi; do
  wmakeLnInclude -u "src/$library" >/dev/null 2>&1
done
part OSspecific src/OSspecific/POSIX/Allwmake
part Pstream src/Pstream/Allwmake
for library in $libraries; do part "$library" wmake -s -j "$jobs" libso "src/$library"; done
for program in $programs; do part "$program" wmake -s -j "$jobs" "applications/$program"; done
echo "built in $folder; use it with: . $folder/etc/bashrc"
