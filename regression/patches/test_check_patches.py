#!/usr/bin/env python3
"""Tests check_patches.sh, and what each patch of adapters/patches says of itself.

The applications' sources are not at hand: a patch's own lines make a source that it fits, and one that it does not.

usage: test_check_patches.py
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PATCHES = sorted((HERE / "../../adapters/patches").resolve().glob("*.patch"))


def sources_of(patch):
    """The files that a patch changes, as far as its lines tell, with other lines between."""
    files, lines = {}, None
    for line in patch.read_text(encoding="utf-8").splitlines():
        if line.startswith("+++ b/"):
            lines = files.setdefault(line[6:], [])
        elif line.startswith("@@"):
            # The line's number in the file before the change.
            first = int(re.match(r"@@ -(\d+)", line).group(1))
            lines.extend("other" for _ in range(first - 1 - len(lines)))
        elif lines is not None and line[:1] in (" ", ""):
            lines.append(line[1:])
    return files


class CheckPatches(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)

    def check(self, *arguments):
        return subprocess.run([HERE / "check_patches.sh", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)

    def write(self, files):
        for name, lines in files.items():
            (self.work / name).parent.mkdir(parents=True, exist_ok=True)
            (self.work / name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def test_each_patch_links_capstan_and_says_what_it_was_checked_with(self):
        self.assertTrue(PATCHES)
        for patch in PATCHES:
            text = patch.read_text(encoding="utf-8")
            self.assertRegex(text, r"(?m)^Source: https://\S+$", patch)
            self.assertRegex(text, r"(?m)^Checked against: [0-9a-f]{40} of \d{4}-\d\d-\d\d", patch)
            self.assertRegex(text, r"(?m)^\+find_package\(Capstan REQUIRED", patch)
            self.assertRegex(text, r"(?m)^\+target_link_libraries\(.*Capstan::", patch)

    def test_a_patch_that_fits_applies(self):
        for patch in PATCHES:
            with self.subTest(patch.stem):
                self.write(sources_of(patch))
                run = self.check("--source", f"{patch.stem}={self.work}")
                self.assertEqual(run.returncode, 0, run.stdout)
                self.assertIn(f"{patch.stem}: applies to a folder without history; checked before: ", run.stdout)

    def test_a_source_that_has_changed_is_told(self):
        for patch in PATCHES:
            with self.subTest(patch.stem):
                self.write({name: [line.replace("target", "changed").replace("enable", "changed") for line in lines]
                            for name, lines in sources_of(patch).items()})
                run = self.check("--source", f"{patch.stem}={self.work}")
                self.assertEqual(run.returncode, 1, run.stdout)
                self.assertIn(f"{patch.stem}: DOES NOT APPLY", run.stdout)

    def test_the_newest_commit_of_a_bare_repository_counts(self):
        patch = PATCHES[0]
        clone, bare = self.work / "clone", self.work / "bare"
        subprocess.run(["git", "init", "-q", clone], check=True)
        self.work = clone
        self.write(sources_of(patch))
        git = ["git", "-C", clone, "-c", "user.name=t", "-c", "user.email=t@localhost"]
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "sources"], check=True)
        subprocess.run(["git", "clone", "-q", "--bare", clone, bare], check=True)
        run = self.check("--source", f"{patch.stem}={bare}")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertRegex(run.stdout, r"applies to [0-9a-f]{40} of ")

    def test_wrong_use_is_told(self):
        for arguments, said in (((), "--source is needed"), (("--source", "nalu=/"), "there are patches for: "),
                                (("--source", f"{PATCHES[0].stem}=/nowhere"), "is no folder"), (("--sauce",), "unknown argument")):
            run = self.check(*arguments)
            self.assertEqual(run.returncode, 2, run.stdout)
            self.assertIn(said, run.stdout)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    unittest.main()
