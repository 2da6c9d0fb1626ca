#!/usr/bin/env bash
# Proves that the two commands of the README do everything on a fresh machine.
#
# usage (as root): prove.sh [--suite NAME] [--cores N] [--keep] [--werror] [--folder DIR] [--with DIR] [--log FILE] [command ...]
#
# Makes a bare tree of that Debian with debootstrap (bookworm, the default: Debian 12; trixie: 13; sid: unstable;
# experimental: unstable with the Trilinos of experimental), from the mirror this machine uses, puts a clone of the committed
# sources into it, with the folder shared/ beside them if there is one, and runs there, in a chroot on N cores (default 2)
# without terminal, standard input or environment:
#   ./capstan run app-inputs/openfoam/cavity3d
#   ./capstan test
# or the commands given, one word each. The exit status tells how they ended: 0 proved, 1 not; 2 wrong use.
#   --keep    the machine stays, in DIR/capstan-machine-NAME, with what was built in it. The next call with --keep takes it
#             again, gives it the sources as they are committed then, and builds what changed. So tests that failed can be
#             run again alone: prove.sh --suite NAME --keep "./capstan test --rerun-failed". -F instead goes on where a run
#             of tests was interrupted.
#   --werror  warnings of our own code are errors there, with any compiler
#   --folder  DIR, where the machine is made, instead of /var/tmp (10 GB are needed)
#   --with    files of DIR, copied to /root/given of the machine
#   --log     a summary goes to FILE: machine, commit, versions, what passed, what failed. A later run in a machine that was
#             kept is added to it. Without --log, the two commands above write <suite>.log beside this script.
# On a terminal all that the commands print is shown. In a pipe a line a minute tells how far they are, and the summary
# follows at the end. DIR/capstan-fresh-<suite>.log has all of it. Not part of CI: it downloads about 1 GB.
set -euo pipefail
unset CDPATH

here=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
root=$(cd -- "$here/../.." && pwd)
given=("$@")
suite=bookworm cores=2 keep=no folder=/var/tmp given_files="" summary="" commands=() variables=()
cores_here=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
# Its say(), fail() and report().
# shellcheck source=cmake/launcher/output.sh
source "$root/cmake/launcher/output.sh"
# shellcheck source=regression/fresh_machine/bare_debian.sh
source "$here/bare_debian.sh"

while [[ $# -gt 0 ]]; do
  case $1 in
    --suite)
      [[ ${2:-} =~ ^(bookworm|trixie|sid|experimental)$ ]] ||
        fail 2 "--suite: found '${2:-}'; allowed: bookworm, trixie, sid, experimental"
      suite=$2
      shift
      ;;
    --cores)
      [[ ${2:-} =~ ^[1-9][0-9]*$ && $2 -le $cores_here ]] || fail 2 "--cores: found '${2:-}'; allowed: 1 to $cores_here"
      cores=$2
      shift
      ;;
    --folder)
      [[ -d ${2:-} ]] || fail 2 "--folder: found '${2:-}', which is no folder"
      folder=$(cd -- "$2" && pwd -P)
      shift
      ;;
    --with)
      [[ -d ${2:-} ]] || fail 2 "--with: found '${2:-}', which is no folder"
      given_files=$(cd -- "$2" && pwd -P)
      shift
      ;;
    --log)
      [[ -n ${2:-} && -d $(dirname -- "$2") && ! -d $2 ]] || fail 2 "--log: found '${2:-}'; it must be a file in a folder that exists"
      summary=$(readlink -f -- "$2")
      shift
      ;;
    --keep) keep=yes ;;
    --werror) variables+=(CAPSTAN_WERROR=ON) ;;
    -h | --help)
      sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    -*) fail 2 "unknown option '$1'; allowed: --suite, --cores, --keep, --werror, --folder, --with, --log, --help" ;;
    *) commands+=("$1") ;;
  esac
  shift
