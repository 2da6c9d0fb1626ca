# The kernels compiled for AMD's gfx90a with the hipcc of Debian 13, in a bare Debian 13 of its own. Sourced by prove.sh, which
# sets `root`, `work`, `jobs`, `report`, `headers` and `werror`, and has the functions `say`, `die` and `quietly`.
# shellcheck shell=bash disable=SC2154

# What compiles there. The kernels need the first line alone.
hip_packages=(hipcc rocm-device-libs-17 libamdhip64-dev cmake ninja-build g++ libgtest-dev libbenchmark-dev)
hip_packages_of_all=(libopenmpi-dev libyaml-cpp-dev libfmt-dev nlohmann-json3-dev libboost-context-dev libcli11-dev zlib1g-dev python3)
# The objects that launch kernels: each must hold code of the device.
hip_objects=(launch_test inner_products_test block_product_test block_update_test row_runs_test vector_test kernels_benchmark)
hip_arch=gfx90a

# in_hip_tree <command line>: inside the tree, where the repository is /root/capstan. What is mounted for it is gone after it.
in_hip_tree() {
  local proxies=()
  [[ -z ${http_proxy:-} ]] || proxies+=("http_proxy=$http_proxy")
  [[ -z ${https_proxy:-} ]] || proxies+=("https_proxy=$https_proxy")
  # shellcheck disable=SC2016
  unshare --mount --propagation private bash -c 'mount -t proc proc "$1/proc" && mount --bind "$2" "$1/root/capstan" &&
    mount --bind /dev "$1/dev" && exec chroot "$1" "${@:3}"' in_hip_tree "$tree" "$root" /usr/bin/env -i HOME=/root \
    TERM=dumb LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "${proxies[@]}" PATH=/usr/sbin:/usr/bin:/sbin:/bin /bin/bash -c "$1"
}

