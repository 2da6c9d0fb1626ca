#!/usr/bin/env bash
# Runs the clients of all hosts with their own solvers and with Capstan's: hypre's drivers, MFEM's examples, Nalu-wind's solver by
# hypre, PETSc's tutorials, a program of dolfinx, cases of code_saturne. Needs Debian 12 and, for what is missing, root.
#
# usage: prove.sh [--hypre DIR] [--mfem DIR] [--nalu DIR] [--petsc DIR] [--latency] [--record]
#
# DIR: sources, or a git directory of them; one that is not given is cloned from GitHub.
# --latency: measures instead, without and with 200 us for an all-reduce; nothing else may run on the machine.
# --record: copies what was printed beside the scripts that printed it (clients.log, demo.log or times.log).
# Exit status: 0 all within what is allowed, 1 not, 2 wrong use.
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# The tags that the clients are built from stand in their scripts.
declare -A repositories=([hypre]=hypre-space/hypre [mfem]=mfem/mfem [nalu]=Exawind/nalu-wind [petsc]=petsc/petsc) sources=()
needed=(libhypre-dev libmetis-dev libpetsc-real-dev libpetsc3.18-dev-examples pkg-config python3-numpy python3-yaml python3-dolfinx-real
  code-saturne-bin code-saturne-data code-saturne-include git make)

refuse() {
  echo "prove.sh: $1" >&2
  exit 2
}

latency="" record=""
while (($#)); do
  case $1 in
    --latency) latency=1 ;;
    --record) record=1 ;;
    --*)
      [[ -n ${repositories[${1#--}]:-} ]] || refuse "$1: allowed: --hypre, --mfem, --nalu, --petsc, --latency, --record"
      [[ $# -gt 1 && -d $2 ]] || refuse "$1: ${2:-nothing}: a folder is needed"
      sources[${1#--}]=$(cd "$2" && pwd)
      shift
      ;;
    *) refuse "$1: unknown; see the head of the script" ;;
  esac
  shift
done

missing=()
for package in "${needed[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "ok installed" || missing+=("$package")
done
if ((${#missing[@]})); then
  [[ $(id -u) == 0 ]] || refuse "these packages are missing: ${missing[*]}"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for name in "${!repositories[@]}"; do
  [[ -n ${sources[$name]:-} ]] && continue
  git clone --quiet --bare --filter=blob:none "https://github.com/${repositories[$name]}" "$scratch/$name" ||
    refuse "--$name: https://github.com/${repositories[$name]} cannot be cloned; name a folder of it"
  sources[$name]=$scratch/$name
done

"$root/capstan" build capstanHypre capstanPetsc capstanSaturne capstan_bench

failed=()
# client <folder of regression> <log beside the script> <command...>
client() {
  local folder=$1 log=$1/$2
  shift 2
  echo "== $folder"
  mkdir -p "$scratch/log/$folder"
  /usr/bin/python3 "$@" 2>&1 | tee "$scratch/log/$log" || failed+=("$folder")
  [[ -z $record ]] || cp "$scratch/log/$log" "$root/regression/$log"
}
if [[ -n $latency ]]; then
  latencies=(--latency 0 200) minutes=(--minutes 5) hypre=times petsc=times dolfinx=times saturne=times cases=(64x64 32x32x32)
else
  latencies=() minutes=() hypre=clients petsc=clients dolfinx=demo saturne=clients cases=(24x24 64x64 32x32x32)
fi
regression=$root/regression library=$root/build/lib
client hypre $hypre.log "$regression/hypre/run_clients.py" "${sources[hypre]}" --mfem "${sources[mfem]}" --nalu "${sources[nalu]}" "${latencies[@]}"
client petsc $petsc.log "$regression/petsc/run_clients.py" "${sources[petsc]}" "${latencies[@]}" "${minutes[@]}"
client dolfinx $dolfinx.log "$regression/dolfinx/run_demo.py" "$library/libcapstanPetsc.so" "${latencies[@]}" "${minutes[@]}"
client saturne $saturne.log "$regression/saturne/run_case.py" "$library/libcapstanSaturne.so" --case "${cases[@]}" --ranks 1 2 4 \
  "${latencies[@]}" "${minutes[@]}"

if ((${#failed[@]})); then
  echo "prove.sh: not as it has to be: ${failed[*]}" >&2
  exit 1
fi
echo "prove.sh: the clients of all hosts have run; what was compared is within what is allowed"
