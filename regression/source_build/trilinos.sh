# Trilinos out of Debian's source package: Kokkos, KokkosKernels, Teuchos, Tpetra and Belos for double, Tpetra's usual
# ordinals and one backend; with cuda17 also Ifpack2 and MueLu, in parts. Sourced by prove.sh, which sets `here`, `work`,
# `prefix`, `backend`, `until`, `jobs` and, for CUDA, `cuda` and `arch`, and has the functions `say`, `die` and `quietly`.
# shellcheck shell=bash disable=SC2154

# Sets `source_folder` and `source_version`.
find_trilinos_source() {
  local more_packages=()
  [[ $backend != cuda17 ]] || more_packages=('*/packages/ifpack2/*' '*/packages/xpetra/*' '*/packages/muelu/*')
  source_folder=$work/trilinos-source
  if [[ -n ${CAPSTAN_TRILINOS_SOURCE:-} ]]; then
    source_folder=$CAPSTAN_TRILINOS_SOURCE
    [[ -e $source_folder/packages/tpetra/CMakeLists.txt ]] ||
      die "CAPSTAN_TRILINOS_SOURCE is $source_folder, which holds no packages/tpetra/CMakeLists.txt"
    source_version="of $source_folder"
    return
  fi
  if [[ ! -e $source_folder/CMakeLists.txt ]]; then
    if [[ $backend == cuda* ]]; then debian_packages; else prepare_apt "$(debian_release)"; fi
    # Of the packages that are not built CMake reads a few files all the same.
    unpack_trilinos "$source_folder" --strip-components=1 --wildcards '*/*.cmake' '*/CMakeLists.txt' '*/README' \
      '*/LICENSE' '*/Copyright.txt' '*/cmake/*' '*/commonTools/*' '*/packages/kokkos/*' '*/packages/kokkos-kernels/*' \
      '*/packages/teuchos/*' '*/packages/tpetra/*' '*/packages/belos/*' "${more_packages[@]}"
  fi
  source_version="Debian's $(<"$source_folder.version")"
}

# The options of Trilinos' CMake, one a line.
trilinos_options() {
  local shared=ON serial=OFF standard=17
  [[ $backend != serial-static ]] || shared=OFF serial=ON
  [[ $backend != cuda17 ]] || standard=20
  printf '%s\n' -DBUILD_SHARED_LIBS=$shared -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=$standard -DCMAKE_CXX_EXTENSIONS=OFF \
    -DCMAKE_CXX_FLAGS=-w -DTPL_ENABLE_MPI=ON -DTPL_ENABLE_BLAS=ON -DTPL_ENABLE_LAPACK=ON -DTPL_ENABLE_DLlib=OFF \
    -DTpetraCore_ENABLE_TSQR=ON \
    -DTrilinos_ENABLE_ALL_OPTIONAL_PACKAGES=OFF -DTrilinos_ENABLE_SECONDARY_TESTED_CODE=OFF \
    -DTrilinos_ENABLE_TESTS=OFF -DTrilinos_ENABLE_EXAMPLES=OFF -DTrilinos_ENABLE_Fortran=OFF \
    -DTrilinos_ASSERT_MISSING_PACKAGES=OFF -DTrilinos_ENABLE_EXPLICIT_INSTANTIATION=ON \
    -DTpetra_INST_DOUBLE=ON -DTpetra_INST_FLOAT=OFF -DTpetra_INST_COMPLEX_FLOAT=OFF -DTpetra_INST_COMPLEX_DOUBLE=OFF \
    -DTpetra_INST_INT_LONG_LONG=ON -DTpetra_INST_SERIAL=$serial -DKokkos_ENABLE_SERIAL=ON \
    -DKokkosKernels_INST_ORDINAL_INT64_T=OFF -DKokkosKernels_INST_OFFSET_INT=OFF \
    -DKokkosKernels_INST_EXECSPACE_SERIAL=$serial
  if [[ $backend != cuda* ]]; then
    # Only tests run on it: half the time of a build for speed.
    printf '%s\n' "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" "-DCMAKE_PROJECT_Trilinos_INCLUDE=$here/unity.cmake"
    [[ $backend != openmp ]] || printf '%s\n' -DTrilinos_ENABLE_OpenMP=ON -DKokkos_ENABLE_OPENMP=ON -DTpetra_INST_OPENMP=ON
  else
    printf '%s\n' -DTPL_ENABLE_CUDA=ON "-DCUDA_TOOLKIT_ROOT_DIR=$cuda" "-DCUDAToolkit_ROOT=$cuda" -DTPL_ENABLE_CUBLAS=OFF \
      -DTPL_ENABLE_CUSOLVER=OFF -DTPL_ENABLE_CUSPARSE=OFF -DKokkos_ENABLE_CUDA=ON -DKokkos_ENABLE_CUDA_LAMBDA=ON \
      "-DKokkos_ARCH_$arch=ON" -DTpetra_INST_CUDA=ON "-DCMAKE_PROJECT_Trilinos_INCLUDE=$here/unity.cmake"
    # Tpetra 13.2 wants unified memory, and then uses no other. Trilinos 17 has none.
    if [[ $backend == cuda17 ]]; then
      printf '%s\n' -DTpetra_INST_INT_INT=OFF -DKokkosKernels_ENABLE_TPL_CUBLAS=OFF \
        -DKokkosKernels_ENABLE_TPL_CUSOLVER=OFF -DKokkosKernels_ENABLE_TPL_CUSPARSE=OFF
    else
      printf '%s\n' -DKokkos_ENABLE_CUDA_UVM=ON -DKokkosKernels_INST_MEMSPACE_CUDASPACE=OFF
    fi
  fi
}

