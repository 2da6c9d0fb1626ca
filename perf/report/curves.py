"""Curves that a test program of the build writes to a CSV file where an environment variable says so, and their
pictures."""

import csv
import dataclasses
import os
import pathlib
import subprocess
import sys
import tempfile

from report import options, plots, processes


@dataclasses.dataclass(frozen=True)
class Source:
    """Which test of which program writes which columns."""
    program: str
    test: str
    variable: str
    fields: list


def _measure(source, build, path):
    program = build / "test" / source.program
    if not program.is_file():
        print(f"'{program}' is not built: CAPSTAN_BUILD_DIR names the build folder, target {source.program}",
              file=sys.stderr)
        raise SystemExit(1)
    processes.set_environment()
    done = subprocess.run([str(program), f"--gtest_filter={source.test}"], check=False,
                          env={**os.environ, source.variable: str(path)}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(done.stdout, file=sys.stderr)
        raise SystemExit(1)


def _read(source, path):
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, delimiter=";")
            if rows.fieldnames != source.fields:
                raise ValueError(f"found the columns {rows.fieldnames}; expected {source.fields}")
            return list(rows)
    except (OSError, ValueError) as error:
        print(f"'{path}' cannot be read: {error}", file=sys.stderr)
        raise SystemExit(2) from error


def main(parser, source, picture, root, draw):
    """The command line of a figure: --out and --csv. draw(rows, path) makes the picture. Returns the exit status."""
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(picture),
                        help="the picture, PNG or SVG (default: %(default)s)")
    parser.add_argument("--csv", type=pathlib.Path, help="draw this file instead of running the program")
    arguments = parser.parse_args()
    if not plots.available():
        print(plots.MISSING, file=sys.stderr)
        return 3
    if not arguments.out.absolute().parent.is_dir():
        parser.error(f"--out: '{arguments.out.absolute().parent}' is no folder")
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.csv
        if path is None:
            path = pathlib.Path(folder) / "curves.csv"
            _measure(source, options.build_folder(root), path)
        draw(_read(source, path), arguments.out)
    print(f"drawn: {arguments.out}")
    return 0
