#!/usr/bin/env python3
"""Checks the words of documents and sources.

usage: check_words.py <root of the source tree>

Documents (README.md, CONTRIBUTING.md, docs/): a cell of a table has at most two sentences, references.md apart; "so many" and
"from ... on", which readers of other languages stumble over, are written in another way. Tables between markers (begin, end), which are generated, are
not looked at: their words stand in the code.
Sources: none of the metaphors in METAPHORS, in comments and in names; each says which of the field's words takes its place.

Prints one line a violation, "file:line: what is wrong", and exits with 1 if there is one.
"""

import pathlib
import re
import sys

METAPHORS = {"board": "enter (a piggybacked value)", "boarded": "enter (a piggybacked value)", "alight": "read (a piggybacked value)",
             "passenger": "piggybacked value", "passengers": "piggybacked values", "seat": "slot", "seats": "slots",
             "rung": "fallback", "rungs": "fallbacks", "climb": "fall back", "climbs": "falls back", "doorway": "receiver",
             "doorways": "receivers", "duel": "comparison", "duels": "comparisons", "travellers": "carried vectors",
             "lane": "column", "lanes": "columns"}
# Folders in which a word is the field's own: lanes of SIMD registers.
FIELD = {"lane": ("tpetra_ext/kernels/",), "lanes": ("tpetra_ext/kernels/",)}
SOURCES = {".hpp", ".cpp", ".H", ".C", ".h", ".cu", ".py", ".sh", ".cmake", ".yaml"}
FOLDERS = ["tpetra_ext", "belos_ext", "adapters", "app-inputs", "perf", "regression", "cmake", "docs"]
SELF = {"regression/style/check_words.py", "regression/style/test_check_words.py"}
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
FROM_ON = re.compile(r"\bfrom(?:\s+[^\s.;:|]+){1,9}?\s+on(?=\s*[.,;:|)]|\s+(?:as|but|than|better|with|whatever|and|in|\()\b)")
END = re.compile(r"[.!?](?=\s+[\"A-Z]|\s*$)")


def documents(root):
    found = [root / name for name in ("README.md", "CONTRIBUTING.md") if (root / name).is_file()]
    return found + sorted((root / "docs").rglob("*.md"))


def without_code(text):
    """The text with code and generated tables blanked, lines kept."""
    blank = re.compile(r"^```.*?^```|<!-- begin [a-z].*?<!-- end [a-z]|`[^`\n]*`", re.MULTILINE | re.DOTALL)
    return blank.sub(lambda found: "X" if "\n" not in found[0] else "\n" * found[0].count("\n"), text)


def sentences(cell):
    """How many there are; what follows the last stop counts as one."""
    text = re.sub(r"\b(?:e\.g|i\.e|Fig|No)\.", "", re.sub(r"<br>", " ", cell.strip()))
    return len(END.findall(text)) + (1 if text and not re.search(r"[.!?]$", text) else 0)


def document_problems(text, most_sentences=2):
    text = without_code(text)
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("|") and most_sentences:
            for cell in line.strip().strip("|").split("|"):
                if sentences(cell) > most_sentences:
                    yield number, f"a cell of a table with {sentences(cell)} sentences, at most {most_sentences}: '{cell.strip()[:60]}'"
    for pattern, instead in ((re.compile(r"\bso\s+many\b"), "that number of, or a number"), (FROM_ON, "X or more, after X, beyond X")):
        for found in pattern.finditer(text):
            words = " ".join(found[0].split())
            yield text.count("\n", 0, found.start()) + 1, f"'{words}': write it in another way ({instead})"


def source_problems(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        for word in dict.fromkeys(part.lower() for part in WORD.findall(line)):
            if word in METAPHORS and not path.startswith(FIELD.get(word, ("//",))):
                yield number, f"'{word}' is a metaphor; the field says {METAPHORS[word]}"


def problems(root):
    for file in documents(root):
        for number, problem in document_problems(file.read_text(encoding="utf-8"), 0 if file.name == "references.md" else 2):
            yield f"{file.relative_to(root)}:{number}: {problem}"
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            path = file.relative_to(root).as_posix()
            if file.suffix in SOURCES and file.is_file() and path not in SELF:
                for number, problem in source_problems(path, file.read_text(encoding="utf-8")):
                    yield f"{path}:{number}: {problem}"


def main():
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "the words of documents and sources are plain")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
