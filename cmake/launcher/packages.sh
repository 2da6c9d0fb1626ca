# What must be installed, and how it gets there. Sourced by the launcher.
# shellcheck shell=bash

# Debian's packages by the reason they are needed; they have the same names in all releases. The trilinos -dev packages do
# not depend on each other: take them all. Nor do they depend on the libraries their CMake files name by path: BLAS, MUMPS,
# (PT-)Scotch, HDF5 and (from Trilinos 16 on) hypre stand here for that.
declare -A packages=(
  [build]="g++ cmake ninja-build trilinos-all-dev libopenmpi-dev openmpi-bin libopenblas0-serial libopenblas-serial-dev
           libmumps-dev libscotch-dev libptscotch-dev libhdf5-openmpi-dev libhypre-dev libyaml-cpp-dev
           libboost-context-dev libcli11-dev nlohmann-json3-dev libfmt-dev zlib1g-dev libgtest-dev libbenchmark-dev python3
           python3-yaml"
  [hypre]="libhypre-dev"
  [openfoam]="openfoam openfoam-examples dpkg-dev"
  [petsc]="libpetsc-real-dev pkg-config"
  [bench]="python3-matplotlib"
  [plot]="python3 python3-matplotlib"
  [docs]="doxygen"
  [simulation]="libsimgrid-dev"
  [distribution]="debootstrap git util-linux"
  [test]="clang-format shellcheck doxygen valgrind chromium xz-utils git python3-mpi4py python3-scipy"
)
# What no test may lack where it must be complete.
declare -A packages_of_12=([test]="abigail-tools libsimgrid-dev libpetsc3.18-dev-examples code-saturne-bin code-saturne-data code-saturne-include")
# Programs that other systems must have, by the same reasons.
declare -A tools=([build]="cmake ninja c++ mpicxx mpirun python3" [plot]="python3" [docs]="doxygen" [distribution]="debootstrap git taskset")
os_release=/etc/os-release

# The release of Debian this is, where it is one that Capstan knows: 12, 13 or unstable. Else false.
debian_release() {
  local ID="" VERSION_ID=""
  [[ -r $os_release ]] || return 1
  # shellcheck disable=SC1090
  . "$os_release"
  case $ID/$VERSION_ID in
    debian/12 | debian/13) echo "$VERSION_ID" ;;
    # Unstable and testing have no number.
    debian/) echo unstable ;;
    *) return 1 ;;
  esac
}

# on_debian [12 | 13 | unstable]: true on that release, or on any of them.
on_debian() {
  local release
  release=$(debian_release) && [[ $# -eq 0 || $release == "$1" ]]
}

# True where ensure_packages installs what is missing, or fails.
installs_packages() {
  [[ ${CAPSTAN_INSTALL:-} != off ]] && on_debian
}

# packages_of <groups...>: their packages on this machine, one a line.
packages_of() {
  local group
  for group in "$@"; do
    # Split on blanks on purpose: the tables above hold words.
    # shellcheck disable=SC2086
    printf '%s\n' ${packages[$group]}
    # shellcheck disable=SC2086
    ! on_debian 12 || printf '%s\n' ${packages_of_12[$group]:-}
  done
}

# missing_packages <groups...>: the packages of the groups that are not installed, one a line. One dpkg-query, about 20 ms.
missing_packages() {
  local wanted
  mapfile -t wanted < <(packages_of "$@" | grep .)
  {
    dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true
    printf '%s wanted\n' "${wanted[@]}"
  } | awk '$2 == "installed" { have[$1] } $2 == "wanted" && !($1 in have)  { print $1 }'
}

# have_packages <group>: true where all packages of the group are installed.
have_packages() {
  command -v dpkg-query >/dev/null && [[ -z $(missing_packages "$1") ]]
}

# Uses as_root of ensure_packages.
run_apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -q -o DPkg::Lock::Timeout=300 "$@"
}

apt_install() {
  local install=(run_apt install -y --no-install-recommends "$@")
  local finish=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive dpkg --configure -a)
  # Package lists may be stale, and an installation that was interrupted has to be finished first.
  "${install[@]}" || { "${finish[@]}" && run_apt update && "${install[@]}"; }
}

# apt_needs <packages...>: what they take, in apt's words: "1,234 MB to download, 4,567 MB on disk". Fails where apt knows
# no such packages.
apt_needs() {
  local said
  said=$(run_apt install --assume-no --no-install-recommends "$@" 2>/dev/null || true)
  awk '/^Need to get / { sub(/^Need to get /, ""); sub(/ of archives.*/, ""); printf "%s to download", $0; known = 1 }
    /^After this operation, .* will be used/ {
      sub(/^After this operation, /, ""); sub(/ of additional.*/, ""); printf "%s%s on disk", known ? ", " : "", $0; known = 1 }
    END { exit !known }' <<<"$said"
}

# ensure_packages <groups...>: installs what is missing, or says what is missing and ends with status 3.
ensure_packages() {
  ensure_writable "$build_dir"
  [[ ${CAPSTAN_INSTALL:-} != off ]] || return 0
  if ! on_debian; then
    ensure_tools "$@"
    return
  fi
  local missing needs as_root=()
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
  # A fresh image knows no package lists.
  needs=$(apt_needs "${missing[@]}") || {
    run_quietly "$build_dir/log/packages.log" run_apt update && needs=$(apt_needs "${missing[@]}") || needs=""
  }
  [[ -z $needs ]] || say "that takes $needs"
  if ! run_logged "$build_dir/log/packages.log" "installing packages" apt_install "${missing[@]}"; then
    fail 3 "apt-get could not install: ${missing[*]}" "Where there is no network, install them some other way first."
  fi
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -eq 0 ]] || fail 3 "apt-get ended well, but these packages are still missing: ${missing[*]}"
  say "packages installed"
}

# ensure_tools <groups...>: another system, where packages have other names. Asks for the tools; CMake names the libraries it
# misses.
ensure_tools() {
  local group tool missing=()
  for group in "$@"; do
    for tool in ${tools[$group]:-}; do
      command -v "$tool" >/dev/null || missing+=("$tool")
    done
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  local advice=("Packages are installed automatically on Debian 12, 13 and unstable only. Here, install them yourself.")
  ! contains build "$@" || advice+=("So, too, Trilinos 13.2 or newer with Tpetra, Belos, Ifpack2 and MueLu;"
    "point CMAKE_PREFIX_PATH at what is not in a standard place.")
  fail 3 "these tools are missing: ${missing[*]}" "${advice[@]}"
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
