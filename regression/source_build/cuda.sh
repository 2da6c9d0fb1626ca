# The compilers of both builds, for NVIDIA's devices, and what is measured there. Sourced by prove.sh, which sets `backend`,
# `headers`, `here`, `work` and `report`, and has the functions `say` and `die`; the toolkit is that of
# tpetra_ext/kernels/cuda/toolkit.sh, Trilinos' source that of trilinos.sh.
# shellcheck shell=bash disable=SC2154

# The compiler of both builds. Trilinos takes it through the MPI wrapper.
prepare_compiler_of_backend() {
  local c_compiler
  compiler_options=()
  [[ $backend == cuda* ]] || return 0
  # Among CUDA's programs is another gcc.
  c_compiler=$(command -v cc || true)
  [[ -n $c_compiler ]] || die "the C compiler cc is missing; on Debian: apt-get install gcc"
  prepare_compiler
  prepare_cuda
  export NVCC_WRAPPER_DEFAULT_COMPILER=$host_compiler
  local wrapper=$here/nvcc_for_headers.sh
  if [[ $headers == no ]]; then
    find_trilinos_source
    wrapper=$source_folder/packages/kokkos/bin/nvcc_wrapper
    [[ -x $wrapper ]] || chmod +x "$wrapper"
  fi
  export OMPI_CXX=$wrapper MPICH_CXX=$wrapper OMPI_CC=$c_compiler MPICH_CC=$c_compiler
  # nvcc takes no precompiled header of GCC's.
  compiler_options=("-DCMAKE_C_COMPILER=$c_compiler" "-DCMAKE_CXX_COMPILER=$wrapper" -DCAPSTAN_PCH=OFF)
  say "$(nvcc --version | grep release), $("$host_compiler" --version | head -n 1)"
}

# forbid_warnings_of_nvcc <ON or OFF>. What holds no kernel is compiled for the old device that nvcc_wrapper takes for want of
# another, which nvcc complains of. Of nvcc's own warnings -Werror of the host's compiler says nothing. To nvcc it is only a
# warning when device code calls a host function; the result would be wrong.
forbid_warnings_of_nvcc() {
  local forbidden=cross-execution-space-call
  [[ $1 != ON ]] || forbidden=all-warnings,$forbidden
  export NVCC_APPEND_FLAGS="-Wno-deprecated-gpu-targets -Werror $forbidden"
}

has_gpu() {
  command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU
}

# run_benchmarks: kernels, and whole solves on one rank, into the report. The JSON files stay in the folder.
run_benchmarks() {
  local bin=$work/build-capstan/bin cells group
  if [[ -x $bin/kernels_benchmark ]]; then
    say "kernels: bytes a second, and over the triad's"
    "$bin/kernels_benchmark" --benchmark_out="$work/kernels_benchmark.json" --benchmark_out_format=json 2>&1 | tee -a "$report"
  else
    say "kernels_benchmark NOT RUN: built without Google Benchmark (libbenchmark-dev)"
  fi
  # Without cuBLAS Belos' GMRES types take seconds a solve: not in the larger ones.
  for cells in 48 96 192; do
    group=()
    [[ $cells -le 48 ]] || group=(--group CG)
    say "solvers: device_bench --cells $cells ${group[*]}"
    "$bin/device_bench" --cells "$cells" "${group[@]}" --tolerance 1e-6 --repeat 3 \
      --output "$work/device_bench_$cells.json" 2>&1 | tee -a "$report"
  done
}
