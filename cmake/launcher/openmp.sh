# `./capstan test --openmp`: the kernel tests on threads; with --solvers those of the solvers, too. Sourced by the launcher.
# shellcheck shell=bash

# openmp [--solvers] [arguments of ctest]
openmp() {
  local folder=$build_dir-openmp status=0 JOBS CAPSTAN_WERROR
  local script=("$root/tpetra_ext/kernels/openmp/build_and_test.sh" "$folder")
  if [[ ${1:-} == --solvers ]]; then
    shift
    script=("$root/regression/source_build/prove.sh" --backend openmp --folder "$folder" --)
  fi
  ensure_packages build
  lock "$folder"
  JOBS=$(parallel_jobs)
  CAPSTAN_WERROR=$(on_or_off on_debian 12)
  export JOBS CAPSTAN_WERROR
  "${script[@]}" "$@" 9>&- || status=$?
  unlock
  return "$status"
}
