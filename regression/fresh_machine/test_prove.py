#!/usr/bin/env python3
"""Tests of prove.sh: machines that stay, what is shown and what is kept of a run. Programs that need root, a mirror or another
system have stand-ins here, so that the "machine" is a folder."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PARTS = ("regression/fresh_machine/prove.sh", "regression/fresh_machine/bare_debian.sh", "regression/fresh_machine/summary.awk",
         "cmake/launcher/output.sh")
STAND_INS = {
    "id": "echo 0",
    "mount": "", "umount": "", "mountpoint": "exit 1",
    "taskset": 'shift 2; exec "$@"',
    "unshare": 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
    "apt-get": "echo 'http://mirror|bookworm|main'",
    "debootstrap": """echo "debootstrap $2" >>"$CALLS"; cd "$3" && mkdir -p root dev etc/apt/apt.conf.d etc/apt/sources.list.d \
etc/apt/preferences.d && echo 12.0 >etc/debian_version""",
    # What the machine has installed, or a command line in it.
    "chroot": """tree=$1; shift
case $1 in
  dpkg-query) echo installed libtrilinos-tpetra-dev 17.0.0; exit 0 ;;
  apt-get) echo "apt-get $3" >>"$CALLS"; exit 0 ;;
  apt-cache) echo "$3 | 17.0.0 | $MADISON Packages"; exit 0 ;;
esac
for last; do :; done
exec bash -c "cd '$tree/root/capstan' && ${last#*&& }" """,
}


class Prove(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.top = pathlib.Path(self.folder.name).resolve()
        self.sources, self.machines, self.programs = (self.top / name for name in ("sources", "machines", "bin"))
        self.calls, self.log = self.top / "calls", self.top / "proof.log"
        for part in (self.machines, self.programs):
            part.mkdir()
        for part in PARTS:
            (self.sources / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / part, self.sources / part)
        for name, script in STAND_INS.items():
            (self.programs / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            (self.programs / name).chmod(0o755)
        (self.sources / ".gitignore").write_text("built\n", encoding="utf-8")
        self.git("init", "-q")
        self.commit("first")

    def git(self, *words):
        subprocess.run(["git", "-C", self.sources, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True)

    def commit(self, text):
        (self.sources / "text").write_text(text + "\n", encoding="utf-8")
        self.git("add", ".")
        self.git("commit", "-q", "-m", text)

    def prove(self, *words, madison="http://mirror experimental/main amd64"):
        environment = dict(os.environ, MADISON=madison, PATH=f"{self.programs}:{os.environ['PATH']}", CALLS=str(self.calls))
        return subprocess.run([self.sources / PARTS[0], "--cores", "1", "--folder", self.machines, *words], env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def made(self):
        return self.calls.read_text(encoding="utf-8").splitlines() if self.calls.exists() else []

    def test_a_machine_is_deleted_after_its_run(self):
        ended = self.prove("--log", str(self.log), "seq -f 'line %g' 1000")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual([path.name for path in self.machines.iterdir()], ["capstan-fresh-bookworm.log"])
        whole = (self.machines / "capstan-fresh-bookworm.log").read_text(encoding="utf-8")
        self.assertIn("line 500\n", whole)
        for text in (ended.stdout, self.log.read_text(encoding="utf-8")):
            for expected in ("Fresh machine: Debian 12.0", "Sources: commit ", ": first\n", "$ seq", "line 1000\n", "[exit status 0 ",
                             "Versions: libtrilinos-tpetra-dev 17.0.0\n", "\nPASSED, ", "No matrices: "):
                self.assertIn(expected, text)
            self.assertNotIn("line 500\n", text)

    def test_a_machine_that_is_kept_goes_on_with_the_sources_of_then(self):
        self.assertEqual(self.prove("--keep", "--log", str(self.log), "cp text built; false").returncode, 1)
        self.commit("second")
        ended = self.prove("--keep", "--log", str(self.log), "cat built text")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(self.made(), ["debootstrap bookworm"])
        self.assertIn("first\nsecond\n[exit status 0", ended.stdout)
        log = self.log.read_text(encoding="utf-8")
        self.assertLess(log.index("\nFAILED, "), log.index("Kept machine of 2"))
        self.assertLess(log.index("Kept machine of 2"), log.index("\nPASSED, "))
        # Another machine is another proof.
        self.prove("--log", str(self.log), "true")
        self.assertNotIn("FAILED", self.log.read_text(encoding="utf-8"))

    def test_an_unfinished_machine_is_not_taken(self):
        (self.machines / "capstan-machine-sid").mkdir()
        ended = self.prove("--suite", "sid", "--keep", "true")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("unfinished", ended.stderr)
        self.assertEqual(self.made(), [])

    def test_a_machine_that_could_not_be_made_does_not_stay(self):
        (self.programs / "debootstrap").write_text("#!/bin/sh\necho no mirror\nexit 1\n", encoding="utf-8")
        ended = self.prove("--keep", "true")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("no mirror", ended.stderr)
        self.assertFalse((self.machines / "capstan-machine-bookworm").exists())

    def test_experimental_is_that_of_the_mirror(self):
        """What debootstrap leaves is enough to install unstable's Trilinos in its place."""
        self.assertEqual(self.prove("--suite", "experimental", "true").returncode, 0)
        self.assertEqual(self.made(), ["debootstrap sid", "apt-get update"])
        ended = self.prove("--suite", "experimental", "true", madison="http://mirror sid/main amd64")
        self.assertEqual(ended.returncode, 1)
        self.assertIn("has no Trilinos in experimental", ended.stderr)

    def test_matrices_beside_the_sources_come_along(self):
        (self.top / "shared" / "matrices").mkdir(parents=True)
        (self.top / "shared" / "matrices" / "a.mtx").write_text("a matrix\n", encoding="utf-8")
        ended = self.prove("cat ../shared/matrices/a.mtx")
        self.assertIn("a matrix\n[exit status 0", ended.stdout, ended.stderr)
        self.assertNotIn("No matrices", ended.stdout)

    def test_only_the_two_commands_of_the_readme_write_the_proof_beside_the_script(self):
        proof = self.sources / "regression" / "fresh_machine" / "bookworm.log"
        self.prove("true")
        self.assertFalse(proof.exists())
        self.assertEqual(self.prove().returncode, 1)  # there is no ./capstan
        self.assertIn("FAILED", proof.read_text(encoding="utf-8"))

    def test_what_is_not_committed_is_left_out_and_said(self):
        (self.sources / "text").write_text("not committed\n", encoding="utf-8")
        ended = self.prove("cat text")
        self.assertIn("first\n[exit status 0", ended.stdout)
        self.assertIn("what is not committed is left out", ended.stderr)

    def test_wrong_use_is_refused_before_anything_is_made(self):
        for words, expected in ((["--suite", "unstable"], "allowed: bookworm, trixie, sid, experimental"),
                                (["--log", "/no/such/folder/file"], "--log: found '/no/such/folder/file'"),
                                (["--log"], "--log: found ''"), (["--cores", "0"], "--cores: found '0'"),
                                (["--kept"], "unknown option '--kept'")):
            ended = self.prove(*words)
            self.assertEqual(ended.returncode, 2, words)
            self.assertIn(expected, ended.stderr)
        self.assertEqual(self.made(), [])


if __name__ == "__main__":
    unittest.main()
