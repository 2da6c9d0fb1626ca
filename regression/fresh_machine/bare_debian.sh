# Bare trees of Debian. Sourced by the proofs, after cmake/launcher/output.sh.
# shellcheck shell=bash

# debian_mirror: the mirror that apt on this machine uses.
debian_mirror() {
  local mirror
  # shellcheck disable=SC2016 # apt expands the format
  mirror=$(apt-get indextargets --format '$(REPO_URI)|$(CODENAME)|$(COMPONENT)' 'Created-By: Packages' |
    awk -F '|' '$2 ~ /^(bookworm|trixie|forky|sid)$/ && $3 == "main" { print $1; exit }')
  [[ -n $mirror ]] || fail 1 "apt on this machine knows no mirror of Debian"
  echo "$mirror"
}

# bare_debian <suite> <folder> <mirror> <log>
bare_debian() {
  debootstrap --variant=minbase "$1" "$2" "$3" >"$4" 2>&1 || {
    tail -n 20 "$4" >&2
    fail 1 "debootstrap failed"
  }
  # How to reach the mirror is the network's affair, not the fresh machine's.
  { grep -ls '^Acquire::' /etc/apt/apt.conf.d/* || true; } | xargs -r cp -t "$2/etc/apt/apt.conf.d/"
}
