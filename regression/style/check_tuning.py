#!/usr/bin/env python3
"""Checks that numbers which methods decide by say where they come from.

usage: check_tuning.py <root of the source tree>

In the folders below, a constant of an arithmetic type (constexpr or static const) that is made of a literal number stands
beside the policy that it is for, in a namespace capstan::tuning::<policy> of that file. One made of other constants, or of
std::numeric_limits, may stand anywhere. A constant in such a namespace follows a comment that says where its number comes
from ("Source: [key]", "Derived", "Measured" or "Chosen"), or it follows another constant at once, of whose comment it is
part, or the comment before the namespace says so.

Prints one line a violation, "file:line: what is wrong", and exits with 1 where there is one.
"""

import pathlib
import re
import sys

FOLDERS = [f"belos_ext/{name}" for name in
           ("basis", "convergence", "dense", "guess", "orthogonalization", "parameters", "problem", "solvers", "spectrum",
            "supervision")]
# Folders that may hold plain constants, too: ranges of what users set.
RANGES = {"belos_ext/parameters"}
SUFFIXES = {".hpp", ".cpp"}
# Constants of literal numbers that tune nothing: (file, name).
STAY = {("belos_ext/spectrum/spectrum_estimate.hpp", "pi")}
TUNING = re.compile(r"^(?P<before>(?:///[^\n]*\n)*)namespace capstan::tuning::[\w:]+ \{\n(?P<body>.*?)^\}  // namespace",
                    re.DOTALL | re.MULTILINE)

TYPE = (r"(?:unsigned|signed|long|short|int|double|float|auto|Scalar|(?:std::)?(?:size_t|ptrdiff_t|u?int\d+_t)"
        r"|std::array<[^;=]*>)")
CONSTANT = re.compile(rf"\b(?:constexpr(?:\s+static)?|static\s+const|const\s+static)\s+{TYPE}(?:\s+{TYPE})*&?\s+"
                      r"(\w+)\s*([={][^;]*);")
LITERAL = re.compile(r"(?<![\w.])(?:0[xX][\da-fA-F.']+(?:[pP][-+]?\d+)?|(?:\d[\d']*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\w*")
REASON = re.compile(r"\b(?:Source: \[|Derived\b|Measured\b|Chosen\b)")


def code_of(text):
    """The text with comments and strings blanked, lines kept."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", lambda found: re.sub(r"[^\n]", " ", found.group(0)), text,
                  flags=re.DOTALL)


def stray_constants(text):
    """Pairs (line, name) of constants made of a literal number."""
    code = code_of(text)
    for match in CONSTANT.finditer(code):
        # Further names of the same declaration, "a = 1, b = 2", are found with the first.
        if LITERAL.search(re.sub(r"<[^<>]*>", "", match.group(2))):
            yield code.count("\n", 0, match.start()) + 1, match.group(1)


def constants_without_reason(text):
    """Pairs (line, name) of constants in namespaces of tuning whose comment does not say where the number comes from."""
    for space in TUNING.finditer(text):
        comment, fresh, all_said = "", True, bool(REASON.search(space["before"]))
        first = text.count("\n", 0, space.start("body")) + 1
        for number, line in enumerate(space["body"].splitlines(), first):
            declared = re.match(r"inline constexpr .*?(\w+) =", line)
            if line.startswith("///"):
                comment, fresh = ("" if fresh else comment + " ") + line[3:].strip(), False
                continue
            if declared and not all_said and not REASON.search(comment):
                yield number, declared.group(1)
            if not declared:
                comment = ""
            fresh = True


def problems(root):
    total = 0
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            path, text = file.relative_to(root).as_posix(), file.read_text(encoding="utf-8")
            total += len(TUNING.findall(text))
            for number, name in constants_without_reason(text):
                yield f"{path}:{number}: '{name}' does not say where it comes from: Source: [key], Derived, Measured or Chosen"
            rest = TUNING.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), text)
            for number, name in stray_constants(rest) if folder not in RANGES else ():
                if (path, name) not in STAY:
                    yield f"{path}:{number}: '{name}' is a number to decide by: it belongs in a namespace capstan::tuning"
    if total == 0:
        yield "belos_ext: no constants found"


def main():
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "all numbers to decide by say where they come from")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
