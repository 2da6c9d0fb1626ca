# What must be installed, and how it gets there. Sourced by the launcher.
# shellcheck shell=bash

# Debian 12 packages by the reason they are needed. The trilinos -dev packages do not depend on each other: take them all.
# Nor do they depend on the libraries their CMake files name by path: BLAS, MUMPS, (PT-)Scotch and HDF5 stand here for that.
declare -A packages=(
  [build]="g++ cmake ninja-build trilinos-all-dev libopenmpi-dev openmpi-bin libopenblas0-serial libopenblas-serial-dev
           libmumps-dev libscotch-dev libptscotch-dev libhdf5-openmpi-dev libyaml-cpp-dev
           libboost-context-dev libcli11-dev nlohmann-json3-dev libfmt-dev zlib1g-dev libgtest-dev libbenchmark-dev python3"
  [openfoam]="openfoam openfoam-examples dpkg-dev"
  [petsc]="libpetsc-real-dev pkg-config"
  [bench]="python3-matplotlib mpich libmpich-dev"
  [test]="clang-format shellcheck"
)

on_debian_12() {
  local ID="" VERSION_ID=""
  [[ -r /etc/os-release ]] || return 1
  # shellcheck disable=SC1091
  . /etc/os-release
  [[ $ID == debian && $VERSION_ID == 12 ]]
}

# True where ensure_packages installs what is missing, or fails.
installs_packages() {
  [[ ${CAPSTAN_INSTALL:-} != off ]] && on_debian_12
}

# missing_packages <groups...>: the packages of the groups that are not installed, one a line. One dpkg-query, about 20 ms.
missing_packages() {
  local group wanted=()
  for group in "$@"; do
    # Split on blanks on purpose: the table above holds words.
    # shellcheck disable=SC2206
    wanted+=(${packages[$group]})
  done
  {
    dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true
    printf '%s wanted\n' "${wanted[@]}"
  } | awk '$2 == "installed" { have[$1] } $2 == "wanted" && !($1 in have)  { print $1 }'
}

# have_packages <group>: true where all packages of the group are installed.
have_packages() {
  command -v dpkg-query >/dev/null && [[ -z $(missing_packages "$1") ]]
}

apt_install() {
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  local install=("${apt[@]}" install -y --no-install-recommends "$@")
  local finish=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive dpkg --configure -a)
  # A fresh image knows no package lists, an old one knows stale ones: both are cured by an update. An installation that
  # was interrupted has to be finished first.
  "${install[@]}" || { "${finish[@]}" && "${apt[@]}" update && "${install[@]}"; }
}

# ensure_packages <groups...>: installs what is missing, or says what is missing and ends with status 3.
ensure_packages() {
  [[ ${CAPSTAN_INSTALL:-} != off ]] || return 0
  if ! on_debian_12; then
    ensure_tools
    return
  fi
  local missing as_root=()
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  if [[ $(id -u) -ne 0 ]]; then
    if ! { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; then
      fail 3 "these Debian packages are missing, and only root may install them:" "${missing[*]}" \
        "Install them with: sudo apt-get install --no-install-recommends ${missing[*]}"
    fi
    as_root=(sudo -n)
  fi
  say "installing ${#missing[@]} Debian packages (and what they depend on): ${missing[*]}"
  if ! run_logged "$build_dir/log/packages.log" apt_install "${missing[@]}"; then
    fail 3 "apt-get could not install: ${missing[*]}" "Where there is no network, install them some other way first."
  fi
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -eq 0 ]] || fail 3 "apt-get ended well, but these packages are still missing: ${missing[*]}"
  say "packages installed"
}

# Not Debian 12: packages have other names. Ask for the tools; CMake names the libraries it misses.
ensure_tools() {
  local tool missing=()
  for tool in cmake ninja c++ mpicxx mpirun python3; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  fail 3 "these tools are missing: ${missing[*]}" \
    "Packages are installed automatically on Debian 12 only. Here, install them, and Trilinos 13.2 or newer with" \
    "Tpetra, Belos, Ifpack2 and MueLu, yourself; point CMAKE_PREFIX_PATH at what is not in a standard place."
}

# Debian's reference BLAS makes dense kernels several times slower. Where it is the one in use, prefer OpenBLAS for our
# own processes and leave the machine as it is.
prefer_openblas() {
  local blas folder
  blas=$(readlink -f "/etc/alternatives/libblas.so.3-$(uname -m)-linux-gnu" 2>/dev/null) || return 0
  [[ -n $blas && $blas != *openblas* ]] || return 0
  folder=/usr/lib/$(uname -m)-linux-gnu/openblas-serial
  [[ -e $folder/libblas.so.3 ]] || return 0
  [[ :${LD_LIBRARY_PATH:-}: != *:$folder:* ]] || return 0
  say "the BLAS of this machine is $blas; using OpenBLAS of $folder instead"
  export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}
