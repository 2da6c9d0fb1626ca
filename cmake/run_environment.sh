#!/bin/sh
# run_environment.sh [--ranks N | --oversubscribed] [--threads] [--quiet] [mpirun]
#
# Prints what an MPI run of Capstan needs in its environment with this mpirun (default: the one on the PATH), NAME=VALUE a
# line: see run-environment.txt, where these words say for which runs a line is meant. --ranks N: oversubscribed where this
# machine has fewer cores; --oversubscribed: the number of ranks is not known, or others run beside them.
set -eu
kinds=""
mpirun=mpirun
fail() {
  echo "run_environment.sh: $*" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    --oversubscribed | --threads | --quiet) kinds="$kinds ${1#--} " ;;
    --ranks)
      case ${2:-} in
        "" | 0* | *[!0-9]*) fail "--ranks: found '${2:-}'; allowed: a whole number from 1 on" ;;
      esac
      # nproc alone takes OMP_NUM_THREADS, which is about threads in a program, for the number of cores.
      [ "$2" -le "$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)" ] || kinds="$kinds oversubscribed "
      shift
      ;;
    --*) fail "found '$1'; allowed: --ranks N, --oversubscribed, --threads, --quiet" ;;
    *) mpirun=$1 ;;
  esac
  shift
done
major=$("$mpirun" --version 2>/dev/null | sed -nE 's/.*(Open MPI\)|OpenRTE\)) v?([0-9]+).*/\2/p' | head -n 1) || major=
mpi=other
if [ -n "$major" ]; then
  mpi=openmpi-$((major > 6 ? 6 : major))
fi
awk -v mpi="$mpi" -v kinds="$kinds" '
  /^#/ || NF == 0 { next }
  { first = 1 }
  $1 == "oversubscribed" || $1 == "threads" || $1 == "quiet" { if (!index(kinds, " " $1 " ")) next; first = 2 }
  first == NF || $first == mpi { print $NF }' "$(dirname -- "$0")/run-environment.txt"
