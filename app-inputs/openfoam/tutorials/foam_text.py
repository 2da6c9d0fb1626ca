"""Edits OpenFOAM's dictionaries as text, in place: comments, macros ($p), directives (#include) and the order of entries stay
as they are. A later entry wins over an earlier one of the same name, as in OpenFOAM."""

import dataclasses
import re

from .errors import RunFailed

CLOSING = {"(": ")", "[": "]", "{": "}"}
SPACE = re.compile(r"(\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
STRING = re.compile(r'"(?:\\.|[^"\\])*"', re.DOTALL)
VERBATIM = re.compile(r"#\{.*?#\}", re.DOTALL)
WITHOUT_ARGUMENT = ("#else", "#endif")


@dataclasses.dataclass
class Entry:
    """One entry: text[start:end], its value (or, for a dictionary, what is between the braces) text[first:last]."""
    key: str
    start: int
    end: int
    first: int
    last: int
    children: "list[Entry] | None" = None


class FoamText:
    """The text of one dictionary file."""

    def __init__(self, text, name="dictionary"):
        self.text, self.name = text, str(name)
        self._parse()

    @classmethod
    def read(cls, path):
        """The dictionary in a file."""
        return cls(path.read_text(encoding="utf-8", errors="replace"), path)

    # Reading

    def _parse(self):
        self.entries, end = self._body(0)
        if end < len(self.text):
            self._fail(end, "'}' closes nothing")

    def _fail(self, at, message):
        line = self.text.count("\n", 0, at) + 1
        raise RunFailed(f"{self.name}:{line}: {message}")

    def _skip(self, at):
        return SPACE.match(self.text, at).end()

    def _body(self, at):
        """(entries, position of the closing brace or of the end)."""
        entries = []
        while True:
            at = self._skip(at)
            if at >= len(self.text) or self.text[at] == "}":
                return entries, at
            entry = self._entry(at)
            if entry.key:
                entries.append(entry)
            at = entry.end

    def _entry(self, start):
        if self.text[start] == ";":  # OpenFOAM reads over it
            return Entry("", start, start + 1, start, start)
        word_end = self._word(start)
        key = self.text[start:word_end]
        at = self._skip(word_end)
        if key.startswith("#"):
            return self._directive(start, key, word_end)
        if self.text.startswith("{", at):
            children, close = self._body(at + 1)
            if close >= len(self.text):
                self._fail(start, f"'{key}' is never closed")
            return Entry(key.strip('"'), start, close + 1, at + 1, close, children)
        last = self._value_end(at)
        end = last + 1 if self.text.startswith(";", last) else last
        if end == start:
            self._fail(start, f"'{self.text[start]}' is no entry")
        return Entry(key.strip('"'), start, end, at, at + len(self.text[at:last].rstrip()))

    def _word(self, at):
        """The end of a key: a quoted text, or a word with brackets that close, such as div(phi,U)."""
        quoted = STRING.match(self.text, at)
        if quoted:
            return quoted.end()
        depth = 0
        while at < len(self.text):
            char = self.text[at]
            if char in '{};"' or (char.isspace() and depth == 0) or self.text.startswith(("//", "/*"), at):
                break
            depth += (char == "(") - (char == ")")
            at += 1
        return at

    def _directive(self, start, key, at):
        """#include "file", #includeFunc name, #remove (a b): the directive and one argument."""
        if key not in WITHOUT_ARGUMENT:
            at = self._skip(at)
            if self.text.startswith("(", at):
                at = self._group_end(at)
            elif self.text.startswith("{", at):
                at = self._group_end(at)
            else:
                at = self._word(at)
            while self.text.startswith(";", at):
                at += 1
        return Entry(key, start, at, start + len(key), at)

    def _group_end(self, at):
        """Behind the bracket that closes the one at this place."""
        opened, at = [at], at + 1
        while opened and at < len(self.text):
            jump = STRING.match(self.text, at) or VERBATIM.match(self.text, at)
            space = self._skip(at)
            if jump or space > at:
                at = jump.end() if jump else space
                continue
            char = self.text[at]
            if char in CLOSING:
                opened.append(at)
            elif char == CLOSING[self.text[opened[-1]]]:
                opened.pop()
            elif char in CLOSING.values():
                self._fail(at, f"'{char}' does not close '{self.text[opened[-1]]}'")
            at += 1
        if opened:
            self._fail(opened[0], f"'{self.text[opened[0]]}' is never closed")
        return at

    def _value_end(self, at):
        """Where a value ends: at its ';', or before a '}' that closes the dictionary around it."""
        while at < len(self.text) and self.text[at] not in ";}":
            jump = STRING.match(self.text, at) or VERBATIM.match(self.text, at)
            if jump:
                at = jump.end()
            elif self.text[at] in CLOSING:
                at = self._group_end(at)
            else:
                at = max(self._skip(at), at + 1)
        return at

    # Looking up

    @staticmethod
    def _path(path):
        return path.split("/") if isinstance(path, str) else list(path)

    def find(self, path):
        """The entry at a path ("solvers/p" or ["solvers", "p"]), the last of its name, or None."""
        entries, found = self.entries, None
        for key in self._path(path):
            found = next((entry for entry in reversed(entries or []) if entry.key == key), None)
            if found is None:
                return None
            entries = found.children
        return found

    def get(self, path):
        """The text of a value, None where there is none or it is a dictionary."""
        entry = self.find(path)
        return None if entry is None or entry.children is not None else self.text[entry.first:entry.last]

    def keys(self, path=()):
        """The names of the entries of a dictionary, those of macros and directives included."""
        entries = self.entries
        if self._path(path):
            entry = self.find(path)
            entries = entry.children if entry else []
        return list(dict.fromkeys(entry.key for entry in entries or []))

    def is_dictionary(self, path):
        entry = self.find(path)
        return entry is not None and entry.children is not None

    # Editing

    def _replace(self, first, last, text):
        self.text = self.text[:first] + text + self.text[last:]
        self._parse()

    def set(self, path, value):
        """Writes 'key value;' behind what the dictionary holds, or in the place of the entry there was. A value in braces
        makes a dictionary. Dictionaries on the way are made where they are missing."""
        *parents, key = self._path(path)
        text = f"{key_text(key)} {value}" + ("" if value.strip().startswith("{") else ";")
        entry = self.find([*parents, key])
        while entry is not None and sum(other.key == key for other in self._siblings(parents)) > 1:
            self._replace(entry.start, entry.end, "")
            entry = self.find([*parents, key])
        # A macro behind the entry might bring its own.
        if entry is not None and not any(other.key.startswith(("$", "#")) and other.start > entry.start
                                         for other in self._siblings(parents)):
            self._replace(entry.start, entry.end, text)
            return
        if entry is not None:
            self._replace(entry.start, entry.end, "")
        if parents and not self.is_dictionary(parents):
            self.set(parents, "{ " + text + " }")
            return
        at = self.find(parents).last if parents else len(self.text)
        before = self.text[:at].rstrip(" \t")
        self._replace(len(before), at, ("" if before.endswith("\n") else "\n") + "    " * len(parents) + text + "\n" +
                      "    " * max(0, len(parents) - 1))

    def _siblings(self, parents):
        return self.find(parents).children if parents else self.entries

    def remove(self, path):
        """Takes all entries of this name out; true where there was one."""
        removed = False
        while (entry := self.find(path)) is not None:
            self._replace(entry.start, entry.end, "")
            removed = True
        return removed


def key_text(key):
    """A key as it is written: a regular expression stands in quotes."""
    return key if re.fullmatch(r"[\w.:$#<>-]+(\([\w,.:()*]*\))?", key) else f'"{key}"'


def lookup(keys, name):
    """The key of a dictionary that OpenFOAM takes for a name: the name itself, else the last regular expression that matches
    the whole of it; or None. `keys` are without quotes."""
    keys = list(keys)
    if name in keys:
        return name
    for key in reversed(keys):
        if re.search(r"[|(.*+?\[]", key):
            try:
                if re.fullmatch(key, name):
                    return key
            except re.error:
                continue
    return None
