#!/usr/bin/env python3
"""Runs a test's command where the programs and Python modules it needs are installed; elsewhere says which is missing.

usage: when_installed.py <test> [program:NAME[,NAME...]:PACKAGES] [module:NAME:PACKAGES] [folder:PATTERN:PACKAGES] ... -- command ...

One of the NAMEs of a program is enough; PACKAGES: how Debian 12 calls what holds it, with =12 at the end if later releases of Debian
have another version, which ./capstan does not install there. Exit status: the command's; 77, which
ctest is told to take for "skipped", where something is missing; 1 instead where nothing may be: with
CAPSTAN_COMPLETE_TESTS=1 (./capstan test, which has just installed it all) and, unless that is 0, with CI=true on Debian 12.
CAPSTAN_SKIPPED_TESTS: a file to which the reason is appended too.
"""

import glob
import importlib.util
import os
import pathlib
import re
import shutil
import sys

SKIPPED = 77


def on_debian_12():
    release = pathlib.Path("/etc/os-release")
    words = release.read_text(encoding="utf-8").splitlines() if release.exists() else []
    return "ID=debian" in words and 'VERSION_ID="12"' in words


def all_must_run():
    asked = os.environ.get("CAPSTAN_COMPLETE_TESTS")
    return asked == "1" if asked else os.environ.get("CI") == "true" and on_debian_12()


def lack(need):
    """What is missing of a need, in words, or None."""
    kind, names, packages = re.sub("=12$", "", need).split(":")
    if kind == "program" and not any(map(shutil.which, names.split(","))):
        return f"{names.split(',')[0]} is not installed (Debian: {packages})"
    if kind == "module" and importlib.util.find_spec(names) is None:
        return f"{sys.executable} has no module {names} (Debian: {packages}, for /usr/bin/python3)"
    if kind == "folder" and not glob.glob(names):
        return f"{names} is not there (Debian: {packages})"
    return None


def main(words):
    needs, command = words[1:words.index("--")], words[words.index("--") + 1:]
    missing = [need for need in needs if lack(need)]
    if not missing:
        os.execvp(command[0], command)
    must = all_must_run() and (on_debian_12() or not all(need.endswith("=12") for need in missing))
    reason = f"{words[0]} {'cannot run' if must else 'is skipped'}: {'; '.join(map(lack, missing))}"
    print(reason)
    if not must and "CAPSTAN_SKIPPED_TESTS" in os.environ:
        with open(os.environ["CAPSTAN_SKIPPED_TESTS"], "a", encoding="utf-8") as file:
            file.write(reason + "\n")
    return 1 if must else SKIPPED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
