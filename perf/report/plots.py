"""What pictures share. Modules that draw import matplotlib when they draw: nothing else needs it."""

import importlib.util
import sys

MISSING = f"{sys.executable} has no matplotlib (Debian: python3-matplotlib, for /usr/bin/python3)"


def available():
    return importlib.util.find_spec("matplotlib") is not None


def load_pyplot():
    """matplotlib's pyplot, for files only."""
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
    return pyplot
