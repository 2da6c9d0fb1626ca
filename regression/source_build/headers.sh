# Capstan's objects, compiled for a device on the headers of Debian's packages of Trilinos 17.0. Those are built for CPUs: a copy
# of their headers is set for CUDA or HIP, without unified memory. Nothing is linked. Sourced by prove.sh, which sets `root`,
# `work`, `backend`, `jobs`, `report`, `werror` and, for CUDA, `arch`, and has the functions `say`, `die` and `quietly`; for HIP
# hip.sh has made the tree.
# shellcheck shell=bash disable=SC2154

headers_version=17.0.0+dfsg-5
# The parts, and where their objects are: first what starts kernels. Together libcapstan and the tests of tpetra_ext.
header_parts=(
  'operators=^tpetra_ext/CMakeFiles/[^/]*/(operators|reductions)/'
  'exchange=^tpetra_ext/CMakeFiles/[^/]*/topology/|^tpetra_ext/(kernels|topology)/CMakeFiles/'
  'kernels=^tpetra_ext/kernels/test/'
  'belos_ext=^belos_ext/CMakeFiles/'
  'plugin=^adapters/(plugin|preload)/CMakeFiles/'
  'tests=^tpetra_ext/test/')

# Sets what the device is called: by Kokkos, its memory, in CMake's names; the options of its compiler, what marks its code in
# an object; and where things are: `place` as this machine, `inside` as the compiler sees it.
describe_device() {
  if [[ $backend == hip ]]; then
    device=HIP space=HIP setup=HIP architectures=(AMD_GPU AMD_GFX90A VEGA VEGA90A) place=$tree/root/on-headers inside=/root/on-headers
    sources=/root/capstan device_options="--offload-arch=$hip_arch" code_mark=amdgcn-amd-amdhsa--$hip_arch device_name=$hip_arch
    compiler_options=(-DCMAKE_CXX_COMPILER=hipcc -DCAPSTAN_PCH=OFF)
  else
    device=CUDA space=Cuda setup=Cuda architectures=("${arch%%[0-9]*}" "$arch") place=$work/on-headers inside=$work/on-headers
    sources=$root device_options="-arch=sm_${arch##*[A-Z]} --extended-lambda --expt-relaxed-constexpr" device_name=$arch
    # Where CUDA was unpacked it is not beside nvcc.
    code_reader=$(command -v cuobjdump || ls "$work/root/usr/bin/cuobjdump") || die "cuobjdump, a program of CUDA, is missing"
    forbid_warnings_of_nvcc "$werror"
  fi
}

