#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# newer_headers.sh [--labels 32|64] [--syntax] <folder>
#
# Compiles the OpenFOAM side of libcapstanFoam.so against the headers of any OpenFOAM of ESI-OpenCFD from v1912 on, or of the
# OpenFOAM Foundation from 11 on, with labels of 32 and of 64 bits, all warnings being errors, and checks that what is not
# supported is refused: other precisions than double, and older releases. Nothing is linked or run; Trilinos is not needed.
#
#   <folder>      a source tree (META-INFO/api-info of ESI's or etc/bashrc of the Foundation's, src/OpenFOAM, ...), built or
#                 not; or the headers that adapters/openfoam/fetch_headers.sh has fetched (build/openfoam)
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

# name: of the release, for people. macro: how the compiler is told.
foundation=
if [ -f "$folder/META-INFO/api-info" ]; then
  release=$(sed -n 's/^api=\([0-9][0-9]*\).*/\1/p' "$folder/META-INFO/api-info")
  include=$work/include
elif [ -f "$folder/version" ] && [ -d "$folder/include/OpenFOAM" ]; then
  release=$(sed -n '1s/^\([0-9][0-9]*\).*/\1/p' "$folder/version")
  include=$folder/include
elif [ -f "$folder/etc/bashrc" ]; then
  release=$(sed -n 's/^[[:blank:]]*export WM_PROJECT_VERSION=\([0-9][0-9.]*\|dev\)[[:blank:]]*$/\1/p' "$folder/etc/bashrc")
  include=$work/include
  foundation=yes
else
  fail "'$folder' is no source tree of an OpenFOAM (it holds neither META-INFO/api-info nor etc/bashrc), and holds no fetched headers (version, include/OpenFOAM)"
fi
[ -n "$release" ] || fail "'$folder' does not tell its release"
if [ "$include" = "$work/include" ]; then
  "$root/adapters/openfoam/flat_headers.sh" "$folder" "$include" || exit 2
fi
if [ -n "$foundation" ]; then
  name="OpenFOAM $release of the Foundation"
  macro=
else
  name=v$release
  macro=-DOPENFOAM=$release
fi

# compile <file> <macros>...: what the compiler says is in $work/log.
compile() {
  file=$1
  shift
  # shellcheck disable=SC2086 # several words, or none
  $compiler -std=c++17 $mode -fPIC -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror \
    -DNoRepository -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX "$@" "-I$root" -isystem "$include/OpenFOAM" \
    -isystem "$include/OSspecific/POSIX" -isystem "$include/Pstream/mpi" "$root/adapters/openfoam/$file" >"$work/log" 2>&1
}

status=0
for bits in $labels; do
  for path in "$root"/adapters/openfoam/*.C; do
    file=${path##*/}
    # shellcheck disable=SC2086 # a word or none
    if compile "$file" $macro -DWM_DP "-DWM_LABEL_SIZE=$bits"; then
      echo "$name, labels of $bits bits: $file compiles"
    else
      status=1
      echo "$name, labels of $bits bits: $file does not compile:"
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
    echo "$name, $what: refused"
  else
    status=1
    echo "$name, $what: not refused with '$message':"
    cat "$work/log"
  fi
}
# shellcheck disable=SC2086 # a word or none
refused "single precision" "Capstan solves in double precision" $macro -DWM_SP -DWM_LABEL_SIZE=32
if [ -n "$foundation" ]; then
  refused "long double precision" "Capstan solves in double precision" -DWM_LP -DWM_LABEL_SIZE=32
else
  refused "mixed precision" "Capstan solves in double precision" "$macro" -DWM_SPDP -DWM_LABEL_SIZE=32
  refused "without its macro" "Capstan needs OpenFOAM of ESI-OpenCFD" -DWM_DP -DWM_LABEL_SIZE=32
fi
refused "as v1906" "Capstan needs OpenFOAM v1912 or newer" -DOPENFOAM=1906 -DWM_DP -DWM_LABEL_SIZE=32
exit "$status"
