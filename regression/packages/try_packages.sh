#!/usr/bin/env bash
# Installs Capstan's packages from a folder on this machine, and uses them; for a bare machine, as root.
# usage: try_packages.sh FOLDER. Exit status: 0 all works, 1 something does not, 2 wrong use.
set -euo pipefail
unset CDPATH

[[ $# -eq 1 && -d $1 ]] || { echo "try_packages.sh: usage: try_packages.sh FOLDER" >&2; exit 2; }
folder=$(cd -- "$1" && pwd)
root=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

say() { printf '\n# %s\n' "$*"; }
# installed <packages>: by apt, with what they need; quiet, but for what goes wrong.
installed() {
  apt-get install -y --no-install-recommends "$@" >"$work/apt.log" 2>&1 || {
    tail -n 20 "$work/apt.log" >&2
    echo "try_packages.sh: apt-get install $* failed" >&2
    exit 1
  }
}

say "apt-get install ./openfoam-capstan_*.deb"
apt-get update >"$work/apt.log" 2>&1
installed "$folder"/libcapstan0.1_*.deb "$folder"/capstan-preconditioners_*.deb "$folder"/capstan-tools_*.deb "$folder"/openfoam-capstan_*.deb openfoam-examples

"$root/regression/packages/try_installed.sh"

say "a Belos program, compiled against libcapstan-dev"
installed "$folder"/libcapstan-stratimikos0.1_*.deb "$folder"/libcapstanc1_*.deb "$folder"/libcapstan-dev_*.deb g++ cmake make \
  libopenblas-serial-dev libmumps-dev libscotch-dev libptscotch-dev libhdf5-openmpi-dev
mkdir "$work/program"
cp "$root/regression/consumer/all_names.cpp" "$work/program/"
cat >"$work/program/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.20)
project(Program LANGUAGES CXX)
find_package(Capstan REQUIRED)
add_executable(program all_names.cpp)
target_link_libraries(program PRIVATE Capstan::capstan)
add_executable(plain all_names.cpp)
target_link_libraries(plain PRIVATE Capstan::trilinos)
TEXT
if ! { cmake -S "$work/program" -B "$work/program/build" && cmake --build "$work/program/build"; } >"$work/cmake.log" 2>&1; then
  tail -n 30 "$work/cmake.log" >&2
  exit 1
fi
mpirun -n 2 "$work/program/build/program"

say "a Belos program without Capstan, preloaded where libcapstan-dev is not installed"
apt-get remove -y libcapstan-dev >"$work/apt.log" 2>&1
capstan preload -- mpirun -n 2 "$work/program/build/plain" | tee "$work/log.preload"
grep -qE '^[1-9][0-9]* names$' "$work/log.preload"
say "all works"