# A tree that an earlier run completed is used again.
make_hip_tree() {
  tree=$work/tree
  [[ ! -e $tree/capstan-ready ]] || return 0
  [[ $(id -u) -eq 0 ]] || die "debootstrap and chroot need root"
  command -v debootstrap >/dev/null || die "debootstrap is missing; on Debian: apt-get install debootstrap"
  say "making a bare Debian 13 with hipcc in $tree (about 700 MB to download)"
  rm -rf --one-file-system "$tree"
  quietly debootstrap.log debootstrap --variant=minbase trixie "$tree" http://deb.debian.org/debian
  cp /etc/resolv.conf /etc/hosts "$tree/etc/"
  # How to reach the mirror is the network's affair.
  grep -ls '^Acquire::' /etc/apt/apt.conf.d/* | xargs -r cp -t "$tree/etc/apt/apt.conf.d/"
  mkdir -p "$tree/root/capstan"
  quietly packages.log in_hip_tree "apt-get -qq update && apt-get -qq install -y --no-install-recommends ${hip_packages[*]}"
  touch "$tree/capstan-ready"
}

# Kokkos 3.5 knows neither the processor nor the newer compiler's name of the option that says it.
teach_kokkos_hip() {
  local list=$1/cmake/kokkos_arch.cmake
  ! grep -q VEGA90A "$list" || return 0
  sed -i -e '/^KOKKOS_ARCH_OPTION(VEGA908 /a KOKKOS_ARCH_OPTION(VEGA90A GPU "AMD Instinct MI200 series")' \
    -e '/^CHECK_AMDGPU_ARCH(VEGA908 /a CHECK_AMDGPU_ARCH(VEGA90A gfx90a)' -e 's/"--amdgpu-target"/"--offload-arch"/' "$list"
}

build_kokkos_hip() {
  [[ ! -e $tree/root/kokkos/capstan-ready ]] || return 0
  if [[ -n ${CAPSTAN_KOKKOS_SOURCE:-} ]]; then
    [[ -e $CAPSTAN_KOKKOS_SOURCE/core/src/Kokkos_Core.hpp ]] ||
      die "CAPSTAN_KOKKOS_SOURCE is $CAPSTAN_KOKKOS_SOURCE, which holds no core/src/Kokkos_Core.hpp"
    rm -rf "$tree/root/kokkos-source"
    cp -r -- "$CAPSTAN_KOKKOS_SOURCE" "$tree/root/kokkos-source"
  else
    prepare_apt "$(debian_release)"
    fetch_kokkos "$tree/root/kokkos-source"
  fi
  teach_kokkos_hip "$tree/root/kokkos-source"
  say "building Kokkos with HIP"
  quietly kokkos-configure.log in_hip_tree "cmake -G Ninja -S /root/kokkos-source -B /root/build-kokkos \
    -DCMAKE_POLICY_VERSION_MINIMUM=3.10 -DCMAKE_CXX_COMPILER=hipcc -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX=/root/kokkos -DCMAKE_CXX_STANDARD=17 -DCMAKE_CXX_EXTENSIONS=OFF \
    -DKokkos_ENABLE_HIP=ON -DKokkos_ENABLE_SERIAL=ON -DKokkos_ARCH_VEGA90A=ON"
  quietly kokkos-build.log in_hip_tree "ninja -C /root/build-kokkos -j $jobs install"
  touch "$tree/root/kokkos/capstan-ready"
}

# What code for the device each object holds, into the report: which processor it is for, and how many kernels.
list_device_code() {
  local object found
  say "code for the device in each object: kernels, the bundle's name, the processor in its header"
  # shellcheck disable=SC2016
  found=$(in_hip_tree 'set -euo pipefail
    cd /root/build-kernels
    for object in $(find . -name "*.cpp.o" | sort); do
      if ! llvm-objcopy-17 --dump-section .hip_fatbin=/tmp/bundle "$object" /tmp/without 2>/dev/null; then
        echo "${object##*/} 0 host only"
        continue
      fi
      target=$(clang-offload-bundler-17 --list --type=o --input=/tmp/bundle | grep amdgcn)
      clang-offload-bundler-17 --unbundle --type=o --targets="$target" --input=/tmp/bundle --output=/tmp/code
      kernels=$(llvm-readelf-17 --symbols --wide /tmp/code | grep -c "[.]kd$" || true)
      echo "${object##*/} $kernels $target $(llvm-readobj-17 --file-headers /tmp/code | grep -o "EF_AMDGPU_MACH_[A-Z0-9_]*")"
    done') || die "the device's code in the objects cannot be read: $found"
  printf '%s\n' "$found" | tee -a "$report"
  for object in "${hip_objects[@]}"; do
    grep -qE "^${object}[.]cpp[.]o [1-9][0-9]* [^ ]*--$hip_arch EF_AMDGPU_MACH_AMDGCN_${hip_arch^^}\$" <<<"$found" ||
      die "$object holds no kernel for $hip_arch"
  done
}

# The tree, and what it compiles with.
prepare_hip() {
  make_hip_tree
  if [[ $headers == yes && ! -e $tree/capstan-ready-all ]]; then
    quietly packages-all.log in_hip_tree "apt-get -qq install -y --no-install-recommends ${hip_packages_of_all[*]}"
    touch "$tree/capstan-ready-all"
  fi
  say "$(in_hip_tree "hipcc --version" | sed -n '1,2p' | paste -sd , | sed 's|,|, |'), Debian $(<"$tree/etc/debian_version")"
}

prove_hip() {
  build_kokkos_hip
  say "Kokkos $(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/ip' "$tree"/root/kokkos/lib*/cmake/Kokkos/KokkosConfigVersion.cmake)," \
    "HIP and Serial, for $hip_arch"
  say "building the kernels, their tests and benchmark"
  quietly kernels-configure.log in_hip_tree "cmake -G Ninja -S /root/capstan/tpetra_ext/kernels -B /root/build-kernels \
    -DCMAKE_CXX_COMPILER=hipcc -DKokkos_ROOT=/root/kokkos -DCAPSTAN_WERROR=$werror"
  quietly kernels-build.log in_hip_tree "ninja -C /root/build-kernels -j $jobs"
  list_device_code
}
