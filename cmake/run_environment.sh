#!/bin/sh
# run_environment.sh [--oversubscribed] [--threads] [--quiet] [mpirun]
#
# Prints what an MPI run of Capstan needs in its environment with this mpirun (default: the one on the PATH), NAME=VALUE a
# line: see run-environment.txt, where these words say for which runs a line is meant.
set -eu
kinds=""
mpirun=mpirun
for word; do
  case $word in
    --oversubscribed | --threads | --quiet) kinds="$kinds ${word#--} " ;;
    --*)
      echo "run_environment.sh: found '$word'; allowed: --oversubscribed, --threads, --quiet" >&2
      exit 2
      ;;
    *) mpirun=$word ;;
  esac
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
