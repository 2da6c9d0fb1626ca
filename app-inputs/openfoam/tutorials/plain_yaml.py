"""Reads the YAML of case files and lists with the standard library alone: Debian's Python has no YAML reader by itself.

Understood: mappings and lists, indented or in brackets, plain and quoted scalars, comments. Everything else of YAML
(anchors, tags, block scalars, several documents) is refused by name. Scalars stay text: who reads a value knows its type.
"""

import re

from .errors import WrongUse

UNSUPPORTED = {"&": "anchors", "*": "aliases", "!": "tags", "|": "block scalars", ">": "block scalars", "%": "directives",
               "@": "'@'", "`": "'`'"}


class Mapping(dict):
    """A mapping that knows the line of each key; `line` is its own."""

    def __init__(self, line):
        super().__init__()
        self.line, self.lines = line, {}


class Sequence(list):
    """A list that knows the line of each item; `line` is its own."""

    def __init__(self, line):
        super().__init__()
        self.line, self.lines = line, []


def strip_comment(line):
    """The line without its comment; a '#' inside quotes or inside a word is none."""
    quote = None
    for i, char in enumerate(line):
        if quote:
            quote = None if char == quote else quote
        elif char in "\"'" and (i == 0 or line[i - 1] in " \t[{,:-"):
            quote = char
        elif char == "#" and (i == 0 or line[i - 1] in " \t"):
            return line[:i].rstrip()
    return line.rstrip()


def open_brackets(text):
    """How many brackets of the text are still open; those inside quotes do not count."""
    bare = re.sub(r"\"[^\"]*\"|'[^']*'", "", text)
    return sum(bare.count(char) for char in "[{") - sum(bare.count(char) for char in "]}")


