# Cuts the log of prove.sh down to what is worth keeping, under 60 lines: the machine, each command with what the launcher
# said, how the command ended (of ctest its summary, of others the last lines) and the verdict.
function flush_end(i, first) {
  first = in_summary ? 1 : (count > 12 ? count - 11 : 1)
  for (i = first; i <= count; i++) print ending[i]
  # A run of tests that came to no end.
  if (!in_summary && tests > 0) {
    print passed " tests passed before it was interrupted, " tests - passed " did not:"
    for (i = 1; i <= tests - passed && i <= 24; i++) print others[i]
  }
  count = in_summary = tests = passed = 0
}
{ line = length($0) > 150 ? substr($0, 1, 147) "..." : $0 }
/^(Fresh machine|Kept machine of [^ ]*|Sources|No matrices): / { print line; next }
/^Versions: / { print ""; print; next }
/^\$ / { print ""; print line; count = in_summary = tests = passed = 0; next }
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
  ++tests
  if (line ~ / Passed +[0-9.]+ sec$/) ++passed
  else others[tests - passed] = line
}
# What a long command is at, minute by minute.
/^capstan: .*, for [0-9]+ min: / { next }
/^capstan: / { if (++said <= 12) print line; next }
/^\[exit status / { flush_end(); print line; said = 0; next }
/^(PASSED|FAILED), [0-9]/ { print line; next }
/^[0-9]+% tests passed/ { count = 0; in_summary = 1 }
in_summary && (count >= 24 || $0 == "") { next }
$0 != "" { ending[++count] = line }
