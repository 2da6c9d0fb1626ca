"""Errors for people, and the nearest of the allowed words."""

import difflib


class WrongUse(Exception):
    """What a user wrote cannot be right: exit status 2. The message names the place, the value and what is allowed."""


class NotInstalled(Exception):
    """Something must be installed or built first: exit status 3."""


class RunFailed(Exception):
    """A program failed, or did not leave what it should: exit status 1."""


def nearest(word, allowed):
    """The allowed word most like the given one."""
    allowed = list(allowed)
    folded = {name.lower(): name for name in reversed(allowed)}
    close = difflib.get_close_matches(str(word).lower(), folded, n=1, cutoff=0.0)
    return folded[close[0]] if close else None


def not_allowed(place, found, allowed):
    """The error for a word that is none of the allowed ones."""
    allowed = list(allowed)
    return WrongUse(f"{place}: found '{found}'; allowed: {', '.join(allowed)}; did you mean '{nearest(found, allowed)}'?")
