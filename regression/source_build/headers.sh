# Capstan's objects, compiled for NVIDIA's devices on the headers of Debian's packages of Trilinos 17.0. Those are built for
# CPUs: a copy of their headers is set for CUDA without unified memory. Nothing is linked. Sourced by prove.sh, which sets
# `root`, `work`, `jobs`, `report`, `werror` and `arch`, and has the functions `say`, `die` and `quietly`.
# shellcheck shell=bash disable=SC2154

headers_version=17.0.0+dfsg-5
# The parts, and where their objects are: first what starts kernels. Together libcapstan and the tests of tpetra_ext.
header_parts=(
  'tpetra_ext=^tpetra_ext/CMakeFiles/|^tpetra_ext/(kernels|topology)/CMakeFiles/'
  'tests of the kernels=^tpetra_ext/kernels/test/'
  'belos_ext=^belos_ext/CMakeFiles/'
  'plugin=^adapters/(plugin|preload)/CMakeFiles/'
  'tests of tpetra_ext=^tpetra_ext/test/')

# switch_on <file> <name>..., switch_off: a definition of a configured header; one that it lacks is an error.
switch_on() {
  local file=$1 name
  shift
  for name in "$@"; do
    grep -qF "/* #undef $name */" "$file" || die "$file says nothing of $name"
    sed -i "s|^/\* #undef $name \*/|#define $name|" "$file"
  done
}
switch_off() {
  local file=$1 name
  shift
  for name in "$@"; do
    grep -qE "^#define $name( |$)" "$file" || die "$file does not define $name"
    sed -i -E "s|^#define $name( .*)?$|/* #undef $name */|" "$file"
  done
}

