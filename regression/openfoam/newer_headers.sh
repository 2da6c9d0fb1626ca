#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# newer_headers.sh [--labels 32|64] [--syntax] <folder>
#
# Compiles the OpenFOAM side of libcapstanFoam.so against the headers of any OpenFOAM of ESI-OpenCFD from v1912 on, with labels
# of 32 and of 64 bits, all warnings being errors, and checks that what is not supported is refused: single and mixed
# precision, older releases and those of the OpenFOAM Foundation. Nothing is linked or run; Trilinos is not needed.
#
#   <folder>      a source tree (META-INFO/api-info, src/OpenFOAM, ...), built or not; or the headers that
#                 adapters/openfoam/fetch_headers.sh has fetched (build/openfoam)
#   --labels N    labels of N bits only
#   --syntax      compile without generating code: quicker, and blind for warnings that come with it
#
# CXX names the compiler (default: mpicxx). Exit status: 0 all is well, 1 something does not compile, 2 wrong use.
set -eu
unset CDPATH

fail() {
  echo "newer_headers.sh: $*" >&2
  exit 2
}

labels="32 64"
mode="-O1 -c -o /dev/null"
folder=
while [ $# -gt 0 ]; do
  case $1 in
    --labels)
      labels=${2:-}
      case $labels in 32 | 64) ;; *) fail "--labels takes 32 or 64, found '$labels'" ;; esac
      shift
      ;;
    --syntax) mode=-fsyntax-only ;;
    -*) fail "unknown option '$1'; allowed: --labels 32|64, --syntax" ;;
    *)
      [ -z "$folder" ] || fail "one folder, found '$folder' and '$1'"
      folder=$1
      ;;
  esac
  shift
done
[ -n "$folder" ] || fail "usage: newer_headers.sh [--labels 32|64] [--syntax] <folder of an OpenFOAM source tree>"
[ -d "$folder" ] || fail "'$folder' is not a folder"
compiler=${CXX:-mpicxx}
command -v "${compiler%% *}" >/dev/null || fail "the compiler '$compiler' is missing; set CXX, or install Open MPI's: apt-get install libopenmpi-dev"

root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

if [ -f "$folder/META-INFO/api-info" ]; then
  release=$(sed -n 's/^api=\([0-9][0-9]*\).*/\1/p' "$folder/META-INFO/api-info")
  include=$work/include
  "$root/adapters/openfoam/flat_headers.sh" "$folder" "$include" || exit 2
elif [ -f "$folder/version" ] && [ -d "$folder/include/OpenFOAM" ]; then
  release=$(sed -n '1s/^\([0-9][0-9]*\).*/\1/p' "$folder/version")
  include=$folder/include
else
  fail "'$folder' is no source tree of an ESI OpenFOAM (it holds no META-INFO/api-info), and holds no fetched headers (version, include/OpenFOAM)"
fi
[ -n "$release" ] || fail "'$folder' does not tell its release"

# compile <file> <macros>...: what the compiler says is in $work/log.
compile() {
  file=$1
  shift
  # shellcheck disable=SC2086 # several words
  $compiler -std=c++17 $mode -fPIC -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror \
    -DNoRepository -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX "$@" "-I$root" -isystem "$include/OpenFOAM" \
    -isystem "$include/OSspecific/POSIX" -isystem "$include/Pstream/mpi" "$root/adapters/openfoam/$file" >"$work/log" 2>&1
}

status=0
for bits in $labels; do
  for path in "$root"/adapters/openfoam/*.C; do
    file=${path##*/}
    if compile "$file" "-DOPENFOAM=$release" -DWM_DP "-DWM_LABEL_SIZE=$bits"; then
      echo "v$release, labels of $bits bits: $file compiles"
    else
      status=1
      echo "v$release, labels of $bits bits: $file does not compile:"
      cat "$work/log"
    fi
  done
done

# refused <what> <message> <macros>...
refused() {
  what=$1
  message=$2
  shift 2
  if ! compile capstan_solver.C "$@" && grep -q "$message" "$work/log"; then
    echo "v$release, $what: refused"
  else
    status=1
    echo "v$release, $what: not refused with '$message':"
    cat "$work/log"
  fi
}
refused "single precision" "Capstan solves in double precision" "-DOPENFOAM=$release" -DWM_SP -DWM_LABEL_SIZE=32
refused "mixed precision" "Capstan solves in double precision" "-DOPENFOAM=$release" -DWM_SPDP -DWM_LABEL_SIZE=32
refused "as v1906" "Capstan needs OpenFOAM v1912 or newer" -DOPENFOAM=1906 -DWM_DP -DWM_LABEL_SIZE=32
refused "as the Foundation's" "Capstan needs OpenFOAM of ESI-OpenCFD" -DWM_DP -DWM_LABEL_SIZE=32
exit "$status"
