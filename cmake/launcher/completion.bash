# Completion of ./capstan and capstan-solve in bash. In a source tree: source cmake/launcher/completion.bash. An installation
# holds it where bash-completion looks for it.
#
# The launcher's commands and options are those of its own help, so that nothing here can be out of date. capstan-solve
# takes long to start, hence the list; the test launcher.completion compares it.
# shellcheck shell=bash
_capstan_solve_options="--help --version --solver --set --report --history --quiet --mpi-threads"
_capstan_solve_commands="list"
_capstan_solve_list_options="--costs --help --markdown"

# The word that is being completed, and the one before. Bash makes three words of --option=value.
_capstan_words() {
  current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $current == = ]]; then
    current=""
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
}

# _capstan_offer_lines <words, one a line>: those of them that begin with what is typed, escaped as they must be. Not by
# compgen -W, which runs the commands that stand in its words.
_capstan_offer_lines() {
  local word escaped
  while IFS= read -r word; do
    printf -v escaped %q "$word"
    if [[ -n $word && ($word == "$current"* || $escaped == "$current"*) ]]; then COMPREPLY+=("$escaped"); fi
  done <<<"$1"
}

# _capstan_offer <words>: the same, with blanks between them.
_capstan_offer() {
  _capstan_offer_lines "$(tr -s '[:blank:]' '\n' <<<"$1")"
}

# _capstan_offer_files [suffix]: files, or those with the suffix, and folders. Names are escaped as they must be.
_capstan_offer_files() {
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "$current"; compgen -f -X "!*$1" -- "$current" | grep -v '/$')
  mapfile -t COMPREPLY < <(printf '%s\n' "${COMPREPLY[@]}" | sort -u | grep .)
  compopt -o filenames 2>/dev/null || true
}

# The names of the linear_solvers of the decks on the command line.
_capstan_solver_names() {
  local word
  for word in "${COMP_WORDS[@]}"; do
    [[ $word == *.yaml && -f $word ]] || continue
    awk '/^[^ #-]/ { inside = /^linear_solvers:/ }
      inside && sub(/^ *- *\{? *name: */, "") { sub(/ *[,}#].*/, ""); gsub(/["\047]/, ""); print }' "$word"
  done
}

# _capstan_complete_solve [further options]: what capstan-solve takes.
_capstan_complete_solve() {
  case $previous in
    --solver) _capstan_offer_lines "$(_capstan_solver_names; echo all)" ;;
    --report) _capstan_offer_files .json ;;
    --history) _capstan_offer_files .csv ;;
    --set) ;;
    *)
      if [[ $current == -* ]]; then
        _capstan_offer "$_capstan_solve_options $*"
      else
        _capstan_offer_files .yaml
      fi
      ;;
  esac
}

# The words for a solver that enable takes.
_capstan_methods() {
  echo capstan
  sed -nE '/^METHODS = /,/\}/ s/"(capstan_[a-z_]+)": (True|False)/\n\1\n/gp' "$root"{,/../share/capstan}/app-inputs/openfoam/tutorials/solvers.py 2>/dev/null |
    grep -x 'capstan_[a-z_]*'
}

_capstan_solve() {
  local current previous
  COMPREPLY=()
  _capstan_words
  if [[ ${COMP_WORDS[1]} == list && $COMP_CWORD -gt 1 ]]; then
    _capstan_offer "$_capstan_solve_list_options"
    return
  fi
  _capstan_complete_solve
  [[ $COMP_CWORD -ne 1 || $current == -* ]] || _capstan_offer "$_capstan_solve_commands"
}

_capstan() {
  local current previous launcher=${COMP_WORDS[0]/#\~/$HOME} root commands command=${COMP_WORDS[1]} options
  COMPREPLY=()
  _capstan_words
  launcher=$(command -v -- "$launcher") || return 0
  root=$(dirname -- "$(readlink -f -- "$launcher")")
  commands=$("$launcher" help 2>/dev/null | awk '/^  [a-z]+ +[^ ]/ { print $1 }')
  if [[ $COMP_CWORD -eq 1 ]]; then
    _capstan_offer "$commands --help --version"
    return
  fi
  options="$("$launcher" "$command" --help 2>/dev/null | grep -oE -- '(^|[[ (])--[a-z][a-z-]+' | tr -d '[ (' | sort -u) --help"
  case $command in
    help) _capstan_offer "$commands" ;;
    solve)
      [[ $previous != --ranks ]] || return 0
      _capstan_complete_solve "$options"
      ;;
    run)
      if [[ $COMP_CWORD -eq 2 && $current != -* ]]; then
        _capstan_offer "$(CDPATH='' cd -- "$root" && find app-inputs -mindepth 2 -name run -type f -perm -u+x -printf '%h\n' | sed 'p; s#.*/##')"
      fi
      [[ ${#COMPREPLY[@]} -gt 0 ]] || _capstan_offer_files
      ;;
    enable | disable)
      case $previous in
        --field) ;;
        *)
          if [[ $current == -* ]]; then
            _capstan_offer "$options"
          elif [[ $command == enable && $COMP_CWORD -gt 2 && $previous != -* ]]; then
            _capstan_offer "$(_capstan_methods)"
          else
            mapfile -t COMPREPLY < <(compgen -d -- "$current")
            compopt -o filenames 2>/dev/null || true
          fi
          ;;
      esac
      ;;
    preload)
      if [[ $current == -* && " ${COMP_WORDS[*]:2:COMP_CWORD-2} " != *" -- "* ]]; then
        _capstan_offer "$options --"
      elif [[ " ${COMP_WORDS[*]:2:COMP_CWORD-2} " != *" -- "* ]]; then
        _capstan_offer "hypre petsc saturne"
      else
        mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current")
        compopt -o filenames 2>/dev/null || true
      fi
      ;;
    plot)
      case $previous in
        --fields) ;;
        *)
          if [[ $current == -* ]]; then
            _capstan_offer "$options"
          else
            _capstan_offer_files .csv
            _capstan_offer_files .json
          fi
          ;;
      esac
      ;;
    build)
      if [[ $current == -D* ]]; then
        _capstan_offer "$(sed -nE 's/^ *(option|set)\((CAPSTAN_[A-Z_]+).*/-D\2=/p' "$root"/cmake/Capstan{Options,Baseline}.cmake)"
        compopt -o nospace 2>/dev/null || true
      else
        _capstan_offer "$options"
      fi
      ;;
    bench)
      _capstan_offer "$options overlap openfoam models simulation $(CDPATH='' cd -- "$root/perf/campaigns" && printf '%s\n' *.yaml | sed 's/\.yaml$//')"
      [[ $current == -* ]] || _capstan_offer_files .yaml
      ;;
    study)
      case $previous in
        --matrix) _capstan_offer_files ;;
        --machine) _capstan_offer "$(CDPATH='' cd -- "$root/perf/models/machines" && printf '%s\n' *.yaml | sed 's/\.yaml$//') none" && _capstan_offer_files .yaml ;;
        *)
          _capstan_offer "$options embedded crossover"
          [[ ${COMP_WORDS[2]:-} != embedded || $current == -* ]] || _capstan_offer_files
          ;;
      esac
      ;;
    *) _capstan_offer "$options" ;;
  esac
}

complete -F _capstan capstan
complete -F _capstan_solve capstan-solve
