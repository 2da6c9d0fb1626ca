#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# flat_headers.sh <OpenFOAM source tree> <folder>
#
# Copies the headers that libcapstanFoam.so is compiled with into <folder>, one flat folder for each library, as OpenFOAM's own
# build makes them with wmakeLnInclude: OpenFOAM/, OSspecific/POSIX/, Pstream/mpi/. Templates include their .C files.
set -eu

[ $# -eq 2 ] || {
  echo "usage: flat_headers.sh <OpenFOAM source tree> <folder>" >&2
  exit 2
}
for library in OpenFOAM OSspecific/POSIX Pstream/mpi; do
  [ -d "$1/src/$library" ] || {
    echo "flat_headers.sh: '$1' holds no folder src/$library" >&2
    exit 1
  }
  mkdir -p "$2/$library"
  find "$1/src/$library" -type d \( -name lnInclude -o -name Make -o -name noLink \) -prune -o \
    -type f \( -name '*.[CHh]' -o -name '*.[cht]xx' -o -name '*.type' \) -exec cp -f -t "$2/$library" {} +
done
