#!/usr/bin/env bash
# Proves that the two commands of the README do everything on a fresh machine.
#
# usage (as root): prove.sh [--suite NAME] [--cores N] [--keep] [--folder DIR] [command ...]
#
# Makes a bare tree of that Debian with debootstrap (bookworm, the default: Debian 12; trixie: 13; sid: unstable;
# experimental: unstable with the Trilinos of experimental), from the mirror this machine uses, puts a clone of the committed
# sources into it and runs there, in a chroot on N cores (default 2) without terminal, standard input or environment:
#   ./capstan run app-inputs/openfoam/cavity3d
#   ./capstan test
# or the commands given, one word each. A summary of a run that came to its end, good or bad, goes to <suite>.log beside this
# script, the whole log to DIR/capstan-fresh-<suite>.log. --keep leaves the tree for a look; --folder: DIR, where it is made,
# instead of /var/tmp (8 GB are needed). Not part of CI: it downloads about 1 GB. Exit status: 0 proved, 1 not, 2 wrong use.
set -euo pipefail
unset CDPATH

here=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
root=$(cd -- "$here/../.." && pwd)
suite=bookworm cores=2 keep=no folder=/var/tmp commands=()
cores_here=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)

fail() {
  echo "prove.sh: $2" >&2
  exit "$1"
}

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
    --keep) keep=yes ;;
    -h | --help)
      sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    -*) fail 2 "unknown option '$1'; allowed: --suite, --cores, --keep, --folder, --help" ;;
    *) commands+=("$1") ;;
  esac
  shift
done
[[ ${#commands[@]} -gt 0 ]] || commands=("./capstan run app-inputs/openfoam/cavity3d" "./capstan test")

[[ $(id -u) -eq 0 ]] || fail 1 "debootstrap and chroot need root"
for tool in debootstrap git taskset; do
  command -v "$tool" >/dev/null || fail 1 "'$tool' is missing: apt-get install debootstrap git util-linux"
done
mirror=$(apt-get indextargets --format '$(REPO_URI)|$(CODENAME)|$(COMPONENT)' 'Created-By: Packages' |
  awk -F '|' '$2 ~ /^(bookworm|trixie|forky|sid)$/ && $3 == "main" { print $1; exit }')
[[ -n $mirror ]] || fail 1 "apt on this machine knows no mirror of Debian"

tree=$(mktemp -d "$folder/capstan-fresh-tree.XXXXXX")
log=$(mktemp)

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
  # A tree with something still mounted must not be deleted: it may be this machine's /dev.
  if [[ $keep == yes ]] || grep -q " $tree/" /proc/mounts; then
    echo "the tree stays in $tree" >&2
  else
    rm -rf --one-file-system "$tree"
  fi
  rm -f "$log"
}
trap cleanup EXIT

make_tree() {
  # Experimental is no distribution by itself: it adds to unstable.
  local base=${suite/experimental/sid}
  debootstrap --variant=minbase "$base" "$tree" "$mirror" >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    fail 1 "debootstrap failed"
  }
  cp /etc/resolv.conf /etc/hosts "$tree/etc/"
  # How to reach the mirror is the network's affair, not the fresh machine's.
  grep -ls '^Acquire::' /etc/apt/apt.conf.d/* | xargs -r cp -t "$tree/etc/apt/apt.conf.d/"
  # A mirror may hold an older unstable, whose release file has expired.
  [[ $base != sid ]] || echo 'Acquire::Check-Valid-Until "false";' >"$tree/etc/apt/apt.conf.d/99old-mirror"
  if [[ $suite == experimental ]]; then
    echo "deb $mirror experimental main" >"$tree/etc/apt/sources.list.d/experimental.list"
    printf '%s\n' 'Package: trilinos-* libtrilinos-*' 'Pin: release a=experimental' 'Pin-Priority: 990' \
      >"$tree/etc/apt/preferences.d/trilinos"
  fi
  git clone -q --no-hardlinks "$root" "$tree/root/capstan"
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
  taskset -c "0-$((cores - 1))" chroot "$tree" /usr/bin/env -i HOME=/root TERM=dumb "${proxies[@]}" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    /bin/bash -c "cd /root/capstan && $1" </dev/null 2>&1
}

prove() {
  local command started status=0
  echo "Fresh machine: Debian $(cat "$tree/etc/debian_version"), $(chroot "$tree" dpkg-query -W | wc -l) packages," \
    "$cores cores of $(awk -F ': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)"
  echo "Sources: commit $(git -C "$tree/root/capstan" log -1 --format='%h of %cs: %s')"
  for command in "${commands[@]}"; do
    printf '\n$ %s\n' "$command"
    started=$SECONDS
    in_tree "$command" || status=$?
    echo "[exit status $status after $((SECONDS - started)) s]"
    [[ $status -eq 0 ]] || break
  done
  printf '\n%s, %s\n' "$([[ $status -eq 0 ]] && echo PASSED || echo FAILED)" "$(date -u +%FT%TZ)"
  return "$status"
}

echo "making a bare Debian ($suite) in $tree from $mirror ..."
make_tree
status=0
prove | tee "$log" || status=$?
cp -- "$log" "$folder/capstan-fresh-$suite.log"
awk -f "$here/summary.awk" "$log" >"$here/$suite.log"
exit "$status"
