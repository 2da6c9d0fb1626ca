#!/usr/bin/env bash
# check_shell.sh <source root>: fails where shellcheck finds something in one of our shell scripts.
set -euo pipefail
cd -- "$1"
# Scripts without a suffix are known by their first line. What is for an interactive shell has none.
mapfile -t files < <({
  grep -rlIE --exclude-dir='build*' --exclude-dir=.git -m 1 '^#!.*[/ ](ba|da)?sh( |$)' .
  find ./cmake -name '*.bash'
} | sort)
[[ ${#files[@]} -gt 0 ]] || { echo "no shell scripts below $1" >&2; exit 1; }
shellcheck --severity=warning --external-sources --source-path=SCRIPTDIR "${files[@]}"
echo "${#files[@]} scripts are clean: ${files[*]}"
