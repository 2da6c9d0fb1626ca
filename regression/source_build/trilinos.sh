# Trilinos out of Debian's source package: Kokkos, KokkosKernels, Teuchos, Tpetra and Belos for double, Tpetra's usual
# ordinals and one backend. Sourced by prove.sh, which sets `here`, `work`, `prefix`, `backend`, `jobs` and, for CUDA, `cuda`
# and `arch`, and has the functions `say`, `die` and `quietly`.
# shellcheck shell=bash disable=SC2154

# Sets `source_folder` and `source_version`.
find_trilinos_source() {
  source_folder=$work/trilinos-source
  if [[ -n ${CAPSTAN_TRILINOS_SOURCE:-} ]]; then
    source_folder=$CAPSTAN_TRILINOS_SOURCE
    [[ -e $source_folder/packages/tpetra/CMakeLists.txt ]] ||
      die "CAPSTAN_TRILINOS_SOURCE is $source_folder, which holds no packages/tpetra/CMakeLists.txt"
    source_version="of $source_folder"
    return
  fi
  if [[ ! -e $source_folder/CMakeLists.txt ]]; then
    if [[ $backend == cuda ]]; then debian_packages; else prepare_apt "$(debian_release)"; fi
    # Of the packages that are not built CMake reads a few files all the same.
    unpack_trilinos "$source_folder" --strip-components=1 --wildcards '*/*.cmake' '*/CMakeLists.txt' '*/README' \
      '*/LICENSE' '*/Copyright.txt' '*/cmake/*' '*/commonTools/*' '*/packages/kokkos/*' '*/packages/kokkos-kernels/*' \
      '*/packages/teuchos/*' '*/packages/tpetra/*' '*/packages/belos/*'
  fi
  source_version="Debian's $(<"$source_folder.version")"
}

# The options of Trilinos' CMake, one a line.
trilinos_options() {
  local shared=ON serial=OFF
  [[ $backend != serial-static ]] || shared=OFF serial=ON
  printf '%s\n' -DBUILD_SHARED_LIBS=$shared -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=17 -DCMAKE_CXX_EXTENSIONS=OFF \
    -DCMAKE_CXX_FLAGS=-w -DTPL_ENABLE_MPI=ON -DTPL_ENABLE_BLAS=ON -DTPL_ENABLE_LAPACK=ON -DTPL_ENABLE_DLlib=OFF \
    -DTrilinos_ENABLE_Tpetra=ON -DTrilinos_ENABLE_TpetraTSQR=ON -DTpetraCore_ENABLE_TSQR=ON -DTrilinos_ENABLE_Belos=ON \
    -DTrilinos_ENABLE_ALL_OPTIONAL_PACKAGES=OFF -DTrilinos_ENABLE_SECONDARY_TESTED_CODE=OFF \
    -DTrilinos_ENABLE_TESTS=OFF -DTrilinos_ENABLE_EXAMPLES=OFF -DTrilinos_ENABLE_Fortran=OFF \
    -DTrilinos_ASSERT_MISSING_PACKAGES=OFF -DTrilinos_ENABLE_EXPLICIT_INSTANTIATION=ON \
    -DTpetra_INST_DOUBLE=ON -DTpetra_INST_FLOAT=OFF -DTpetra_INST_COMPLEX_FLOAT=OFF -DTpetra_INST_COMPLEX_DOUBLE=OFF \
    -DTpetra_INST_INT_LONG_LONG=ON -DTpetra_INST_SERIAL=$serial -DKokkos_ENABLE_SERIAL=ON \
    -DKokkosKernels_INST_ORDINAL_INT64_T=OFF -DKokkosKernels_INST_OFFSET_INT=OFF \
    -DKokkosKernels_INST_EXECSPACE_SERIAL=$serial
  if [[ $backend != cuda ]]; then
    # Only tests run on it: half the time of a build for speed.
    printf '%s\n' "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" "-DCMAKE_PROJECT_Trilinos_INCLUDE=$here/unity.cmake"
    [[ $backend != openmp ]] || printf '%s\n' -DTrilinos_ENABLE_OpenMP=ON -DKokkos_ENABLE_OPENMP=ON -DTpetra_INST_OPENMP=ON
  else
    # Tpetra 13.2 wants unified memory, and then uses no other.
    printf '%s\n' -DTPL_ENABLE_CUDA=ON "-DCUDA_TOOLKIT_ROOT_DIR=$cuda" "-DCUDAToolkit_ROOT=$cuda" -DTPL_ENABLE_CUBLAS=OFF \
      -DTPL_ENABLE_CUSOLVER=OFF -DTPL_ENABLE_CUSPARSE=OFF -DKokkos_ENABLE_CUDA=ON -DKokkos_ENABLE_CUDA_LAMBDA=ON \
      -DKokkos_ENABLE_CUDA_UVM=ON "-DKokkos_ARCH_$arch=ON" -DTpetra_INST_CUDA=ON \
      -DKokkosKernels_INST_MEMSPACE_CUDASPACE=OFF "-DCMAKE_PROJECT_Trilinos_INCLUDE=$here/unity.cmake"
  fi
}

# Builds Trilinos into `prefix`, or takes the one that is there: its stamp says from what and how it was built.
build_trilinos() {
  local options stamp
  find_trilinos_source
  mapfile -t options < <(trilinos_options)
  # Whichever clone asks: what its files say counts, not where it lies.
  stamp=$(printf '%s\n' "Trilinos: $source_version" "${options[@]//"$here"\//}" "$(cksum <"$here/unity.cmake")")
  if [[ -e $prefix/capstan-built-from && $(<"$prefix/capstan-built-from") == "$stamp" ]]; then
    say "Trilinos ($source_version): the one in $prefix"
    return
  fi
  [[ ! -e $prefix || -e $prefix/capstan-built-from || -z $(ls -A "$prefix") ]] ||
    die "$prefix holds something else; name a folder that does not exist"
  [[ $backend != cuda ]] || teach_kokkos "$source_folder/packages/kokkos" "$arch"
  say "building Trilinos ($source_version) with $backend into $prefix"
  rm -rf "$prefix" "$work/build-trilinos/CMakeCache.txt"
  mkdir -p "$prefix"
  # Ours, though not yet complete.
  echo unfinished >"$prefix/capstan-built-from"
  quietly trilinos-configure.log cmake -G Ninja -S "$source_folder" -B "$work/build-trilinos" \
    "-DCMAKE_INSTALL_PREFIX=$prefix" "${options[@]}"
  quietly trilinos-build.log ninja -C "$work/build-trilinos" -j "$jobs" install
  printf '%s\n' "$stamp" >"$prefix/capstan-built-from"
}
