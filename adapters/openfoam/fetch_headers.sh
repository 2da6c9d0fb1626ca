#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# fetch_headers.sh <cache folder>
#
# Debian, and Ubuntu with it, ship the OpenFOAM libraries without their headers. This script takes the headers from the source
# package of the very version that is installed and leaves them in <cache folder>:
#
#   include/OpenFOAM/  include/OSspecific/POSIX/  include/Pstream/mpi/   all headers of these libraries, each flat
#   version                                        written last: the source version the headers belong to
#
# It runs as any user: apt is pointed at a private configuration, made from the archives of Debian or Ubuntu that this machine
# already uses, and nothing of the system's own apt state is touched. Quick when the cache already holds the right version.
set -eu
unset CDPATH

fail() {
  echo "fetch_headers.sh: $*" >&2
  exit 1
}

[ $# -eq 1 ] || fail "usage: fetch_headers.sh <cache folder>"
mkdir -p "$1" || fail "cannot make the folder '$1'"
cache=$(cd "$1" && pwd)

version=$(dpkg-query -W -f '${source:Version}' libopenfoam 2>/dev/null) || version=
[ -n "$version" ] || fail "the package libopenfoam is not installed; install it first: apt-get install openfoam"

if [ -f "$cache/version" ] && [ "$(cat "$cache/version")" = "$version" ]; then
  exit 0
fi

for tool in apt-get dpkg-source tar xz; do
  command -v "$tool" >/dev/null || fail "'$tool' is missing; install it first: apt-get install dpkg-dev xz-utils"
done

work=$cache/work
rm -rf "$work" "$cache/include" "$cache/version"
mkdir -p "$work/lists/partial" "$work/archives/partial" "$work/source" "$work/parts"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# The binary archives in use, as "origin|uri|suite|component"; their source counterparts are what we ask for.
archives() {
  # shellcheck disable=SC2016 # apt expands the format
  apt-get "$@" indextargets --format '$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)' 'Created-By: Packages' | sort -u
}
found=$(archives)
if [ -z "$found" ]; then
  # apt's lists have been removed, as container images do; apt tells its archives only once it has lists.
  apt-get -q -o "Dir::State::lists=$work/lists" -o APT::Sandbox::User= update >"$work/log" 2>&1 || true
  found=$(archives -o "Dir::State::lists=$work/lists")
fi
keyrings=/usr/share/keyrings
# Other archives may have no sources, or other packages of the same name.
echo "$found" | while IFS='|' read -r origin uri suite component; do
  case $origin/$uri in
    Debian/* | /*debian*) distribution=debian ;;
    Ubuntu/* | /*ubuntu*) distribution=ubuntu ;;
    *) continue ;;
  esac
  keyring=$keyrings/$distribution-archive-keyring.gpg
  options=
  [ ! -r "$keyring" ] || options="[signed-by=$keyring] "
  echo "deb-src $options$uri $suite $component"
done >"$work/sources.list"
[ -s "$work/sources.list" ] || fail "apt on this machine knows no archive of Debian or Ubuntu (apt-get indextargets names none)"

cat >"$work/apt.conf" <<EOF
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "$work/parts";
Dir::State::lists "$work/lists";
Dir::Cache::archives "$work/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Sandbox::User "";
Acquire::Retries "3";
APT::Update::Error-Mode "any";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
EOF

echo "Fetching the OpenFOAM $version headers from its source package (45 MB, once) ..."
apt-get -q -c "$work/apt.conf" update >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  fail "apt cannot reach these archives (is the network up?): $(tr '\n' ';' <"$work/sources.list")"
}
# source_package <options of apt-get source>: downloads into $work/source; what apt said is in $work/log.
source_package() {
  (cd "$work/source" && apt-get -q -c "$work/apt.conf" source "$@" --only-source "openfoam=$version") >"$work/log" 2>&1
}
if source_package --download-only; then
  dpkg-source --no-check -x "$work"/source/openfoam_*.dsc "$work/tree" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    fail "cannot unpack the source package openfoam=$version"
  }
else
  # Some mirrors lack the distribution's part of a source package. Its patches are for building; the headers are upstream's.
  cp "$work/log" "$work/first.log"
  if ! source_package --tar-only; then
    cat "$work/first.log" >&2
    fail "cannot download the source package openfoam=$version from: $(tr '\n' ';' <"$work/sources.list")"
  fi
  echo "the mirror lacks the distribution's part of the source package; taking the headers from the upstream part alone"
  mkdir -p "$work/tree"
  tar -x -f "$work"/source/openfoam_*.orig.tar.* -C "$work/tree" --strip-components=1 || fail "cannot unpack $(ls "$work/source")"
fi

"$(dirname "$0")/flat_headers.sh" "$work/tree" "$cache/include" || fail "the source package openfoam=$version lacks headers"
[ -f "$cache/include/OpenFOAM/lduMatrix.H" ] || fail "the source package openfoam=$version holds no lduMatrix.H"
cp "$work/tree/COPYING" "$cache/include/COPYING" 2>/dev/null || true

echo "$version" >"$cache/version"
echo "OpenFOAM headers are in $cache/include"
