#!/usr/bin/env bash
# Packs the test programs of a build, their libraries and MPI into one archive that runs where nothing but the driver of
# the device is installed (packed_run.sh, there called run).
#
# usage: pack.sh --build DIR --out FILE.tar.xz [--libraries DIR]... [--program NAME]... [--most MIB]
#
# --build: a build folder of Capstan with shared libraries, as prove.sh makes it. --libraries: where the loader finds what
# the programs need beside the system's folders: Trilinos, CUDA. --program: these alone (default: the unit tests and the
# benchmarks that need no file, as far as they are built). --most: the largest archive (default: 60 MiB).
# From the system come Open MPI with its parts for one machine, and all libraries but those of the C library, which fit the
# kernel and stay. On the other machine: mkdir proof; tar -xJf FILE -C proof; proof/run --help
# Exit status: 0 packed, 1 not, 2 wrong use. A file of that name is replaced only by a whole archive.
set -euo pipefail
unset CDPATH

here=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
build="" out="" most=60 libraries=() chosen=()
tests=(kernels core reductions exchange operators node_aware_operator panels orthogonality solvers solver_facts)
benchmarks=(kernels_benchmark device_bench)

die() {
  printf 'pack.sh: error: %s\n' "$*" >&2
  exit 1
}
wrong_use() {
  printf 'pack.sh: %s\n' "$*" >&2
  exit 2
}

read_arguments() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      --build | --out | --libraries | --program | --most) [[ -n ${2:-} ]] || wrong_use "$1: a value is missing" ;;&
      --build) build=$2 && shift ;;
      --out) out=$2 && shift ;;
      --libraries) libraries+=("$2") && shift ;;
      --program) chosen+=("$2") && shift ;;
      --most) most=$2 && shift ;;
      -h | --help)
        sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"
        exit 0
        ;;
      *) wrong_use "unknown argument '$1'; allowed: --build, --out, --libraries, --program, --most, --help" ;;
    esac
    shift
  done
  [[ -n $build && -n $out ]] || wrong_use "--build and --out are needed"
  [[ -d $build/test ]] || wrong_use "--build: found '$build', which has no folder test"
  [[ $most =~ ^[1-9][0-9]*$ ]] || wrong_use "--most: found '$most'; allowed: a whole number of MiB from 1 on"
}

programs() {
  local name folder
  if [[ ${#chosen[@]} -eq 0 ]]; then
    for name in "${tests[@]/%/_test}"; do [[ ! -x $build/test/$name ]] || printf '%s\n' "$build/test/$name"; done
    for name in "${benchmarks[@]}"; do [[ ! -x $build/bin/$name ]] || printf '%s\n' "$build/bin/$name"; done
    return 0
  fi
  for name in "${chosen[@]}"; do
    for folder in test bin; do
      [[ ! -x $build/$folder/$name ]] || { printf '%s\n' "$build/$folder/$name" && continue 2; }
    done
    die "--program: found '$name', which $build has neither in test nor in bin"
  done
}

# Where this Open MPI has its parts, asked of itself.
openmpi_folder() { ompi_info --path "$1" --parsable | sed 's/^path:[^:]*://'; }

needed_libraries() {
  ldd "$@" 2>/dev/null | awk '/=> \//{print $3}' | sort -u |
    grep -vE '/(libc|libm|libpthread|libdl|librt|ld-linux[^/]*)\.so' || true
}

copy_openmpi() {
  local tree=$1 parts
  parts=$(openmpi_folder pkglibdir)
  mkdir -p "$tree/parts" "$tree/share"
  # Those that talk to networks want their drivers.
  find "$parts" -maxdepth 1 -name 'mca_*.so' ! -regex '.*_\(ucx\|ofi\|psm2?\|openib\|usnic\|portals4\|ucc\|hcoll\|cuda\).*' \
    -exec cp -L {} "$tree/parts/" \;
  cp -RL "$(openmpi_folder pkgdatadir)/." "$tree/share/"
  cp -L "$(command -v orterun)" "$tree/bin/mpirun"
  cp -L "$(command -v orted)" "$tree/bin/orted"
}

read_arguments "$@"
for tool in orterun orted ompi_info ldd strip xz tar; do
  command -v "$tool" >/dev/null || die "the program $tool is missing; on Debian: apt-get install openmpi-bin binutils xz-utils"
done
list=$(programs) || exit 1
mapfile -t found < <(printf '%s' "$list")
[[ ${#found[@]} -gt 0 ]] || die "$build holds none of the programs to pack"

tree=$(mktemp -d)
trap 'rm -rf -- "$tree" "$out.part"' EXIT
mkdir -p "$tree/bin" "$tree/lib"
cp -- "${found[@]}" "$tree/bin/"
copy_openmpi "$tree"
LD_LIBRARY_PATH=$build/lib$(printf ':%s' "${libraries[@]}")
export LD_LIBRARY_PATH
mapfile -t wanted < <(needed_libraries "${found[@]}" "$tree"/parts/*.so "$tree/bin/mpirun" "$tree/bin/orted")
cp -L -- "${wanted[@]}" "$tree/lib/"
missing=$(ldd "${found[@]}" | grep 'not found' | grep -v 'libcuda\.so' | sort -u || true)
[[ -z $missing ]] || die "the loader does not find: $missing (--libraries names more folders)"
find "$tree/bin" "$tree/lib" "$tree/parts" -type f -exec strip --strip-unneeded {} + 2>/dev/null
install -m 755 "$here/packed_run.sh" "$tree/run"
tar -C "$tree" -cf - . | xz -T0 -3 >"$out.part"
size=$(($(stat -c %s "$out.part") / 1048576 + 1))
[[ $size -le $most ]] || die "the archive would have $size MiB; at most $most are allowed (--most)"
mv -- "$out.part" "$out"
printf '%s: %s MiB, %s programs\n' "$out" "$size" "${#found[@]}"
