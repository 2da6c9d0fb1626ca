"""Reads YAML with the line of each key, by PyYAML. Scalars stay text: who reads a value knows its type."""

import os
import pathlib
import sys

try:
    import yaml
except ImportError:
    yaml = None

from .errors import NotInstalled, WrongUse

# Debian's packages serve Debian's Python, and PATH may name another one first.
DEBIANS_PYTHON = "/usr/bin/python3"
# The tags of nodes that are given none.
TAGS = {"scalar": "tag:yaml.org,2002:str", "sequence": "tag:yaml.org,2002:seq", "mapping": "tag:yaml.org,2002:map"}
NULLS = ("", "~", "null")


class Mapping(dict):
    """A mapping that knows the line of each key; `line` is its own."""

    def __init__(self, line):
        super().__init__()
        self.line, self.lines = line, {}

    def without(self, keys):
        """A copy that lacks these keys."""
        copy = Mapping(self.line)
        copy.update({key: value for key, value in self.items() if key not in keys})
        copy.lines = self.lines
        return copy


def ensure_pyyaml():
    """Starts the program anew with Debian's Python, where there is one and the present Python has no PyYAML."""
    if yaml is None and sys.executable != DEBIANS_PYTHON and pathlib.Path("/etc/debian_version").exists() \
            and os.access(DEBIANS_PYTHON, os.X_OK):
        os.execv(DEBIANS_PYTHON, [DEBIANS_PYTHON, *sys.argv])


def read(path):
    """The document in a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"{path}: cannot be read: {error}") from error
    return read_text(text, path)


def read_text(text, name):
    """The document that a text is; name: what messages call it."""
    if yaml is None:
        raise NotInstalled(f"{sys.executable} has no module yaml (PyYAML; on Debian: apt-get install python3-yaml, which "
                           f"serves {DEBIANS_PYTHON}, or: ./capstan setup)")
    try:
        # BaseLoader: no scalar is taken for a number or a date.
        node = yaml.compose(text, yaml.BaseLoader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise WrongUse(f"{name}:{line}: found the character U+{error.character:04X}: {error.reason}") from error
    except yaml.MarkedYAMLError as error:
        rows = text.splitlines()
        # What is wrong in a word may show lines later.
        mark = isinstance(error, yaml.scanner.ScannerError) and error.context_mark or error.problem_mark
        line = min(mark.line + 1, len(rows))
        context = f", {error.context} from line {error.context_mark.line + 1}" if error.context_mark else ""
        raise WrongUse(f"{name}:{line}: found '{rows[line - 1].strip()}': {error.problem}{context}") from error
    if node is None:
        raise WrongUse(f"{name}:1: the file is empty")
    return value_of(node, name, ())


def value_of(node, name, around):
    """Text, None, list or Mapping. around: the nodes that hold this one."""
    place = f"{name}:{node.start_mark.line + 1}"
    if node in around:
        raise WrongUse(f"{place}: found an alias inside of what it stands for")
    if node.tag != TAGS[node.id]:
        raise WrongUse(f"{place}: found the tag '{node.tag}'; allowed: no tags. Quote it if it is text")
    around = (*around, node)
    if isinstance(node, yaml.ScalarNode):
        return None if node.style is None and node.value in NULLS else node.value
    if isinstance(node, yaml.SequenceNode):
        return [value_of(item, name, around) for item in node.value]
    result = Mapping(node.start_mark.line + 1)
    for key_node, item in node.value:
        line = key_node.start_mark.line + 1
        if key_node.tag != TAGS["scalar"]:
            raise WrongUse(f"{name}:{line}: found a key with the tag '{key_node.tag}'; allowed: keys that are plain text")
        key = key_node.value
        if key in result:
            raise WrongUse(f"{name}:{line}: {key}: stands twice, first in line {result.lines[key]}")
        result.lines[key] = line
        result[key] = value_of(item, name, around)
    return result