# run_inside <command> <arguments>: where the compiler is.
run_inside() {
  if [[ $backend == hip ]]; then in_hip_tree "$(printf '%q ' "$@")"; else "$@"; fi
}

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
set_headers_for_device() {
  local kokkos=$1 trilinos=$2 part node=Tpetra_KokkosClassic_DefaultNode_config.h
  switch_on "$kokkos/KokkosCore_config.h" "KOKKOS_ENABLE_$device" "${architectures[@]/#/KOKKOS_ARCH_}"
  # It is allowed to CPUs of one thread alone.
  switch_off "$kokkos/KokkosCore_config.h" KOKKOS_ENABLE_ATOMICS_BYPASS
  switch_on "$kokkos/desul/atomics/Config.hpp" "DESUL_ATOMICS_ENABLE_$device"
  for part in "Declare:decl/Kokkos_Declare_$device" "Fwd:fwd/Kokkos_Fwd_$device" "Setup:setup/Kokkos_Setup_$setup"; do
    [[ -e $kokkos/${part#*:}.hpp ]] || die "Debian's headers of Kokkos lack ${part#*:}.hpp"
    sed -i "s|^#endif|#include <${part#*:}.hpp>\n#endif|" "$kokkos/KokkosCore_Config_${part%%:*}Backend.hpp"
  done
  switch_on "$trilinos/KokkosKernels_config.h" "KOKKOSKERNELS_INST_EXECSPACE_$device" "KOKKOSKERNELS_INST_MEMSPACE_${device}SPACE"
  switch_off "$trilinos/KokkosKernels_config.h" KOKKOSKERNELS_INST_EXECSPACE_SERIAL
  sed -i "s/Kokkos::Serial, *Kokkos::HostSpace/Kokkos::$space,Kokkos::${space}Space/g" "$trilinos"/generated_specializations_hpp/*.hpp
  switch_on "$trilinos/TpetraCore_config.h" "HAVE_TPETRA_INST_$device" "HAVE_TPETRA_$device"
  switch_off "$trilinos/TpetraCore_config.h" HAVE_TPETRA_INST_SERIAL HAVE_TPETRA_SERIAL
  switch_on "$trilinos/$node" "HAVE_TPETRA_DEFAULTNODE_${device}WRAPPERNODE"
  switch_off "$trilinos/$node" HAVE_TPETRA_DEFAULTNODE_SERIALWRAPPERNODE
  sed -i "s/KokkosSerialWrapperNode/Kokkos${space}WrapperNode/g" "$trilinos/$node" "$trilinos/TpetraCore_ETIHelperMacros.h"
  [[ $device != CUDA ]] || {
    switch_on "$kokkos/KokkosCore_config.h" KOKKOS_ENABLE_CUDA_LAMBDA
    switch_on "$trilinos/TpetraCore_config.h" HAVE_TPETRACORE_CUDA
  }
}

# A package of Trilinos that has headers and no libraries.
write_trilinos_package() {
  mkdir -p "$place/package"
  cat >"$place/package/TrilinosConfig.cmake" <<PACKAGE
set(Trilinos_INCLUDE_DIRS "$inside/usr/include/kokkos" "$inside/usr/include/trilinos")
set(Trilinos_LIBRARIES "")
if(NOT TARGET Kokkos::kokkos)
  add_library(Kokkos::kokkos INTERFACE IMPORTED)
  target_compile_options(Kokkos::kokkos INTERFACE $device_options)
endif()
PACKAGE
  printf 'set(PACKAGE_VERSION %s)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n' "${headers_version%%+*}" \
    >"$place/package/TrilinosConfigVersion.cmake"
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
  local package packages=()
  if [[ ! -e $place/ready-$device_name ]]; then
    for package in libtrilinos-{kokkos,kokkos-kernels,teuchos,tpetra,belos}-dev trilinos-dev; do
      packages+=("$package=$headers_version")
    done
    say "fetching the headers of Debian's Trilinos $headers_version"
    rm -rf "$place/usr" "$place/debs"
    download_headers "$place" "${packages[@]}" ||
      die "the headers of Trilinos $headers_version cannot be fetched; see the lines above"
    for package in "$place"/debs/*.deb; do dpkg-deb -x "$package" "$place"; done
    set_headers_for_device "$place/usr/include/kokkos" "$place/usr/include/trilinos"
    touch "$place/ready-$device_name"
  fi
  write_trilinos_package
  say "Trilinos (the headers of Debian's $headers_version): Tpetra for $device alone, without unified memory, for $device_name"
}

# compile_objects <what> <regular expression>: goes on where one fails.
compile_objects() {
  local what=$1 objects with_code failed=no log=$work/log/${1// /-}.log
  mapfile -t objects < <(run_inside ninja -C "$inside/build" -t targets all | sed -n 's/: CXX_COMPILER.*//p' | grep -E "$2" |
    grep -v counted_allocations) # operator new of the host, which nvcc takes for the device's as well
  [[ ${#objects[@]} -gt 0 ]] || die "the build has no $what"
  say "compiling ${#objects[@]} objects: $what"
  run_inside ninja -C "$inside/build" -k 0 -j "$jobs" "${objects[@]}" </dev/null >"$log" 2>&1 || failed=yes
  if [[ $failed == yes ]]; then
    grep '^FAILED: ' "$log" | tee -a "$report" || tail -n 5 "$log"
    die "of $what $(grep -c '^FAILED: ' "$log" || true) of ${#objects[@]} objects failed (the whole log: $log)"
  fi
  with_code=$(count_device_code "${objects[@]}")
  [[ $with_code -gt 0 || $what == plugin ]] || die "no object of $what has code for the device"
  say "$what: ${#objects[@]} objects compiled, $with_code of them with code for the device"
}

# Of these objects, those that hold code for the device.
count_device_code() {
  local object count=0
  for object in "$@"; do
    if [[ $device == HIP ]]; then
      ! grep -qaF "$code_mark" "$place/build/$object" || count=$((count + 1))
    else
      [[ $("$code_reader" --dump-elf-symbols "$place/build/$object" 2>/dev/null) != *STO_ENTRY* ]] || count=$((count + 1))
    fi
  done
  echo "$count"
}

prove_headers() {
  local part compiled=()
  describe_device
  fetch_headers
  quietly objects-configure.log run_inside cmake -G Ninja -S "$sources" -B "$inside/build" "-DTrilinos_DIR=$inside/package" \
    -DCMAKE_BUILD_TYPE=Release -DCAPSTAN_LIBRARY_ONLY=ON -DCAPSTAN_BENCHMARKS=OFF \
    "-DCAPSTAN_WERROR=$werror" "${compiler_options[@]}"
  for part in "${header_parts[@]}"; do
    compile_objects "${part%%=*}" "${part#*=}"
    compiled+=("${part%%=*}")
    verdict="objects compiled of these parts alone: ${compiled[*]}"
    [[ ${part%%=*} != "$until" ]] || return 0
  done
  verdict="all objects compiled"
}
