#!/usr/bin/env bash
# Looks whether the patches of adapters/patches still apply to the sources of their applications.
#
# usage: check_patches.sh --source NAME=DIR [--source NAME=DIR]... [--record]
#
# NAME: that of a patch, such as nalu-wind. DIR: the application's sources: a folder, a clone, or a bare repository, of which the
# newest commit counts. Nothing is changed in it. --record: the report goes to checked.log beside this script, too.
# Exit status: 0 all apply, 1 one does not, 2 wrong use.
set -euo pipefail
unset CDPATH

here=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd)
patches=$here/../../adapters/patches record=no sources=()

wrong_use() {
  printf 'check_patches.sh: %s\n' "$*" >&2
  exit 2
}

names() { find "$patches" -name '*.patch' -printf '%f\n' | sed 's/[.]patch$//' | sort | paste -sd' '; }

read_arguments() {
  while [[ $# -gt 0 ]]; do
    case $1 in
      --source)
        [[ ${2:-} == ?*=?* ]] || wrong_use "--source: found '${2:-}'; allowed: NAME=DIR"
        [[ -e $patches/${2%%=*}.patch ]] || wrong_use "--source: found '${2%%=*}'; there are patches for: $(names)"
        [[ -d ${2#*=} ]] || wrong_use "--source: ${2#*=} is no folder"
        sources+=("$2") && shift
        ;;
      --record) record=yes ;;
      -h | --help)
        sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"
        exit 0
        ;;
      *) wrong_use "unknown argument '$1'; allowed: --source, --record, --help" ;;
    esac
    shift
  done
  [[ ${#sources[@]} -gt 0 ]] || wrong_use "--source is needed; there are patches for: $(names)"
}

# copy_files <patch> <sources> <folder>: the files that the patch changes. Prints which state they are of.
copy_files() {
  local patch=$1 from=$2 to=$3 file commit=""
  commit=$(git -C "$from" log -1 --format='%H of %cd' --date=short 2>/dev/null) || commit=""
  while IFS= read -r file; do
    mkdir -p "$to/$(dirname "$file")"
    if [[ -e $from/$file ]]; then
      cp -- "$from/$file" "$to/$file"
    else
      git -C "$from" show "HEAD:$file" >"$to/$file" 2>/dev/null || rm -f -- "$to/$file"
    fi
  done < <(sed -n 's|^+++ b/||p' "$patch")
  echo "${commit:-a folder without history}"
}

# check <NAME=DIR>
check() {
  local name=${1%%=*} from=${1#*=} patch folder state said
  patch=$patches/$name.patch folder=$work/$name
  mkdir -p "$folder"
  state=$(copy_files "$patch" "$from" "$folder")
  if said=$(cd "$folder" && GIT_CEILING_DIRECTORIES=$work git apply --check --verbose "$patch" 2>&1); then
    echo "$name: applies to $state; checked before: $(sed -n 's/^Checked against: //p' "$patch")"
  else
    printf '%s: DOES NOT APPLY to %s\n%s\n' "$name" "$state" "$said"
    return 1
  fi
}

check_all() {
  local one status=0
  for one in "${sources[@]}"; do check "$one" || status=1; done
  return "$status"
}

read_arguments "$@"
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
status=0
check_all | tee "$work/report" || status=1
[[ $record == no ]] || cp -- "$work/report" "$here/checked.log"
exit "$status"
