#!/usr/bin/env python3
"""Shows that check_words.py notices long cells, words that stumble, and metaphors."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent / "check_words.py"
PAGE = """# T
From 2 ranks to 8 it is on time. As many as there are.

| a | b |
|---|---|
| One. Two. | `A. B. C. D.` and more |

```
from 2 on. so many
```
"""


class CheckWords(unittest.TestCase):
    def problems(self, page=PAGE, source="", path="belos_ext/a.hpp", name="docs/a.md"):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for file, text in ((name, page), (path, source)):
                (root / file).parent.mkdir(parents=True, exist_ok=True)
                (root / file).write_text(text, encoding="utf-8")
            run = subprocess.run([sys.executable, str(CHECK), folder], capture_output=True, text=True, check=False)
            found = run.stdout.splitlines()
            self.assertEqual(run.returncode, 1 if any(":" in line for line in found) else 0, run.stdout + run.stderr)
            return found

    def test_plain_words_pass(self):
        self.assertEqual(self.problems(), ["the words of documents and sources are plain"])

    def test_a_cell_of_three_sentences_is_found(self):
        for cell in ("One. Two. Three.", "One. Two. three is `x`. Four", "One? Two! Three"):
            (found,) = self.problems(PAGE.replace("One. Two.", cell))
            self.assertIn("docs/a.md:6: a cell of a table with 3 sentences, at most 2", found)
        self.assertIn("plain", self.problems(PAGE.replace("One. Two.", "One. Two. Three."), name="docs/references.md")[0])
        generated = f"<!-- begin generated: x -->\n{PAGE.replace('Two.', 'Two. Three. Four.')}<!-- end generated: x -->\n"
        self.assertIn("plain", self.problems(generated)[0])

    def test_words_that_stumble_are_found(self):
        for text, line in (("It wins from 2 ranks on.", 3), ("It wins from about 80\nus on, not earlier.", 3), ("from 256 ranks on with KLR", 3),
                           ("renewed every so many solves", 3), ("it takes so\nmany of them", 3)):
            (found,) = self.problems(PAGE.replace("\n\n|", f"\n{text}\n\n|", 1))
            self.assertIn(f"docs/a.md:{line}: '", found)
        for text in ("a message from a rank on another node", "from now the solver depends on it"):
            self.assertIn("plain", self.problems(PAGE.replace("\n\n|", f"\n{text}\n\n|", 1))[0], text)

    def test_metaphors_are_found_in_comments_and_in_names(self):
        for source in ("// the last rung\n", "int passengerCount = 0;\n", "struct Doorway {};\n", "monitor.board(batch);\n", "lanes_.clear();\n"):
            (found,) = self.problems(source=source)
            self.assertIn("belos_ext/a.hpp:1: '", found)
            self.assertIn("is a metaphor; the field says ", found)
        for source in ("int plane = 0;  // a keyboard's planes, wrung\n", "int onboarding;\n"):
            self.assertIn("plain", self.problems(source=source)[0])

    def test_lanes_are_those_of_registers_in_kernels(self):
        self.assertIn("plain", self.problems(source="int lanes = 4;\n", path="tpetra_ext/kernels/host/a.hpp")[0])


if __name__ == "__main__":
    unittest.main()
