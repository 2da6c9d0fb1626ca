#!/usr/bin/env bash
# Uses Capstan as its Debian packages install it: a case of OpenFOAM with `solver capstan;`, and a deck.
# usage: try_installed.sh. Exit status: 0 all works, 1 something does not.
set -euo pipefail
unset CDPATH

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

printf '\n# a case of OpenFOAM\n'
cp -r /usr/share/doc/openfoam-examples/examples/incompressible/icoFoam/cavity/cavity "$work/cavity"
gunzip -rf "$work/cavity"
capstan enable "$work/cavity" capstan_cg --field p
export WM_PROJECT_DIR=/usr/share/openfoam
(cd -- "$work/cavity" && blockMesh >log.blockMesh 2>&1 && icoFoam >log.icoFoam 2>&1) || {
  tail -n 30 "$work"/cavity/log.* >&2
  exit 1
}
grep -m 2 "^capstan_cg:  Solving for p" "$work/cavity/log.icoFoam"
grep -q "^End" "$work/cavity/log.icoFoam"

printf '\n# a deck\n'
deck=(/usr/share/capstan/app-inputs/decks/laplace3d.yaml --solver all --set 'systems[0].generate.cells=[16,16,16]')
mpirun -n 2 capstan-solve "${deck[@]}"

printf '\n# capstan preload\n'
capstan preload --dry-run -- mpirun -n 2 capstan-solve "${deck[@]}"
# What is preloaded must be found, and say nothing.
capstan preload -- mpirun -n 2 capstan-solve "${deck[@]}" --quiet >"$work/log.preload" 2>&1 || {
  cat "$work/log.preload" >&2
  exit 1
}
if grep -E '^(Capstan|ERROR: ld.so): ' "$work/log.preload" >&2; then exit 1; fi