done
if [[ ${#commands[@]} -eq 0 ]]; then
  commands=("./capstan run app-inputs/openfoam/cavity3d" "./capstan test")
  summary=${summary:-$here/$suite.log}
fi

[[ $(id -u) -eq 0 ]] || fail 1 "debootstrap and chroot need root"
for tool in debootstrap git taskset unshare; do
  command -v "$tool" >/dev/null || fail 1 "'$tool' is missing: apt-get install debootstrap git util-linux"
done
# What is mounted below is gone with this process, however it ends.
[[ ${CAPSTAN_OWN_MOUNTS:-} == "$$" ]] || CAPSTAN_OWN_MOUNTS=$$ exec unshare --mount --propagation private -- "$0" "${given[@]}"

mirror=$(debian_mirror)

kept=no
if [[ $keep == yes ]]; then
  tree=$folder/capstan-machine-$suite
  exec 8>"$tree.lock"
  flock -n 8 || fail 1 "another prove.sh is at work in $tree"
  # The date is written when a machine is complete.
  [[ ! -s $tree/etc/capstan-machine ]] || kept=yes
  [[ $kept == yes || ! -e $tree ]] || fail 1 "$tree is an unfinished machine, or none at all; delete it first"
  mkdir -p -- "$tree"
else
  tree=$(mktemp -d "$folder/capstan-fresh-tree.XXXXXX")
fi
log=$folder/capstan-fresh-$suite.log

# end_all: ends whatever still runs in the tree, after Ctrl-C for instance.
end_all() {
  local process
  for process in /proc/[0-9]*; do
    [[ $(readlink "$process/root" 2>/dev/null) != "$tree" ]] || kill -KILL "${process#/proc/}" 2>/dev/null || true
  done
}

cleanup() {
  local mounted
  end_all
  for mounted in dev/shm dev/pts dev sys proc; do
    ! mountpoint -q "$tree/$mounted" || umount -l "$tree/$mounted"
  done
  if [[ $keep == yes && -s $tree/etc/capstan-machine ]]; then
    say "the machine stays in $tree"
  elif grep -q " $tree/" /proc/mounts; then
    # It must not be deleted: it may hold this machine's /dev.
    say "something is still mounted in $tree, which stays"
  else
    rm -rf --one-file-system "$tree"
  fi
}
trap cleanup EXIT

make_tree() {
  # Experimental is no distribution by itself: it adds to unstable.
  local base=${suite/experimental/sid}
  bare_debian "$base" "$tree" "$mirror" "$log"
  cp /etc/resolv.conf /etc/hosts "$tree/etc/"
  # A mirror may hold an older unstable, whose release file has expired.
  [[ $base != sid ]] || echo 'Acquire::Check-Valid-Until "false";' >"$tree/etc/apt/apt.conf.d/99old-mirror"
  if [[ $suite == experimental ]]; then
    echo "deb $mirror experimental main" >"$tree/etc/apt/sources.list.d/experimental.list"
    printf '%s\n' 'Package: trilinos-* libtrilinos-*' 'Pin: release a=experimental' 'Pin-Priority: 990' \
      >"$tree/etc/apt/preferences.d/trilinos"
    # The lists that debootstrap leaves are those of unstable alone, and good enough for apt to install an older Trilinos.
    chroot "$tree" apt-get -q update >>"$log" 2>&1 || fail 1 "the machine cannot reach $mirror: see $log"
    [[ $(chroot "$tree" apt-cache madison trilinos-all-dev) == *" experimental/"* ]] ||
      fail 1 "$mirror has no Trilinos in experimental"
  fi
  git clone -q --no-hardlinks "$root" "$tree/root/capstan"
  date -u +%FT%TZ >"$tree/etc/capstan-machine"
}

# renew_sources: of a machine that was kept. What was built there stays.
renew_sources() {
  git -C "$tree/root/capstan" fetch -q "$root" HEAD
  git -C "$tree/root/capstan" reset -q --hard FETCH_HEAD
}

# Matrices and cases that tests read, where the sources have them beside them.
copy_shared() {
  rm -rf -- "$tree/root/shared"
  [[ ! -d $root/../shared ]] || cp -r -- "$root/../shared" "$tree/root/shared"
  [[ -z $given_files ]] || install -D -m 644 -t "$tree/root/given" -- "$given_files"/*.*
}

mount_all() {
  mount -t proc proc "$tree/proc"
  mount -t sysfs -o ro sysfs "$tree/sys"
  mount --bind /dev "$tree/dev"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$tree/dev/pts"
  mount -t tmpfs tmpfs "$tree/dev/shm"
}

# in_tree <command line>: as a user of the fresh machine types it, without a terminal.
in_tree() {
  local proxies=()
  [[ -z ${http_proxy:-} ]] || proxies+=("http_proxy=$http_proxy")
  [[ -z ${https_proxy:-} ]] || proxies+=("https_proxy=$https_proxy")
  taskset -c "0-$((cores - 1))" chroot "$tree" /usr/bin/env -i HOME=/root TERM=dumb "${proxies[@]}" "${variables[@]}" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    /bin/bash -c "cd /root/capstan && $1" </dev/null 2>&1
}

# installed: the versions that matter, of those packages that are there.
installed() {
  chroot "$tree" dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' g++ libtrilinos-tpetra-dev libopenmpi-dev \
    openfoam libpetsc-real-dev libhypre-dev 2>/dev/null | awk '$1 == "installed" { printf "%s%s %s", n++ ? ", " : "", $2, $3 }' || true
}

prove() {
  local command started status=0
  echo "$([[ $kept == yes ]] && echo "Kept machine of $(cat "$tree/etc/capstan-machine")" || echo "Fresh machine"):" \
    "Debian $(cat "$tree/etc/debian_version"), $(chroot "$tree" dpkg-query -W | wc -l) packages," \
    "$cores cores of $(awk -F ': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)"
  echo "Sources: commit $(git -C "$tree/root/capstan" log -1 --format='%h of %cs: %s')"
  [[ -d $tree/root/shared/matrices ]] || echo "No matrices: there is no ../shared/matrices, so tests of real matrices skip their cases"
  for command in "${commands[@]}"; do
    printf '\n$ %s\n' "$command"
    started=$SECONDS
    in_tree "$command" || status=$?
    echo "[exit status $status after $((SECONDS - started)) s]"
    [[ $status -eq 0 ]] || break
  done
  printf '\nVersions: %s\n%s, %s\n' "$(installed)" "$([[ $status -eq 0 ]] && echo PASSED || echo FAILED)" "$(date -u +%FT%TZ)"
  return "$status"
}

# write_summary: a run in a machine that was kept is a continuation.
write_summary() {
  if [[ $kept == yes && -s $summary ]]; then
    printf '\n' >>"$summary"
  else
    : >"$summary"
  fi
  awk -f "$here/summary.awk" "$log" >>"$summary"
}

[[ -z $(git -C "$root" status --porcelain --untracked-files=no) ]] || say "what is not committed is left out"
if [[ $kept == yes ]]; then
  say "taking the machine in $tree again"
  renew_sources
else
  say "making a bare Debian ($suite) in $tree from $mirror ..."
  make_tree
fi
copy_shared
mount_all
status=0
if [[ -t 1 ]]; then
  prove | tee "$log" || status=$?
else
  report "$log" "$suite" </dev/null >/dev/null &
  reporter=$!
  prove >"$log" || status=$?
  kill "$reporter" 2>/dev/null || true
  awk -f "$here/summary.awk" "$log"
fi
[[ -z $summary ]] || write_summary
[[ $status -eq 0 ]] || status=1
exit "$status"
