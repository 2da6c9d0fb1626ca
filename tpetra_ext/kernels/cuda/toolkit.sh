# CUDA 11.8 and g++-11 out of Debian 12, or CUDA 12.4 out of Debian 13, unpacked into the work folder, or those that are
# installed: no root. Sourced by the scripts that build for CUDA; see kokkos/source.sh, which they source first. Sets `cuda`, its
# folder, and `host_compiler`; what to build for says `cuda_arch`.
# shellcheck shell=bash disable=SC2034,SC2154

# use_cuda <version>: 11.8 compiles C++17 and fits the Kokkos of Debian 12; 12.4 compiles C++20, which Kokkos 5 asks for.
use_cuda() {
  cuda_version=$1
  cuda_packages=(nvidia-cuda-toolkit nvidia-cuda-dev libnvvm4 libcu++-dev)
  case $1 in
    11.8) cuda_suite=bookworm cuda_packages+=(libcudart11.0) ;;
    12.4) cuda_suite=trixie cuda_packages+=(libcudart12 libcub-dev libthrust-dev) ;;
  esac
}
use_cuda 11.8

# The package lists of the Debian that has this CUDA. With `source_release` the sources come from another one.
debian_packages() {
  command -v dpkg-deb >/dev/null || die "needs Debian's apt-get and dpkg-deb; or install nvcc $cuda_version and its g++"
  prepare_apt "$cuda_suite" main contrib non-free
}

# unpack <package>... into $work/root
unpack() {
  mkdir -p "$work/debs" "$work/root"
  (cd "$work/debs" && private_apt download "$@")
  local package
  for package in "$@"; do dpkg-deb -x "$work"/debs/"$package"_*.deb "$work/root"; done
  rm -rf "$work/debs"
}

# The host's compiler: g++-11, unpacked where it is missing; for CUDA 12.4 one that is installed.
prepare_compiler() {
  if [[ $cuda_version != 11.8 ]]; then
    host_compiler=$(command -v g++-13 || command -v g++-12) || die "nvcc $cuda_version takes g++-13 or g++-12; on Debian: apt-get install g++-12"
    return
  fi
  if command -v g++-11 >/dev/null; then
    host_compiler=$(command -v g++-11)
    return
  fi
  host_compiler=$work/root/usr/bin/g++-11
  [[ ! -e $work/root/compiler-ready ]] || return 0
  debian_packages
  say "unpacking g++-11 into $work/root"
  unpack g++-11 gcc-11 cpp-11 gcc-11-base libgcc-11-dev libstdc++-11-dev libasan6 libtsan0
  # The compiler looks for the run-time libraries, which the system has, beside its own folder.
  local name libraries=$work/root/usr/lib/x86_64-linux-gnu
  mkdir -p "$libraries"
  for name in libstdc++.so.6 libgcc_s.so.1 libgomp.so.1 libatomic.so.1 libquadmath.so.0; do
    [[ ! -e /usr/lib/x86_64-linux-gnu/$name ]] || ln -sfn "/usr/lib/x86_64-linux-gnu/$name" "$libraries/$name"
  done
  touch "$work/root/compiler-ready"
}

# Whether an nvcc is installed that will do.
has_nvcc() {
  command -v nvcc >/dev/null || return 1
  [[ $cuda_version == 11.8 ]] ||
    printf '%s\n' "$cuda_version" "$(nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')" | sort -CV
}

prepare_cuda() {
  if has_nvcc; then
    cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
    return
  fi
  cuda=$work/cuda
  if [[ ! -e $work/root/cuda-ready ]]; then
    debian_packages
    say "unpacking CUDA $cuda_version into $work/root (about 900 MB to download)"
    unpack "${cuda_packages[@]}"
    lay_out_cuda "$work/root/usr"
    touch "$work/root/cuda-ready"
  fi
  export PATH=$cuda/bin:$PATH LD_LIBRARY_PATH=$cuda/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# The folder layout CMake and nvcc know, over Debian's files in $1.
lay_out_cuda() {
  local from=$1 toolkit=$1/lib/nvidia-cuda-toolkit
  mkdir -p "$cuda/nvvm"
  ln -sfn "$toolkit/bin" "$cuda/bin"
  ln -sfn "$from/include" "$cuda/include"
  ln -sfn "$from/lib/x86_64-linux-gnu" "$cuda/lib64"
  ln -sfn "$toolkit/libdevice" "$cuda/nvvm/libdevice"
  rm -f "$toolkit/bin/nvcc.profile"
  cat >"$toolkit/bin/nvcc.profile" <<PROFILE
NVVMIR_LIBRARY_DIR = $toolkit/libdevice
PATH += $toolkit/bin:$from/bin:
INCLUDES += "-isystem" "$from/include" \$(_SPACE_)
LIBRARIES =+ \$(_SPACE_) -L$from/lib/x86_64-linux-gnu/stubs -L$from/lib/x86_64-linux-gnu
PROFILE
}

# cuda_arch: Kokkos' name of what to build for: KOKKOS_CUDA_ARCH, else the GPU at hand, else AMPERE80. Kokkos refuses a GPU of
# another generation than it was built for, although the driver could compile for it.
cuda_arch() {
  local capability=""
  if [[ -z ${KOKKOS_CUDA_ARCH:-} ]] && command -v nvidia-smi >/dev/null; then
    capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1) || capability=""
  fi
  case $capability in
    7.0) echo VOLTA70 ;;
    7.5) echo TURING75 ;;
    8.6) echo AMPERE86 ;;
    9.0) echo HOPPER90 ;;
    *) echo "${KOKKOS_CUDA_ARCH:-AMPERE80}" ;;
  esac
}

# teach_kokkos <folder of its source> <arch>: Kokkos 3 does not know Hopper, which nvcc 11.8 does.
teach_kokkos() {
  local list=$1/cmake/kokkos_arch.cmake
  [[ $2 == HOPPER90 ]] && ! grep -q HOPPER90 "$list" || return 0
  sed -i -e '/^KOKKOS_ARCH_OPTION(AMPERE86 /a KOKKOS_ARCH_OPTION(HOPPER90 GPU "NVIDIA Hopper generation CC 9.0")' \
    -e '/^CHECK_CUDA_ARCH(AMPERE86 /a CHECK_CUDA_ARCH(HOPPER90 sm_90)' "$list"
}
