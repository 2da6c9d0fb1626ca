# Kokkos' source out of Debian's Trilinos source package, with package lists of our own: no root, and the system's package
# sources stay as they are. Sourced by the scripts that build a bare Kokkos; they set `work`, a folder of theirs, and have
# the functions `say` and `die`.
# shellcheck shell=bash disable=SC2154

# apt-get with package lists and sources of our own.
private_apt() {
  apt-get -qq -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User=root \
    -o APT::Update::Error-Mode=any "$@"
}

# prepare_apt <release> [components of packages to install, too]: reads the package lists.
prepare_apt() {
  local release=$1 components=${*:2} mirror=http://deb.debian.org/debian
  local key=/usr/share/keyrings/debian-archive-keyring.gpg
  [[ ! -e $work/apt/ready ]] || return 0
  command -v apt-get >/dev/null || die "this needs Debian's apt-get"
  mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
  {
    [[ -z $components ]] || printf 'deb [signed-by=%s] %s %s %s\n' "$key" "$mirror" "$release" "$components"
    printf 'deb-src [signed-by=%s] %s %s main\n' "$key" "$mirror" "$release"
  } >"$work/apt/sources.list"
  say "reading Debian's package lists (privately)"
  private_apt update || die "the package lists of Debian $release cannot be read from $mirror; see the lines above"
  touch "$work/apt/ready"
}

# fetch_kokkos <folder>: Kokkos' source, without its tests and examples, after prepare_apt.
fetch_kokkos() {
  local folder=$1 archive=$work/archive
  [[ ! -e $folder/CMakeLists.txt ]] || return 0
  say "fetching Kokkos (Debian's Trilinos source package, about 170 MB)"
  rm -rf "$archive" "$folder" "$folder.part" && mkdir -p "$archive" "$folder.part"
  (cd "$archive" && private_apt source --download-only --only-source trilinos) ||
    die "Debian's source package 'trilinos', which holds Kokkos, cannot be fetched; see the lines above"
  tar -xf "$archive"/trilinos_*.orig.tar.?z -C "$folder.part" --strip-components=3 --exclude='*/unit_test*' \
    --exclude='*/perf*_test*' --exclude='*/packages/kokkos/example/*/*' --exclude='*/packages/kokkos/benchmarks*' \
    --wildcards '*/packages/kokkos/*' || die "the archive of Trilinos holds no packages/kokkos"
  rm -rf "$archive"
  mv "$folder.part" "$folder"
}
