#!/usr/bin/env bash
# check_format.sh <source root> [--fix]
#
# Names the C++ sources that are not formatted as .clang-format says and fails; with --fix, formats them. Other versions of
# clang-format than 14 format otherwise: with one of them only, the exit status is 77 ("skipped").
set -euo pipefail
unset CDPATH
cd -- "$1"
clang_format=$(command -v clang-format-14 || command -v clang-format)
if [[ $("$clang_format" --version) != *"version 14."* ]]; then
  echo "the sources are formatted by clang-format 14; found: $("$clang_format" --version)" >&2
  exit 77
fi
mapfile -d '' -t files < <(find tpetra_ext belos_ext adapters app-inputs regression perf cmake -type f \
  \( -name '*.hpp' -o -name '*.cpp' -o -name '*.H' -o -name '*.C' \) -print0)
[[ ${#files[@]} -gt 0 ]] || { echo "no C++ sources below $1" >&2; exit 1; }
if [[ ${2:-} == --fix ]]; then
  exec "$clang_format" -i --style=file "${files[@]}"
fi
failed=()
for file in "${files[@]}"; do
  "$clang_format" --dry-run -Werror --style=file "$file" 2>/dev/null || failed+=("$file")
done
if [[ ${#failed[@]} -gt 0 ]]; then
  printf '%s\n' "not formatted:" "${failed[@]}" "format all with: ninja -C build capstan_format" >&2
  exit 1
fi
echo "${#files[@]} files are formatted"
