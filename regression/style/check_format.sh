#!/usr/bin/env bash
# check_format.sh <source root> <clang-format> [--fix]
#
# Names the C++ sources that are not formatted as .clang-format says and fails; with --fix, formats them.
set -euo pipefail
cd -- "$1"
clang_format=$2
mapfile -d '' -t files < <(find tpetra_ext belos_ext adapters app-inputs regression perf cmake -type f \
  \( -name '*.hpp' -o -name '*.cpp' -o -name '*.H' -o -name '*.C' \) -print0)
[[ ${#files[@]} -gt 0 ]] || { echo "no C++ sources below $1" >&2; exit 1; }
if [[ ${3:-} == --fix ]]; then
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
