# Source code out of Debian's Trilinos source package, Kokkos' among it, with package lists of our own: no root, and the
# system's package sources stay as they are. Sourced by the scripts that build Kokkos or Trilinos; they set `work`, a folder
# of theirs, and have the functions `say` and `die`.
# shellcheck shell=bash disable=SC2154

# apt-get with package lists and sources of our own.
private_apt() {
  apt-get -qq -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User=root \
    -o APT::Update::Error-Mode=any "$@"
}

# prepare_apt <release> [components of packages to install, too]: reads the package lists. Those of the sources are those of
# `source_release`, if that is set.
prepare_apt() {
  local release=$1 components=${*:2} mirror=http://deb.debian.org/debian
  local key=/usr/share/keyrings/debian-archive-keyring.gpg
  [[ ! -e $work/apt/ready ]] || return 0
  command -v apt-get >/dev/null || die "this needs Debian's apt-get"
  mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
  {
    [[ -z $components ]] || printf 'deb [signed-by=%s] %s %s %s\n' "$key" "$mirror" "$release" "$components"
    printf 'deb-src [signed-by=%s] %s %s main\n' "$key" "$mirror" "${source_release:-$release}"
  } >"$work/apt/sources.list"
  say "reading Debian's package lists (privately)"
  private_apt update || die "the package lists of Debian $release cannot be read from $mirror; see the lines above"
  touch "$work/apt/ready"
}

# The code name of the Debian release this is; elsewhere that of Debian 12.
debian_release() {
  local ID="" VERSION_CODENAME=""
  # shellcheck disable=SC1091
  [[ ! -r /etc/os-release ]] || . /etc/os-release
  case $ID/$VERSION_CODENAME in
    debian/bookworm | debian/trixie) echo "$VERSION_CODENAME" ;;
    debian/*) echo sid ;;
    *) echo bookworm ;;
  esac
}

# unpack_trilinos <folder> [arguments of tar: what to take]: after prepare_apt. The folder is there once it is complete.
# Writes the version of the source package to <folder>.version.
unpack_trilinos() {
  local folder=$1 archive=$work/archive description
  shift
  say "fetching Debian's Trilinos source package (about 170 MB)"
  rm -rf "$archive" "$folder" "$folder.part" && mkdir -p "$archive" "$folder.part"
  (cd "$archive" && private_apt source --download-only --only-source trilinos) ||
    die "Debian's source package 'trilinos', which holds Kokkos, cannot be fetched; see the lines above" \
      "(with a copy at hand: CAPSTAN_TRILINOS_SOURCE=<its folder>, for Kokkos alone CAPSTAN_KOKKOS_SOURCE)"
  tar -xf "$archive"/trilinos_*.orig.tar.?z -C "$folder.part" "$@" || die "the archive of Trilinos lacks a folder"
  description=$(basename "$archive"/trilinos_*.dsc .dsc)
  printf '%s\n' "${description#trilinos_}" >"$folder.version"
  rm -rf "$archive"
  mv "$folder.part" "$folder"
}

# fetch_kokkos <folder>: Kokkos' source, without its tests and examples, after prepare_apt.
fetch_kokkos() {
  [[ ! -e $1/CMakeLists.txt ]] || return 0
  unpack_trilinos "$1" --strip-components=3 --exclude='*/unit_test*' --exclude='*/perf*_test*' \
    --exclude='*/packages/kokkos/example/*/*' --exclude='*/packages/kokkos/benchmarks*' --wildcards '*/packages/kokkos/*'
}
