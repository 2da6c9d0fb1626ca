#!/usr/bin/env bash
# check_shell.sh <source root>: fails where shellcheck finds something in one of our shell scripts.
set -euo pipefail
unset CDPATH
cd -- "$1"
# Scripts without a suffix are known by their first line. What is for an interactive shell has none.
mapfile -t files < <({
  grep -rlIE --exclude-dir='build*' --exclude-dir=.git -m 1 '^#!.*[/ ](ba|da)?sh( |$)' .
  find ./cmake -name '*.bash'
} | sort)
[[ ${#files[@]} -gt 0 ]] || { echo "no shell scripts below $1" >&2; exit 1; }
# Where the user has exported CDPATH, cd may go to another folder, and prints it.
lacking=$(for file in "${files[@]}"; do
  case $file in
    *.bash) grep -nHE '(^|[^[:alnum:]_./ -])\s*cd ' "$file" | grep -v "CDPATH='' cd" || true ;;
    *) ! grep -qE '(^|[^[:alnum:]_./-])cd ' "$file" || grep -qx 'unset CDPATH' "$file" || echo "$file" ;;
  esac
done)
[[ -z $lacking ]] || { printf "cd without 'unset CDPATH' before it (in completion: CDPATH='' cd):\n%s\n" "$lacking" >&2; exit 1; }
shellcheck --severity=warning --external-sources --source-path=SCRIPTDIR "${files[@]}"
echo "${#files[@]} scripts are clean: ${files[*]}"