class Reader:
    """One document, line by line."""

    def __init__(self, text, name):
        self.name = name
        self.rows = []  # (line number, indentation, text)
        for number, line in enumerate(text.splitlines(), 1):
            bare = strip_comment(line)
            if not bare.strip() or (bare == "---" and not self.rows):
                continue
            if bare[: len(bare) - len(bare.lstrip())].count("\t"):
                self.fail(number, "found a tab in the indentation; allowed: blanks")
            self.rows.append((number, len(bare) - len(bare.lstrip()), bare.strip()))
        self.at = 0

    def fail(self, line, message):
        raise WrongUse(f"{self.name}:{line}: {message}")

    def read(self):
        if not self.rows:
            self.fail(1, "the file is empty")
        result = self.block(self.rows[0][1])
        if self.at < len(self.rows):
            self.fail(self.rows[self.at][0], f"'{self.rows[self.at][2]}' is indented like nothing above it")
        return result

    def block(self, indent):
        """The mapping or list whose rows have this indentation."""
        line, _, text = self.rows[self.at]
        if text == "-" or text.startswith("- "):
            return self.sequence(indent)
        if self.split_key(line, text):
            return self.mapping(indent)
        self.at += 1
        return self.scalar(line, text)

    def sequence(self, indent):
        result = Sequence(self.rows[self.at][0])
        while self.at < len(self.rows) and self.rows[self.at][1] == indent:
            line, _, text = self.rows[self.at]
            if not (text == "-" or text.startswith("- ")):
                break
            rest = text[1:].lstrip()
            result.lines.append(line)
            if not rest:
                self.at += 1
                result.append(self.nested(line, indent))
            elif self.split_key(line, rest) or rest.startswith("- "):
                # The rest of the row is the first row of a block of its own.
                inner = indent + len(text) - len(rest)
                self.rows[self.at] = (line, inner, rest)
                result.append(self.block(inner))
            else:
                result.append(self.value(line, rest))
        return result

    def mapping(self, indent):
        result = Mapping(self.rows[self.at][0])
        while self.at < len(self.rows) and self.rows[self.at][1] == indent:
            line, _, text = self.rows[self.at]
            pair = self.split_key(line, text)
            if not pair:
                if text == "-" or text.startswith("- "):
                    break
                self.fail(line, f"found '{text}'; allowed here: 'key: value'")
            self.add(result, line, *pair, indent)
        return result

    def add(self, result, line, key, rest, indent):
        if key in result:
            self.fail(line, f"{key}: stands twice, first in line {result.lines[key]}")
        result.lines[key] = line
        if rest:
            result[key] = self.value(line, rest)
        else:
            self.at += 1
            result[key] = self.nested(line, indent)

    def nested(self, line, indent):
        """What the rows below a key or a dash hold; nothing where they are not indented further."""
        if self.at < len(self.rows):
            _, inner, text = self.rows[self.at]
            # A list below a key may stand as far left as the key.
            if inner > indent or (inner == indent and (text == "-" or text.startswith("- ")) and
                                  self.split_key(line, self.rows[self.at - 1][2])):
                return self.block(inner)
        return None

    def value(self, line, text):
        """A scalar, or what stands in brackets, over several rows if need be. Moves past its rows."""
        self.at += 1
        if text[0] not in "[{":
            return self.scalar(line, text)
        while open_brackets(text) > 0:
            if self.at == len(self.rows):
                self.fail(line, f"'{text[0]}' is never closed")
            text += " " + self.rows[self.at][2]
            self.at += 1
        result, rest = self.flow(line, text)
        if rest.strip():
            self.fail(line, f"found '{rest.strip()}' behind the closing bracket")
        return result

    def split_key(self, line, text):
        """(key, rest) of 'key: rest', or None."""
        if text[0] in "[{":
            return None
        quoted = re.match(r"""("[^"]*"|'[^']*')\s*:(\s+|$)""", text)
        if quoted:
            return quoted.group(1)[1:-1], text[quoted.end():]
        plain = re.match(r"([^\"'].*?)\s*:(\s+|$)", text)
        if not plain:
            return None
        self.check(line, plain.group(1))
        return plain.group(1), text[plain.end():]

    def check(self, line, text):
        if text and text[0] in UNSUPPORTED:
            self.fail(line, f"found '{text}': {UNSUPPORTED[text[0]]} of YAML are not understood here; quote it if it is text")

    def scalar(self, line, text):
        if text[0] in "\"'":
            if len(text) < 2 or text[-1] != text[0] or text[0] in text[1:-1]:
                self.fail(line, f"found {text}; allowed: a quoted text without quotes inside it")
            return text[1:-1]
        self.check(line, text)
        if re.search(r":(\s|$)", text):
            self.fail(line, f"found '{text}'; allowed: text with ': ' in it stands in quotes")
        return None if text in ("~", "null") else text

    def flow(self, line, text):
        """(value, what follows it) of a text that begins with a value in brackets, or a scalar inside such."""
        text = text.lstrip()
        if not text:
            self.fail(line, "a value is missing")
        if text[0] == "[":
            return self.flow_items(line, text[1:], "]", Sequence(line))
        if text[0] == "{":
            return self.flow_items(line, text[1:], "}", Mapping(line))
        match = re.match(r"""\s*("[^"]*"|'[^']*')\s*""", text) or re.match(r"[^,\[\]{}]*", text)
        return self.scalar(line, match.group().strip() or "~"), text[match.end():]

    def flow_items(self, line, rest, close, result):
        while True:
            rest = rest.lstrip()
            if rest.startswith(close):
                return result, rest[1:]
            if close == "}":
                match = re.match(r"""("[^"]*"|'[^']*'|[^,:\[\]{}]+)\s*:\s+""", rest)
                if not match:
                    self.fail(line, f"found '{rest}'; allowed inside braces: 'key: value'")
                key = self.scalar(line, match.group(1).strip())
                if key in result:
                    self.fail(line, f"{key}: stands twice")
                result.lines[key] = line
                result[key], rest = self.flow(line, rest[match.end():])
            else:
                item, rest = self.flow(line, rest)
                result.append(item)
                result.lines.append(line)
            rest = rest.lstrip()
            if not rest.startswith((",", close)):
                self.fail(line, f"found '{rest}'; allowed: ',' or '{close}'")
            rest = rest.removeprefix(",")


def read(path):
    """The document in a file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"{path}: cannot be read: {error}") from error
    return Reader(text, path).read()
