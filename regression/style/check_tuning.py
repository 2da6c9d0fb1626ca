#!/usr/bin/env python3
"""Checks that numbers which methods decide by stand in belos_ext/parameters/tuning.hpp, each with its reason.

usage: check_tuning.py <root of the source tree>

Elsewhere, in the folders below, no constant of an arithmetic type (constexpr or static const) may be made of a literal
number; one made of numbers of tuning.hpp, or of std::numeric_limits, may. In tuning.hpp, every constant follows a comment
that says where its number comes from ("Source: [key]", "Derived", "Measured" or "Chosen"), or whose namespace says so, or
it follows another constant at once, of whose comment it is part.

Prints one line a violation, "file:line: what is wrong", and exits with 1 where there is one.
"""

import pathlib
import re
import sys

HOME = "belos_ext/parameters/tuning.hpp"
FOLDERS = [f"belos_ext/{name}" for name in
           ("basis", "convergence", "dense", "guess", "orthogonalization", "problem", "solvers", "spectrum")]
SUFFIXES = {".hpp", ".cpp"}
# Constants of literal numbers that tune nothing: (file, name).
STAY = {("belos_ext/spectrum/spectrum_estimate.hpp", "pi")}

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
    """Pairs (line, name) of constants of tuning.hpp whose comment does not say where the number comes from."""
    comment, spaces, fresh = "", [], True
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        declared = re.match(r"inline constexpr .*?(\w+) =", line)
        if line.startswith("///"):
            comment, fresh = ("" if fresh else comment + " ") + line[3:].strip(), False
            continue
        if re.match(r"namespace [\w:]+ \{", line):
            spaces.append(bool(REASON.search(comment)))
        elif line.startswith("}  // namespace"):
            spaces.pop()
        elif declared and not REASON.search(comment) and not any(spaces):
            yield number, declared.group(1)
        if not declared:
            comment = ""
        fresh = True


def problems(root):
    home = root / HOME
    if not home.is_file() or not re.search(r"^inline constexpr ", home.read_text(encoding="utf-8"), re.MULTILINE):
        yield f"{HOME}: no constants found"
        return
    for number, name in constants_without_reason(home.read_text(encoding="utf-8")):
        yield f"{HOME}:{number}: '{name}' does not say where it comes from: Source: [key], Derived, Measured or Chosen"
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            for number, name in stray_constants(file.read_text(encoding="utf-8")):
                if (path, name) not in STAY:
                    yield f"{path}:{number}: '{name}' is a number to decide by: it belongs in {HOME}"


def main():
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else f"all numbers to decide by stand in {HOME}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
