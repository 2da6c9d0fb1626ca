#!/usr/bin/env python3
"""What bash offers after ./capstan and capstan-solve. Argument: capstan-solve."""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = SOURCE / "cmake" / "launcher" / "completion.bash"
LAUNCHER = SOURCE / "capstan"
SOLVE = "capstan-solve"
# Calls the function that bash has for the program (for its name without folders, as bash itself does).
COMPLETE = """source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
specification=$(complete -p "${1##*/}") || exit 1
function=${specification#*-F }
"${function%% *}"
[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' "${COMPREPLY[@]}"
"""
DECK = """# name: not_this
linear_solvers:
  - name: first_one   # the first
    method: capstan_cg
  - {name: "second", method: capstan_gmres}
systems:
  - name: laplace
"""


def offered(*words, folder=SOURCE):
    run = subprocess.run(["bash", "-c", COMPLETE, "bash", str(SCRIPT), *map(str, words)], capture_output=True, text=True,
                         check=False, cwd=folder)
    if run.returncode != 0 or run.stderr:
        raise AssertionError(f"{words}: {run.returncode}\n{run.stderr}")
    return run.stdout.splitlines()


def output(*words):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout


class OfTheLauncher(unittest.TestCase):
    def test_every_command_is_offered(self):
        declared = re.search(r"^commands=\((.*)\)$", LAUNCHER.read_text(encoding="utf-8"), re.MULTILINE)[1].split()
        self.assertEqual(sorted(offered(LAUNCHER, "")), sorted([*declared, "--help", "--version"]))
        self.assertEqual(sorted(offered("./capstan", "help", "")), sorted(declared))
        self.assertEqual(offered("./capstan", "so"), ["solve"])

    def test_every_option_that_the_launcher_reads_is_offered(self):
        text = "".join(path.read_text(encoding="utf-8") for path in sorted((SOURCE / "cmake" / "launcher").glob("*.sh")))
        found = 0
        for command in ("build", "solve", "test"):
            body = re.search(rf"^command_{command}\(\) {{\n(.*?)^}}", text, re.MULTILINE | re.DOTALL)[1]
            read = set(re.findall(r"(?m)^\s+(--[a-z-]+)(?: \| \S+)?\)|== (--[a-z-]+)", body))
            for option in filter(None, (option for options in read for option in options)):
                found += 1
                self.assertIn(option, offered(LAUNCHER, command, "--"), command)
        self.assertGreater(found, 4)
        self.assertEqual(set(offered(LAUNCHER, "list", "")), {"--costs", "--help", "--markdown"})
        self.assertEqual(offered(LAUNCHER, "bench", "--lat"), ["--latency"])

    def test_what_commands_work_on_is_offered(self):
        self.assertEqual(offered("./capstan", "run", "app-inputs/openfoam/ca"), ["app-inputs/openfoam/cavity3d"])
        self.assertEqual(offered("./capstan", "run", "pit"), ["pitzDaily"])
        self.assertEqual(offered("./capstan", "run", "app-inputs/openfoam/cavity3d/case/c"),
                         ["app-inputs/openfoam/cavity3d/case/constant"])
        self.assertEqual(offered("./capstan", "solve", "app-inputs/decks/lap"), ["app-inputs/decks/laplace3d.yaml"])
        self.assertNotIn("README.md", offered("./capstan", "solve", ""))
        self.assertIn("multigrid", offered("./capstan", "bench", "mu"))
        self.assertEqual(offered("./capstan", "build", "-DCAPSTAN_B"), ["-DCAPSTAN_BENCHMARKS=", "-DCAPSTAN_BASELINE="])
        self.assertEqual(offered("./capstan", "solve", "deck.yaml", "--ranks", ""), [])
        self.assertEqual(offered("./capstan", "enable", "app-inputs/d"), ["app-inputs/decks"])
        self.assertEqual(offered("./capstan", "enable", "case", "capstan_sst"), ["capstan_sstep_gmres"])
        self.assertEqual(offered("./capstan", "disable", "case", "capstan_sst"), [])
        self.assertEqual(offered("./capstan", "preload", "--d"), ["--dry-run"])
        self.assertIn("README.md", offered("./capstan", "preload", "--", "READ"))
        self.assertEqual(offered("./capstan", "preload", "hy"), ["hypre"])
        self.assertEqual(offered("./capstan", "plot", "run.csv", "--"), ["--fields", "--out", "--window", "--help"])

    def test_files_to_draw_are_offered(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("one.csv", "two.json", "three.yaml"):
                (pathlib.Path(folder) / name).touch()
            self.assertEqual(offered(LAUNCHER, "plot", "", folder=folder), ["one.csv", "two.json"])

    def test_a_launcher_that_is_not_there_offers_nothing(self):
        self.assertEqual(offered("./nowhere/capstan", ""), [])


class OfCapstanSolve(unittest.TestCase):
    def test_its_own_help_names_the_same(self):
        for words in ([], ["list"]):
            said = output(sys.argv[1], *words, "--help")
            # Newer releases of CLI11 leave the room of a short name free where there is none, and shout the titles.
            named = re.findall(r"(?m)^  (?:-\w, *| {8})?(--[a-z-]+)", said)
            self.assertEqual(set(offered(SOLVE, *words, "--")), set(named), said)
        said = output(sys.argv[1], "--help")
        subcommands = re.split(r"(?im)^subcommands:", said)[-1]
        self.assertEqual(re.findall(r"(?m)^  (\w+)", subcommands), [word for word in offered(SOLVE, "") if word == "list"], said)

    def test_the_launcher_offers_what_it_hands_on(self):
        self.assertLessEqual(set(offered(SOLVE, "--")), set(offered(LAUNCHER, "solve", "--")))

    def test_names_in_a_deck_are_offered_as_they_stand_and_never_run(self):
        names = ["$(touch ran)", "`touch ran`", "$HOME", "of the velocity", "a\\b", "p*"]
        with tempfile.TemporaryDirectory() as folder:
            deck = pathlib.Path(folder) / "deck.yaml"
            deck.write_text("linear_solvers:\n" + "".join(f"  - name: {name}\n" for name in names), encoding="utf-8")
            (pathlib.Path(folder) / "pressure").touch()
            found = offered(SOLVE, deck, "--solver", "", folder=folder)
            self.assertEqual(sorted(path.name for path in pathlib.Path(folder).iterdir()), ["deck.yaml", "pressure"])
            # What is offered is typed for the user: it has to mean the name.
            self.assertEqual([shlex.split(word) for word in found], [[name] for name in [*names, "all"]])
            for typed in ("of", "of\\ the"):
                self.assertEqual(offered(SOLVE, deck, "--solver", typed, folder=folder), ["of\\ the\\ velocity"])

    def test_solvers_of_the_deck_are_offered(self):
        with tempfile.TemporaryDirectory(prefix="capstan completion ") as folder:
            deck = pathlib.Path(folder) / "a deck.yaml"
            deck.write_text(DECK, encoding="utf-8")
            for words in ((SOLVE,), (LAUNCHER, "solve")):
                self.assertEqual(offered(*words, deck, "--solver", ""), ["first_one", "second", "all"])
                self.assertEqual(offered(*words, deck, "--solver", "=", "s"), ["second"])
                self.assertEqual(offered(*words, deck, "--solver", "="), ["first_one", "second", "all"])
            self.assertEqual(offered(SOLVE, "a", folder=folder), ["a deck.yaml"])
            (pathlib.Path(folder) / "report.json").touch()
            self.assertEqual(offered(SOLVE, deck, "--report", "", folder=folder), ["report.json"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
