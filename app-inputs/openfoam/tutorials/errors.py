"""Errors for people, how a program ends by them, and the nearest of the allowed words."""

import difflib
import sys


class ToldError(Exception):
    """One that ends a program with a message and this exit status."""
    status = 1


class WrongUse(ToldError):
    """What a user wrote cannot be right. The message names the place, the value and what is allowed."""
    status = 2


class NotInstalled(ToldError):
    """Something must be installed or built first."""
    status = 3


class RunFailed(ToldError):
    """A program failed, or did not leave what it should."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def exit_status(name, work):
    """Does a program's work(); returns its exit status: 0, 1 where work returns False, that of an error, which is told under
    the program's name, or 130 after Ctrl-C."""
    try:
        return 1 if work() is False else 0
    except ToldError as error:
        for line in str(error).splitlines():
            say(f"{name}: {line}")
        return error.status
    except KeyboardInterrupt:
        return 130


def nearest(word, allowed):
    """The allowed word most like the given one; of several, one with the same letters, and the first."""
    wanted = str(word).lower()
    matcher = difflib.SequenceMatcher(b=wanted)

    def likeness(name):
        matcher.set_seq1(name.lower())
        return matcher.ratio(), sorted(name.lower()) == sorted(wanted)

    return max(allowed, key=likeness, default=None)


def not_allowed(place, found, allowed):
    """The error for a word that is none of the allowed ones."""
    allowed = list(allowed)
    return WrongUse(f"{place}: found '{found}'; allowed: {', '.join(allowed)}; did you mean '{nearest(found, allowed)}'?")
