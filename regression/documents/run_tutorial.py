#!/usr/bin/env python3
"""Runs the commands of docs/tutorial.md, line by line, as a reader does.

usage: run_tutorial.py <root of the source tree> <folder of the build> [word ...]

Each line of a block ```sh runs in one shell, in a folder that holds `capstan`, `build` and `app-inputs` as the source tree does.
Lines that hold one of the words are left out: another test runs them. Exit status: 0 all succeeded, 1 one failed.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile


def commands(text):
    blocks = re.findall(r"^```sh\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip() and not line.startswith("#")]


def main(root, build, *left_out):
    lines = [line for line in commands((root / "docs/tutorial.md").read_text(encoding="utf-8"))
             if not any(word in line for word in left_out)]
    if not lines:
        print("docs/tutorial.md: no command is left", file=sys.stderr)
        return 1
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
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), *sys.argv[3:]))
