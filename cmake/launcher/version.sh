# The version of this source tree. Sourced by the launcher and docs/build_html.
# shellcheck shell=bash

# version_of <source tree>: what project() of its CMakeLists.txt says, the one place where the version stands.
version_of() {
  sed -nE '/^project\(/,/\)$/ s/^ *VERSION +([0-9.]+).*$/\1/p' "$1/CMakeLists.txt" | grep .
}
