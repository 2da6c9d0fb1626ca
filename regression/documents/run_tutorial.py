#!/usr/bin/env python3
"""Runs the commands of docs/tutorial.md, line by line, as a reader does.

usage: run_tutorial.py <root of the source tree> <folder of the build> [--without WORD ...] [--instead OLD NEW ...]

Each line of a block ```sh runs in one shell, in a folder that holds `capstan`, `build` and `app-inputs` as the source tree does.
--without: lines that hold the word are left out: another test runs them. --instead: NEW is written for OLD, a part of a line, so
that a test takes a coarse mesh; a line must hold OLD. Exit status: 0 all succeeded, 1 one failed.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def commands(text):
    blocks = re.findall(r"^```sh\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip() and not line.startswith("#")]


def chosen(lines, left_out, replacements):
    """The lines to run. Every word and OLD must be in one of them: else the tutorial has changed, and the test with it."""
    for word in [*left_out, *(old for old, _ in replacements)]:
        if not any(word in line for line in lines):
            raise SystemExit(f"docs/tutorial.md: no command holds '{word}'")
    lines = [line for line in lines if not any(word in line for word in left_out)]
    for old, new in replacements:
        lines = [line.replace(old, new) for line in lines]
    return lines


def main(root, build, left_out, replacements):
    lines = chosen(commands((root / "docs/tutorial.md").read_text(encoding="utf-8")), left_out, replacements)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "capstan").write_text(f'#!/bin/sh\nexec "{root}/capstan" "$@"\n', encoding="utf-8")
        (folder / "capstan").chmod(0o755)
        (folder / "build").symlink_to(build)
        (folder / "app-inputs").symlink_to(root / "app-inputs")
        script = "set -e\n" + "".join(f"echo '$' {quoted(line)}\n{line}\n" for line in lines)
        done = subprocess.run(["bash", "-c", script], cwd=folder, check=False, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                              env={**os.environ, "CAPSTAN_BUILD_DIR": str(build), "CAPSTAN_INSTALL": "off"})
        picture = folder / "my-case.png"
        if done.returncode == 0 and not picture.is_file():
            print(f"the tutorial has drawn no {picture.name}", file=sys.stderr)
            return 1
        # Enabled and disabled: the case is as it was.
        changed = [path for path in folder.glob("my-case/**/*") if path.is_file() and path.name == ".capstan-enabled.json"]
        return 1 if done.returncode != 0 or changed else 0


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--without", nargs="+", default=[])
    parser.add_argument("--instead", nargs=2, action="append", default=[])
    given = parser.parse_args()
    sys.exit(main(given.root.resolve(), given.build.resolve(), given.without, given.instead))
