#!/usr/bin/env python3
"""Shows that check_documents.py notices links, commands and reasons that lead nowhere."""

import importlib.util
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "check_documents.py"
spec = importlib.util.spec_from_file_location("check_documents", SCRIPT)
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)

README = "# T\n[a](docs/a.md) [web](https://example.org)\n```sh\n./capstan  test   # all\n# a comment\n```\n"
PLATFORMS = ("\n## Platforms and devices\n\n| Platform | Version | What runs there | How it is proven | When |\n|---|---|---|---|---|\n"
             "| A | 1 | all | by hand: once | 2026-11 |\n| B | 1 | all | `capstan` | 2026-11-28 |\n| C | any | not proven | | |\n")
FILES = {
    "README.md": README + PLATFORMS,
    "docs/a.md": "# A b, c\n[up](../README.md#t) [t](troubleshooting.md) [here](#a-b-c)\n```cpp\nx[0](1);\n```\n",
    "docs/troubleshooting.md": "| Reason | To do |\n|---|---|\n| converged | |\n\n## Questions\n| other | |\n",
    "belos_ext/convergence/stop_reason.cpp": 'case StopReason::A:\n return "converged";\ncase StopReason::B:\n return "not started";\n',
    "capstan": "#!/bin/sh\ncommands=(test bench)\n",
    "perf/campaigns/default.yaml": "",
    "CITATION.cff": "cff-version: 1.2.0\nauthors:\n  - name: The T developers\nversion: 0.1.0\n",
    "CMakeLists.txt": "project(\n  T\n  VERSION 0.1.0\n)\n",
    "LICENSE": "Licence\n\nCopyright (c) 2026, The T developers\n",
    "commands.txt": "# head\n./capstan test = launcher\n",
}


class CheckDocuments(unittest.TestCase):
    def problems(self, **changes):
        """Of FILES with texts replaced; a key is a path with __ for / and no suffix."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in FILES.items():
                (root / name).parent.mkdir(exist_ok=True, parents=True)
                (root / name).write_text(changes.get(name.rpartition(".")[0].replace("/", "__"), text), encoding="utf-8")
            found = [problem for path in check.documents(root) for problem in check.link_problems(root, path)]
            found += [problem for path in check.documents(root) for problem in check.mention_problems(root, path)]
            found += [*check.unreachable(root), *check.reason_problems(root), *check.citation_problems(root), *check.platform_problems(root)]
            return found + [*check.command_problems(root, root / "commands.txt", ["launcher", "decks.np2"])]

    def test_sound_documents_pass(self):
        self.assertEqual(self.problems(), [])

    def test_links_to_no_file_and_no_heading_are_found(self):
        found = self.problems(docs__a="# A\n[t](troubleshooting.md) [x](b.md) [y](../README.md#u)\n")
        self.assertEqual(found, ["docs/a.md: the link 'b.md' leads to no file",
                                 "docs/a.md: the link '../README.md#u' leads to no heading"])

    def test_files_and_commands_in_the_text_are_there(self):
        text = FILES["docs/a.md"] + "`docs/{}` `./capstan {} -R x` `./capstan bench {} --repeat 2` `./capstan --version` `n / x`\n"
        def mentioned(*words):
            return [problem for problem in self.problems(docs__a=text.format(*words)) if "no test is named" not in problem]
        self.assertEqual(mentioned("*.md", "test", "default"), [])
        self.assertEqual(mentioned("b.md", "tests", "all"), [
            "docs/a.md: 'docs/b.md' is no file and no folder", "docs/a.md: './capstan tests' is no command of the launcher",
            "docs/a.md: './capstan bench all' measures nothing"])

    def test_documents_that_nothing_links_to_are_found(self):
        self.assertEqual(self.problems(docs__a="# A\n"), ["docs/troubleshooting.md: no link leads here from README.md"])

    def test_commands_without_a_test_are_found(self):
        self.assertIn("no test is named for the command './capstan test'", "\n".join(self.problems(commands="")))
        self.assertIn("there is no test 'launch'", "\n".join(self.problems(commands="./capstan test = launch\n")))
        self.assertEqual(self.problems(commands="./capstan test = decks\n"), [])
        self.assertEqual(self.problems(commands="./capstan test = elsewhere: why\n"), [])
        self.assertIn("no document shows the command 'ls'",
                      "\n".join(self.problems(commands=FILES["commands.txt"] + "ls = launcher\n")))

    def test_commands_in_the_text_count_where_they_are_given_something(self):
        text = FILES["docs/a.md"] + "`./capstan bench default\n--repeat 2` `./capstan bench` `./capstan test`\n"
        missing = "docs/a.md: no test is named for the command './capstan bench default --repeat 2' in commands.txt"
        self.assertEqual(self.problems(docs__a=text), [missing])
        self.assertEqual(self.problems(docs__a=text.replace("`./capstan bench default\n--repeat 2`", "`./capstan bench`")), [])
        listed = FILES["commands.txt"] + "./capstan bench default --repeat 2 = elsewhere: why\n"
        self.assertEqual(self.problems(docs__a=text, commands=listed), [])

    def test_reasons_that_are_missing_or_unknown_are_found(self):
        found = self.problems(docs__troubleshooting=FILES["docs/troubleshooting.md"].replace("converged", "tired"))
        self.assertEqual(found, ["docs/troubleshooting.md: the reason 'converged' is missing",
                                 "docs/troubleshooting.md: no solve ends with the reason 'tired'"])

    def test_platforms_say_how_and_when_they_are_proven(self):
        wrong = PLATFORMS + "| D | 1 | all | surely | 2026-11 |\n| E | 1 | all | `capstan` | |\n| F | any | not proven | | 2026-11 |\n| G | 1 |\n"
        self.assertEqual(self.problems(README=README + wrong + "\n## Help\n| H | x |\n"),
                         ["README.md: 'D' names nothing that proves it", "README.md: 'E' does not say when it was proven",
                          "README.md: 'F' was proven on 2026-11, or was not", "README.md: the row 'G' has not five cells"])
        self.assertIn("other columns", self.problems(README=README + PLATFORMS.replace("Version", "Age"))[0])
        missing = "README.md: below '## Platforms and devices' is no table of platforms"
        for text in (README, README + PLATFORMS.replace("Platforms and", "Systems and"), README + PLATFORMS.partition("| A |")[0]):
            self.assertEqual(self.problems(README=text), [missing])

    def test_a_citation_of_another_version_or_of_others_is_found(self):
        found = self.problems(CITATION=FILES["CITATION.cff"].replace("0.1.0", "0.2.0"))
        self.assertEqual(found, ["CITATION.cff: 'version' is '0.2.0'; CMakeLists.txt says '0.1.0'"])
        found = self.problems(CITATION=FILES["CITATION.cff"].replace("The T", "Two"))
        self.assertEqual(found, ["CITATION.cff: 'name' is 'Two developers'; LICENSE says 'The T developers'"])


if __name__ == "__main__":
    unittest.main()
