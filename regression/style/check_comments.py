#!/usr/bin/env python3
"""Checks the tables and the citations in comments of the C++ sources.

usage: check_comments.py <root of the source tree> [folder ...]

Tables: every row of a table starts and ends with '|' and has as many cells as the head, which a line of dashes follows;
nothing but an empty comment line or code follows the last row. So a formatter that joins rows is noticed.
Paragraphs: no line ends early in the midst of a sentence, as a formatter leaves it when it breaks a long line and does not join the rest.
Citations: a key is a name and a year, or a word of docs/references.md, in brackets: [Saad and Schultz 1986], [low-sync].
Every key used stands in docs/references.md, every key there is used, a name with a year outside brackets is no citation
anyone can follow, each "Source:" names a key, and before a section or an algorithm by its number a key stands in the file. A file that is no part of the repository ("DESIGN") is not cited,
and a source file that is named in a comment is there.

Prints one line a violation, "file:line: what is wrong", and exits with 1 where there is one.
"""

import pathlib
import re
import sys

FOLDERS = ["tpetra_ext", "belos_ext", "adapters", "app-inputs", "perf", "regression"]
SUFFIXES = {".hpp", ".h", ".H", ".cpp", ".cc", ".C", ".cu"}
COMMENT = re.compile(r"^\s*//+!?<? ?(.*)$")
# A line that is nothing but a comment: its indentation and slashes, its text.
WHOLE = re.compile(r"^(\s*///?) (\s*\S.*)$")
WIDTH = 120
ROW = re.compile(r"^\|\s.*|^\|-")
NAME = r"(?:(?:van|der|den|de) )*(?:O')?[A-Z][a-z]\w*(?:-[A-Z]\w+)?"
DATED = re.compile(rf"{NAME}(?:(?:, | and |, and ){NAME})* (?:19|20)\d\d\b")
# A file of ours, by its last part; those of Trilinos begin with a capital letter.
SOURCE = re.compile(r"(?:[\w.-]+/)*\b([a-z]\w*\.(?:hpp|cpp|H|C))\b")
# A place in a book or paper, which says nothing where the file has not named one.
PLACE = re.compile(r"\b(?:vol\.|volume|chapter|section|Algorithm|Theorem|Lemma|Corollary|Proposition) \d+(?:\.\d+)*")
KEY = re.compile(rf"\[((?:{NAME}(?:(?:, | and ){NAME})* (?:19|20)\d\d)|[a-z]+(?:-[a-z]+)+)\]")


def comments(text):
    """Pairs (number of the line, its text after the slashes); None for a line that is no comment."""
    for number, line in enumerate(text.splitlines(), 1):
        match = COMMENT.match(line)
        yield number, match.group(1) if match else None


def cells(row):
    return len(row.strip().split("|")) - 2


def bars(row):
    return [k for k, letter in enumerate(row) if letter == "|"]


def table_problems(text):
    head = columns = previous = None  # cells of the table's head, where its bars stand; the row before
    for number, line in comments(text):
        row = line is not None and ROW.match(line)
        if row and not line.rstrip().endswith("|"):
            yield number, "a table row does not end with '|'"
        if row and head is None:
            head, columns = cells(line), bars(line)
        elif row and previous == "head" and not re.fullmatch(r"\|(-+\|)+", line.rstrip()):
            yield number, "a line of dashes follows the head of a table"
        elif row and cells(line) != head:
            yield number, f"a table row with {cells(line)} cells; its head has {head}"
        elif row and bars(line) != columns:
            yield number, "the columns of a table are not aligned"
        elif not row and head is not None and line is not None and line.strip():
            yield number, "text right after a table: a broken row, or an empty comment line is missing"
        if row:
            previous = "head" if previous is None else "row"
        else:
            head = previous = None


def reflow_problems(text):
    """Lines of a comment that end far too early: the next one's first word, and 50 more characters, would have had room."""
    lines = text.splitlines()
    for number, (one, two) in enumerate(zip(lines, lines[1:]), 1):
        here, following = WHOLE.match(one), WHOLE.match(two)
        if not here or not following or here[1] != following[1] or re.match(r"\\(?:file|code|endcode)\b", here[2]) or re.search(r"[.:;?!|]$|\S  +\S", here[2]):
            continue
        indented, before = following[2].startswith("  "), WHOLE.match(lines[number - 2]) if number > 1 else None
        if indented and not (before and len(lines[number - 2]) > 95 and len(here[2].split()) <= 5):
            continue  # a formula or a continued item
        first = following[2].split()[0]
        if not here[2].startswith(" ") and not re.match(r"[|\\*+-]|\d+\.", first) and len(one.rstrip()) + 1 + len(first) + 50 <= WIDTH:
            yield number, f"a line that ends early, before '{first}'"


def paragraphs(text):
    """Comments joined over lines: (number of the first line, text)."""
    first, words = 0, []
    for number, line in [*comments(text), (0, None)]:
        if line is not None and line.strip():
            first = first if words else number
            words.append(line.strip())
        elif words:
            yield first, " ".join(words)
            words = []


def file_problems(text, names):
    for number, line in comments(text):
        for match in SOURCE.finditer(line or ""):
            if match.group(1) not in names:
                yield number, f"there is no source file '{match.group(0)}'"


def citation_problems(text, known, used):
    cites = False
    for number, paragraph in paragraphs(text):
        found = [match.group(1) for match in KEY.finditer(paragraph)]
        used.update(found)
        cites = cites or bool(found)
        for key in found:
            if key not in known:
                yield number, f"the key [{key}] does not stand in docs/references.md"
        for match in DATED.finditer(KEY.sub("", paragraph)):
            yield number, f"'{match.group(0)}' is cited without brackets"
        for match in PLACE.finditer(paragraph):
            if not cites:
                yield number, f"'{match.group(0)}' of what? No key of docs/references.md comes before it"
        if re.search(r"\bDESIGN\b", paragraph):
            yield number, "'DESIGN' is no document of this repository"
        if re.search(r"\bSource: ", paragraph) and not found:
            yield number, "'Source:' without a key of docs/references.md"


def main():
    root = pathlib.Path(sys.argv[1])
    references = (root / "docs/references.md").read_text(encoding="utf-8")
    known = re.findall(r"^\| \[([^\]]+)\] \|", references, re.MULTILINE)
    names = {path.name for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in SUFFIXES}
    used, problems, files = set(), [], 0
    for folder in sys.argv[2:] or FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            files += 1
            text = path.read_text(encoding="utf-8")
            for number, problem in [*table_problems(text), *file_problems(text, names), *reflow_problems(text),
                                    *citation_problems(text, set(known), used)]:
                problems.append(f"{path.relative_to(root)}:{number}: {problem}")
    problems += [f"docs/references.md: [{key}] is cited nowhere" for key in known if key not in used]
    problems += [f"docs/references.md: [{key}] stands there twice" for key in sorted(set(known)) if known.count(key) > 1]
    if files == 0 or not known:
        problems.append(f"{root}: no sources or no references found")
    print("\n".join(problems) if problems else f"{files} files, {len(known)} references")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
