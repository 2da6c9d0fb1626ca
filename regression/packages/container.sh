#!/usr/bin/env bash
# Builds the image of packaging/container with Debian's buildah, and runs a case of OpenFOAM and a deck in it.
#
# usage (as root): container.sh [--base IMAGE] [--packages DIR] [--folder DIR] [--log FILE]
#
#   --base      an image of Debian 12, also of a registry; without it one is made with debootstrap from the mirror this machine uses
#   --packages  the folder that the packages built in the first stage are copied to
#   --folder    where images are kept, instead of /var/tmp (10 GB are needed); they go at the end
#   --log       what is printed, for the repository
# Exit status: 0 proved, 1 not, 2 wrong use. Not part of CI: it downloads about 1 GB.
set -euo pipefail
unset CDPATH

here=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
root=$(cd -- "$here/../.." && pwd)
base="" packages="" folder=/var/tmp log=/dev/null
# shellcheck source=cmake/launcher/output.sh
source "$root/cmake/launcher/output.sh"
# shellcheck source=regression/fresh_machine/bare_debian.sh
source "$root/regression/fresh_machine/bare_debian.sh"

while [[ $# -gt 0 ]]; do
  case $1 in
    --packages | --folder)
      [[ -d ${2:-} ]] || fail 2 "$1: found '${2:-}', which is no folder"
      if [[ $1 == --folder ]]; then folder=$(cd -- "$2" && pwd -P); else packages=$(cd -- "$2" && pwd -P); fi
      shift
      ;;
    --base)
      [[ -n ${2:-} ]] || fail 2 "--base: found nothing; it must be the name of an image"
      base=$2
      shift
      ;;
    --log)
      [[ -n ${2:-} && -d $(dirname -- "$2") ]] || fail 2 "--log: found '${2:-}'; it must be a file in a folder that exists"
      log=$(readlink -f -- "$2")
      shift
      ;;
    -h | --help)
      sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) fail 2 "unknown argument '$1'; allowed: --base, --packages, --folder, --log, --help" ;;
  esac
  shift
done
[[ $(id -u) -eq 0 ]] || fail 1 "debootstrap and chroot need root"
for tool in buildah debootstrap git; do
  command -v "$tool" >/dev/null || fail 1 "'$tool' is missing: apt-get install buildah debootstrap git"
done

work=$(mktemp -d "$folder/capstan-container.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
# Images of their own; chroot and vfs: also where this machine is a container itself.
images() { buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs "$@"; }

# make_base: an image of Debian 12, with how this machine reaches its mirror.
make_base() {
  local mirror
  mirror=$(debian_mirror)
  say "making an image of Debian 12 from $mirror ..."
  bare_debian bookworm "$work/base" "$mirror" "$work/log"
  rm -rf "$work"/base/var/cache/apt/archives/*.deb
  local container
  container=$(images from scratch)
  images add -q "$container" "$work/base" / >/dev/null
  images commit -q --rm "$container" capstan-base >/dev/null
  rm -rf -- "$work/base"
  base=localhost/capstan-base
}

build() {
  mkdir "$work/source"
  git -C "$root" archive HEAD | tar x -C "$work/source"
  say "building the image ..."
  images build --isolation chroot --network host --layers --build-arg "BASE=$base" "$@" -f "$work/source/packaging/container/Containerfile" \
    "$work/source" >"$work/log" 2>&1 || {
    tail -n 40 "$work/log" >&2
    fail 1 "buildah failed"
  }
  rm -rf -- "$work/source"
}

# copy_packages: out of the first stage.
copy_packages() {
  local container folder
  container=$(images from --pull-never capstan-build)
  folder=$(images mount "$container")
  cp -- "$folder"/source/*.deb "$folder"/source/*.changes "$folder"/source/*.buildinfo "$packages"
  images rm "$container" >/dev/null
}

prove() {
  local container
  echo "Sources: commit $(git -C "$root" log -1 --format='%h of %cs: %s'); $(buildah --version)"
  [[ -n $base ]] || make_base
  build --target build -t capstan-build
  [[ -z $packages ]] || copy_packages
  build -t capstan
  container=$(images from --pull-never capstan)
  images run --isolation chroot -v "$here:/proof:ro" "$container" /proof/try_installed.sh
  echo "PASSED, $(date -u +%FT%TZ)"
}

prove 2>&1 | tee "$log"
