# Messages, errors and nearest matches. Sourced by the launcher.
# shellcheck shell=bash

# Our own words go to standard error: standard output belongs to what a command prints as its result.
say() {
  printf 'capstan: %s\n' "$*" >&2
}

# fail <status> <message> [further lines]
fail() {
  local status=$1 line
  printf 'capstan: error: %s\n' "$2" >&2
  for line in "${@:3}"; do
    printf '  %s\n' "$line" >&2
  done
  exit "$status"
}

fail_usage() {
  fail 2 "$@"
}

# refuse_in_path <what it is> <path> <what to do> <kinds...>: ends where a path has a blank, or a colon, and who is to read it would
# misread that.
refuse_in_path() {
  local what=$1 path=$2 advice=$3 kind pattern="" readers=""
  shift 3
  for kind in "$@"; do
    case $kind in
      blank) pattern='[[:space:]]' readers="OpenFOAM, LD_PRELOAD and PETSC_OPTIONS" ;;
      colon) pattern=: readers="LD_PRELOAD and LD_LIBRARY_PATH" ;;
    esac
    [[ ! $path =~ $pattern ]] || fail_usage "$what $path has a $kind in its path, and $readers cannot hold that" "$advice without one."
  done
}

# True where someone may be watching progress on standard error.
on_terminal() {
  [[ -t 2 && -z ${CI:-} ]]
}

# contains <word> <candidates...>
contains() {
  local word=$1 candidate
  shift
  for candidate in "$@"; do
    [[ $candidate != "$word" ]] || return 0
  done
  return 1
}

# nearest <word> <candidates...>: the candidate with the smallest edit distance, one line.
nearest() {
  local word=$1
  shift
  printf '%s\n' "$@" | word=$word awk '
    function least(a, b) { return a < b ? a : b }
    function distance(s, t, i, j, row, diagonal, above) {
      for (j = 0; j <= length(t); j++) row[j] = j
      for (i = 1; i <= length(s); i++) {
        diagonal = row[0]
        row[0] = i
        for (j = 1; j <= length(t); j++) {
          above = row[j]
          row[j] = least(least(row[j] + 1, row[j - 1] + 1), diagonal + (substr(s, i, 1) != substr(t, j, 1)))
          diagonal = above
        }
      }
      return row[length(t)]
    }
    {
      d = distance(tolower(ENVIRON["word"]), tolower($0))
      if (NR == 1 || d < best) { best = d; found = $0 }
    }
    END { print found }'
}

# Seconds between two reports of a command that takes long.
report_seconds=${CAPSTAN_REPORT_SECONDS:-60}
[[ $report_seconds =~ ^[1-9][0-9]*$ ]] ||
  fail_usage "CAPSTAN_REPORT_SECONDS is '$report_seconds'; it must be a whole number from 1 on"

# report <log> <what>: says every minute how far the command that writes the log has come, until it is ended.
report() {
  local log=$1 what=$2 started=$SECONDS never
  # A pipe to which nobody writes: waiting at it needs no other process, which would be left behind.
  exec {never}<> <(:)
  while kill -0 $$ 2>/dev/null; do
    read -r -t "$report_seconds" -u "$never" || true
    say "$what, for $(((SECONDS - started + 30) / 60)) min: $(tail -n 1 -- "$log" | cut -c 1-100)"
  done
}

# run_quietly <log> <command...>: only a failure shows the end of the log.
run_quietly() {
  local log=$1 status=0
  shift
  mkdir -p "$(dirname -- "$log")"
  "$@" </dev/null >"$log" 2>&1 || status=$?
  if [[ $status -ne 0 ]]; then
    tail -n 60 -- "$log" >&2
    say "the whole log: $log"
  fi
  return "$status"
}

# run_logged <log> <what> <command...>: on a terminal the command shows its own output; in a pipe it goes to <log>, a line
# every minute tells <what> is done, and a failure shows the log's end.
run_logged() {
  local log=$1 what=$2 status=0 reporter
  shift 2
  if on_terminal; then
    "$@" </dev/null >&2 || status=$?
    return "$status"
  fi
  mkdir -p "$(dirname -- "$log")"
  : >"$log"
  report "$log" "$what" </dev/null >/dev/null &
  reporter=$!
  # shellcheck disable=SC2064 # the number is wanted now
  trap "kill $reporter 2>/dev/null || true" EXIT
  run_quietly "$log" "$@" || status=$?
  kill "$reporter" 2>/dev/null || true
  wait "$reporter" 2>/dev/null || true
  trap - EXIT
  return "$status"
}
