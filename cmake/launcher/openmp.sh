# `./capstan test --openmp`: the kernel tests on threads. Sourced by the launcher.
# shellcheck shell=bash

# openmp [arguments of ctest]
openmp() {
  local folder=$build_dir-openmp status=0 JOBS CAPSTAN_WERROR
  ensure_packages build
  lock "$folder"
  JOBS=$(parallel_jobs)
  CAPSTAN_WERROR=$(on_or_off on_debian 12)
  export JOBS CAPSTAN_WERROR
  "$root/tpetra_ext/kernels/openmp/build_and_test.sh" "$folder" "$@" 9>&- || status=$?
  unlock
  return "$status"
}
