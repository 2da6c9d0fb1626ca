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

# run_logged <log> <command...>: on a terminal the command shows its own output; in a pipe it goes to <log>, and only
# a failure shows its end.
run_logged() {
  local log=$1 status=0
  shift
  if on_terminal; then
    "$@" </dev/null >&2 || status=$?
    return "$status"
  fi
  mkdir -p "$(dirname -- "$log")"
  "$@" </dev/null >"$log" 2>&1 || status=$?
  if [[ $status -ne 0 ]]; then
    tail -n 60 -- "$log" >&2
    say "the whole log: $log"
  fi
  return "$status"
}
