"""What the command lines of perf/ have in common."""

import argparse
import datetime
import os
import pathlib

from report import plots, processes


def number(least, kind=int):
    """A type of argparse: a number that is not less, and finite."""
    def read(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not least <= value < float("inf"):
            raise argparse.ArgumentTypeError(f"found '{text}'; allowed: a {'whole ' * (kind is int)}number from {least} on")
        return value
    return read


def numbers(least, kind=int):
    """A type of argparse: comma-separated numbers, each as number() reads it."""
    one = number(least, kind)

    def read(text):
        return list(dict.fromkeys(one(word) for word in text.split(",")))
    return read


def some_of(names):
    """A type of argparse: some of these words, comma-separated."""
    def read(text):
        chosen = list(dict.fromkeys(text.split(",")))
        for word in chosen:
            if word not in names:
                raise argparse.ArgumentTypeError(f"found '{word}'; allowed: a list of {', '.join(names)}")
        return chosen
    return read


def add_common(parser, timeout, limited):
    """Options of every benchmark. timeout: seconds; limited: what must not take longer."""
    parser.add_argument("--seed", type=number(0), default=1, help="of the order within a turn, and of random numbers "
                        "(default %(default)s)")
    parser.add_argument("--timeout", type=number(1), default=timeout, metavar="SECONDS",
                        help=f"for each {limited}, which is ended then with all its ranks (default %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR",
                        help="folder of the results (default: <build folder>/bench/<date>)")
    parser.add_argument("--note", action="append", default=[], metavar="TEXT", dest="remarks",
                        help="what readers of the results must know, such as who else used the machine; may be repeated")


def check_common(parser, arguments):
    if arguments.plots and not plots.available():
        parser.error(f"--plots: {plots.MISSING}")


def build_folder(root):
    return pathlib.Path(os.environ.get("CAPSTAN_BUILD_DIR", root / "build")).resolve()


def results_folder(arguments, build, kind="bench"):
    """The folder of --out, or one for this moment in <build>/<kind>, made where it is missing."""
    folder = arguments.out or build / kind / datetime.datetime.now().strftime("%Y-%m-%d_%H%M%S")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise processes.Misuse(f"--out: '{folder}' cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK):
        raise processes.Misuse(f"--out: '{folder}' cannot be written to")
    return folder
