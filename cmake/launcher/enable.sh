# `capstan enable` and `capstan disable`: Capstan in the dictionaries of an OpenFOAM case. Sourced by the launcher and by the
# installed command `capstan`.
# shellcheck shell=bash
capstan_called=${capstan_called:-./capstan}

help_enable() {
  cat <<TEXT
usage: $capstan_called enable CASE [SOLVER] [--field NAME ...] [--dry-run]

Writes Capstan into the dictionaries of an OpenFOAM case: libcapstanFoam.so, with its full path, into libs of
system/controlDict, and the solver into the entries of system/fvSolution (those of regions, too) that name one. All else stays,
comments included. A second enable replaces the first one; $capstan_called disable takes it back.
  SOLVER        capstan (default), which chooses by time; or a method, such as capstan_cg or capstan_cg:4, "Polynomial
                Degree" 4. Conjugate gradients go where the matrix is known to be symmetric
  --field NAME  only the entry for this field (p, "U|k"); may be given again
  --dry-run     say what would change
Example: $capstan_called enable pitzDaily capstan_cg
TEXT
}

help_disable() {
  cat <<TEXT
usage: $capstan_called disable CASE [--dry-run]

Takes back what $capstan_called enable has written into a case: files that were not changed since are as they were before, byte for
byte; of others only those entries are taken back.
TEXT
}

# switch_case <tool> <library> enable|disable <words...>
switch_case() {
  local tool=$1 library=$2 command=$3
  shift 3
  [[ $# -gt 0 ]] || fail_usage "$command wants the folder of an OpenFOAM case" "See: $capstan_called $command --help"
  if [[ $command == enable ]]; then
    [[ -e $library ]] || fail 3 "$library is missing: this Capstan was built without OpenFOAM" "See docs/openfoam.md, \"Building it\"."
    refuse_in_path "the library" "$library" "Install Capstan in a folder" blank
    set -- "$@" --library "$library"
  fi
  exec python3 "$tool" "$command" "$@"
}
