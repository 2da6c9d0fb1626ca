#!/usr/bin/env bash
# Builds the Debian packages of debian/, and proves that they install and work on a bare machine.
#
# usage (as root): prove.sh [--packages DIR] [--folder DIR] [--log FILE]
#
# Builds the packages from the committed sources, checks them with lintian (errors end it), makes a bare Debian 12 with debootstrap,
# installs the packages there by apt, and runs try_packages.sh: a case of OpenFOAM with `solver capstan;`, a deck, and a Belos program
# compiled against libcapstan-dev that solves with every name.
#   --packages  DIR holds packages that were built before
#   --folder    where packages and machine are made, instead of /var/tmp (10 GB are needed)
#   --log       what is printed, for the repository
# Exit status: 0 proved, 1 not, 2 wrong use. Not part of CI: it downloads about 1 GB.
set -euo pipefail
unset CDPATH

here=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
root=$(cd -- "$here/../.." && pwd)
folder=/var/tmp packages="" log=/dev/null
# shellcheck source=cmake/launcher/output.sh
source "$root/cmake/launcher/output.sh"

while [[ $# -gt 0 ]]; do
  case $1 in
    --packages | --folder)
      [[ -d ${2:-} ]] || fail 2 "$1: found '${2:-}', which is no folder"
      if [[ $1 == --folder ]]; then folder=$(cd -- "$2" && pwd -P); else packages=$(cd -- "$2" && pwd -P); fi
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
    *) fail 2 "unknown argument '$1'; allowed: --packages, --folder, --log, --help" ;;
  esac
  shift
done
[[ $(id -u) -eq 0 ]] || fail 1 "debootstrap and chroot need root"
for tool in dpkg-buildpackage dh lintian debootstrap git; do
  command -v "$tool" >/dev/null || fail 1 "'$tool' is missing: apt-get install dpkg-dev debhelper lintian debootstrap git"
done

work=$(mktemp -d "$folder/capstan-packages.XXXXXX")
trap 'rm -rf -- "$work"' EXIT

build() {
  say "building the packages in $work ..."
  mkdir -p -- "$work/capstan"
  git -C "$root" archive HEAD | tar x -C "$work/capstan"
  (cd -- "$work/capstan" && dpkg-buildpackage -b -us -uc) >"$work/build.log" 2>&1 || {
    tail -n 40 "$work/build.log" >&2
    fail 1 "dpkg-buildpackage failed"
  }
  packages=$work
}

prove() {
  local status=0
  echo "Sources: commit $(git -C "$root" log -1 --format='%h of %cs: %s')"
  [[ -n $packages ]] || build
  (cd -- "$packages" && ls -sh1 -- *.deb)
  printf '\n$ lintian *.changes\n'
  (cd -- "$packages" && lintian --allow-root --fail-on error --no-tag-display-limit ./*.changes) || fail 1 "lintian finds errors"
  "$root/regression/fresh_machine/prove.sh" --suite bookworm --folder "$folder" --with "$packages" \
    "regression/packages/try_packages.sh /root/given" || status=$?
  return "$status"
}

prove 2>&1 | tee "$log"