# The packages of each part; all other backends build the first two in one.
packages_of_part() {
  case $1 in
    base) echo Kokkos KokkosKernels Teuchos ;;
    tpetra) echo Tpetra TpetraTSQR Belos ;;
    ifpack2) echo Ifpack2 ;;
    muelu) echo MueLu ;;
  esac
}

# Builds Trilinos into `prefix`, or takes the one that is there.
build_trilinos() {
  local part packages=()
  find_trilinos_source
  [[ $backend != cuda ]] || teach_kokkos "$source_folder/packages/kokkos" "$arch"
  if [[ $backend != cuda17 ]]; then
    build_part "all" Tpetra TpetraTSQR Belos
    return
  fi
  for part in base tpetra ifpack2 muelu; do
    read -ra packages <<<"${packages[*]} $(packages_of_part "$part")"
    build_part "$part" "${packages[@]}"
    verdict="Trilinos built with the part $part, Capstan not built"
    [[ $part != "$until" ]] || return 0
  done
}

# build_part <name> <packages>: into `prefix`. A stamp says from what and how it was built: a part that is there is not built
# again, and one that was stopped goes on with the objects that it has.
build_part() {
  local name=$1 options stamp file=$prefix/capstan-built-from
  shift
  [[ $name == all ]] || file+=-$name
  mapfile -t options < <(trilinos_options && printf -- '-DTrilinos_ENABLE_%s=ON\n' "$@")
  # Whichever clone asks: what its files say counts, not where it lies.
  stamp=$(printf '%s\n' "Trilinos: $source_version" "${options[@]//"$here"\//}" "$(cksum <"$here/unity.cmake")")
  if [[ -e $file && $(<"$file") == "$stamp" ]]; then
    say "Trilinos ($source_version), part $name: the one in $prefix"
    return
  fi
  [[ ! -e $prefix || -n $(find "$prefix" -maxdepth 1 -name 'capstan-built-from*') || -z $(ls -A "$prefix") ]] ||
    die "$prefix holds something else; name a folder that does not exist"
  say "building Trilinos ($source_version), part $name ($*), with $backend into $prefix"
  # An earlier part stays: a later one adds to it.
  [[ $name != all && $name != base ]] || rm -rf "$prefix" "$work/build-trilinos/CMakeCache.txt"
  mkdir -p "$prefix"
  # Ours, though not yet complete.
  echo unfinished >"$file"
  quietly "trilinos-$name-configure.log" cmake -G Ninja -S "$source_folder" -B "$work/build-trilinos" \
    "-DCMAKE_INSTALL_PREFIX=$prefix" "${options[@]}"
  quietly "trilinos-$name-build.log" ninja -C "$work/build-trilinos" -j "$jobs" install
  printf '%s\n' "$stamp" >"$file"
}