# What CMake would have written for the device alone, in the folders of Kokkos' and Trilinos' headers.
set_headers_for_cuda() {
  local kokkos=$1 trilinos=$2 part
  switch_on "$kokkos/KokkosCore_config.h" KOKKOS_ENABLE_CUDA KOKKOS_ENABLE_CUDA_LAMBDA "KOKKOS_ARCH_${arch%%[0-9]*}" \
    "KOKKOS_ARCH_$arch"
  # It is allowed to CPUs of one thread alone.
  switch_off "$kokkos/KokkosCore_config.h" KOKKOS_ENABLE_ATOMICS_BYPASS
  switch_on "$kokkos/desul/atomics/Config.hpp" DESUL_ATOMICS_ENABLE_CUDA
  for part in Declare:decl/Kokkos_Declare_CUDA Fwd:fwd/Kokkos_Fwd_CUDA Setup:setup/Kokkos_Setup_Cuda; do
    [[ -e $kokkos/${part#*:}.hpp ]] || die "Debian's headers of Kokkos lack ${part#*:}.hpp"
    sed -i "s|^#endif|#include <${part#*:}.hpp>\n#endif|" "$kokkos/KokkosCore_Config_${part%%:*}Backend.hpp"
  done
  switch_on "$trilinos/KokkosKernels_config.h" KOKKOSKERNELS_INST_EXECSPACE_CUDA KOKKOSKERNELS_INST_MEMSPACE_CUDASPACE
  switch_off "$trilinos/KokkosKernels_config.h" KOKKOSKERNELS_INST_EXECSPACE_SERIAL
  sed -i 's/Kokkos::Serial, *Kokkos::HostSpace/Kokkos::Cuda,Kokkos::CudaSpace/g' "$trilinos"/generated_specializations_hpp/*.hpp
  switch_on "$trilinos/TpetraCore_config.h" HAVE_TPETRACORE_CUDA HAVE_TPETRA_INST_CUDA HAVE_TPETRA_CUDA
  switch_off "$trilinos/TpetraCore_config.h" HAVE_TPETRA_INST_SERIAL HAVE_TPETRA_SERIAL
  switch_on "$trilinos/Tpetra_KokkosClassic_DefaultNode_config.h" HAVE_TPETRA_DEFAULTNODE_CUDAWRAPPERNODE
  switch_off "$trilinos/Tpetra_KokkosClassic_DefaultNode_config.h" HAVE_TPETRA_DEFAULTNODE_SERIALWRAPPERNODE
  sed -i 's/KokkosSerialWrapperNode/KokkosCudaWrapperNode/g' "$trilinos/Tpetra_KokkosClassic_DefaultNode_config.h" \
    "$trilinos/TpetraCore_ETIHelperMacros.h"
}

# A package of Trilinos that has headers and no libraries.
write_trilinos_package() {
  local folder=$1 include=$2
  mkdir -p "$folder"
  cat >"$folder/TrilinosConfig.cmake" <<PACKAGE
set(Trilinos_INCLUDE_DIRS "$include/kokkos" "$include/trilinos")
set(Trilinos_LIBRARIES "")
if(NOT TARGET Kokkos::kokkos)
  add_library(Kokkos::kokkos INTERFACE IMPORTED)
  target_compile_options(Kokkos::kokkos INTERFACE -arch=sm_${arch##*[A-Z]} --extended-lambda --expt-relaxed-constexpr)
endif()
PACKAGE
  printf 'set(PACKAGE_VERSION %s)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n' "${headers_version%%+*}" \
    >"$folder/TrilinosConfigVersion.cmake"
}

# Experimental has package lists of its own here, beside those of CUDA.
download_headers() {
  local work=$1
  shift
  mkdir -p "$work/debs"
  prepare_apt experimental main
  (cd "$work/debs" && private_apt download "$@")
}

fetch_headers() {
  local tree=$work/headers package packages=()
  if [[ ! -e $tree/ready-$arch ]]; then
    for package in libtrilinos-{kokkos,kokkos-kernels,teuchos,tpetra,belos}-dev trilinos-dev; do
      packages+=("$package=$headers_version")
    done
    say "fetching the headers of Debian's Trilinos $headers_version"
    rm -rf "$tree"
    download_headers "$tree" "${packages[@]}" ||
      die "the headers of Trilinos $headers_version cannot be fetched; see the lines above"
    for package in "$tree"/debs/*.deb; do dpkg-deb -x "$package" "$tree"; done
    set_headers_for_cuda "$tree/usr/include/kokkos" "$tree/usr/include/trilinos"
    touch "$tree/ready-$arch"
  fi
  write_trilinos_package "$work/headers-package" "$tree/usr/include"
  say "Trilinos (the headers of Debian's $headers_version): Tpetra for CUDA alone, without unified memory, for $arch"
}

# compile_objects <what> <regular expression>: goes on where one fails.
compile_objects() {
  local what=$1 objects failed=no log=$work/log/${1// /-}.log
  mapfile -t objects < <(ninja -C "$work/build-objects" -t targets all | sed -n 's/: CXX_COMPILER.*//p' | grep -E "$2")
  [[ ${#objects[@]} -gt 0 ]] || die "the build has no $what"
  say "compiling ${#objects[@]} objects: $what"
  ninja -C "$work/build-objects" -k 0 -j "$jobs" "${objects[@]}" </dev/null >"$log" 2>&1 || failed=yes
  if [[ $failed == yes ]]; then
    grep '^FAILED: ' "$log" | tee -a "$report" || tail -n 5 "$log"
    die "of $what $(grep -c '^FAILED: ' "$log" || true) of ${#objects[@]} objects failed (the whole log: $log)"
  fi
  say "$what: ${#objects[@]} objects compiled, $(count_device_code "${objects[@]}") of them with code for the device"
}

# Of these objects, those that hold code for the device.
count_device_code() {
  local object count=0
  for object in "$@"; do
    ! cuobjdump --list-elf "$work/build-objects/$object" 2>/dev/null | grep -q "sm_${arch##*[A-Z]}" || count=$((count + 1))
  done
  echo "$count"
}

prove_headers() {
  local part compiled=()
  fetch_headers
  forbid_warnings_of_nvcc "$werror"
  quietly objects-configure.log cmake -G Ninja -S "$root" -B "$work/build-objects" "-DTrilinos_DIR=$work/headers-package" \
    -DCMAKE_BUILD_TYPE=Release -DCAPSTAN_LIBRARY_ONLY=ON -DCAPSTAN_BENCHMARKS=OFF \
    "-DCAPSTAN_WERROR=$werror" "${compiler_options[@]}"
  for part in "${header_parts[@]}"; do
    compile_objects "${part%%=*}" "${part#*=}"
    compiled+=("${part%%=*}")
    verdict="objects compiled of these parts alone: $(printf '%s, ' "${compiled[@]}")not all"
  done
}
