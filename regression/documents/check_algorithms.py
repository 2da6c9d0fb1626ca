#!/usr/bin/env python3
"""Keeps beside each line of the algorithm on a method's page the statements that carry it out.

usage: check_algorithms.py [--update] <root of the source tree>

A page of docs/methods numbers the lines of its algorithm, a block of code: " 3  z = M^-1 r", " 5-7  ..." where one line stands for
several of the paper's. Only the line that says "compute b - A x" goes without: belos_ext/supervision does it for all methods. A statement of
a solver says in a comment behind it which lines it is: "// line 3", "// lines 1, 5 to 7: ...". Between
"<!-- begin algorithm: NAME -->", after the block, and "<!-- end algorithm -->" stands a table of both, made from them. ALGORITHMS below
names the files of each.

Prints one line a violation and exits with 1 where a table is not current, a line has no statement, a comment names a line that the
page does not have, or a page or a file is in no algorithm. With --update, the tables are written first.
"""

import pathlib
import re
import sys

# Page, name of the algorithm, files in belos_ext/solvers.
ALGORITHMS = [
    ("bicgstab", "BiCGStab", ["bicgstab/bicgstab.hpp"]),
    ("cg", "CG", ["cg/cg.hpp"]),
    ("cr", "CR", ["cr/cr.hpp"]),
    ("ecg", "ECG, orthodir", ["enlarged_cg/enlarged_cg.hpp", "enlarged_cg/orthodir.hpp"]),
    ("ecg", "ECG, orthomin", ["enlarged_cg/enlarged_cg.hpp", "enlarged_cg/orthomin.hpp"]),
    ("embedded-cg", "embedded CG", ["cg/cg.hpp", "embedded_cg/carried_product.hpp"]),
    ("gmres", "GMRES", ["gmres/gmres.hpp"]),
    ("idr", "IDR(s)", ["idr/idr.hpp"]),
    ("pipelined-bicgstab", "pipelined BiCGStab", ["bicgstab/pipelined_bicgstab.hpp"]),
    ("pipelined-cg", "p(l)-CG", ["pipelined_cg/pipelined_cg.hpp"]),
    ("pipelined-cr", "pipelined CR", ["cr/cr.hpp"]),
    ("pipelined-gmres", "p(l)-GMRES", ["gmres/pipelined_gmres.hpp"]),
    ("pipelined-sstep-gmres", "p(l)-CA-GMRES", ["gmres/pipelined_gmres.hpp"]),
    ("sstep-gmres", "s-step GMRES", ["gmres/sstep_gmres.hpp"]),
]
# Pages that have no table yet.
OPEN_PAGES = []

MARKED = r"<!-- begin algorithm: {} -->\n(.*?)<!-- end algorithm -->"
COMMENT = re.compile(r"^(?P<code>.*?\S.*?)\s*// lines? (?P<lines>\d+(?:(?: to |, )\d+)*)\b")
CLASS = re.compile(r"^(?:class|struct) (\w+)")
FUNCTION = re.compile(r"^(?:  )?(?!template|using|return|//|#|public|private|protected)[\w:~].*?(\w+)\(.*[^;]$")


def numbers(text):
    """Of "1, 5 to 7" or "1, 5-7": {1, 5, 6, 7}."""
    found = set()
    for part in text.split(", "):
        first, _, last = part.replace(" to ", "-").partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def steps(page, name):
    """The lines of the algorithm, pairs (label, text), and those without a label."""
    before = page.partition(f"<!-- begin algorithm: {name} -->")[0]
    blocks = re.findall(r"^```\n(.*?)^```$", before, re.MULTILINE | re.DOTALL)
    lines = blocks[-1].splitlines() if blocks else []
    labelled = [match.groups() for match in (re.match(r" *(\d+(?:-\d+)?)  (.*)$", line) for line in lines) if match]
    return labelled, [line for line in lines if not re.match(r" *\d+(-\d+)?  ", line)]


def code_of(line):
    return re.sub(r"\s*//.*", "", line).strip()


def statement(lines, at):
    """The whole statement that the comment in line `at` stands behind: up to a brace, if it has one."""
    first = last = at
    while first > 0 and code_of(lines[first - 1]) and not code_of(lines[first - 1]).endswith((";", "{", "}", ":")):
        first -= 1
    while not code_of(lines[last]).endswith((";", "{", "}", ",")) and last + 1 < len(lines):
        last += 1
    text = " ".join(code_of(line) for line in lines[first:last + 1])
    return re.sub(r"\s*[{;,]$", "", text)


def statements(root, file):
    """Triples (numbers, "Class::function()", statement) of a file."""
    lines = (root / "belos_ext/solvers" / file).read_text(encoding="utf-8").splitlines()
    owner = function = ""
    for at, line in enumerate(lines):
        bare = re.sub(r"\s*//.*", "", line)
        owner = CLASS.match(bare)[1] if CLASS.match(bare) else owner
        function = f"{owner}::{FUNCTION.match(bare)[1]}()" if FUNCTION.match(bare) else function
        comment = COMMENT.match(line)
        if comment and not line.lstrip().startswith("//"):
            yield numbers(comment["lines"]), function, statement(lines, at)


def code(text):
    return "`` " + " ".join(text.split()).replace("|", "\\|") + " ``"  # two: Doxygen takes ` and ' for quotes


def table(labelled, found, files):
    rows = [f"| Line | Algorithm | Here ({', '.join(map(code, files))}) |", "|---|---|---|"]
    for label, text in labelled:
        here = [f"{code(function)} {code(what)}" for which, function, what in found if which & numbers(label)]
        what = ": ".join(map(code, re.split(" {4,}", text.strip())))  # a remark stands apart
        rows.append(f"| {label} | {what} | {'<br>'.join(here)} |")
    return "\n" + "\n".join(rows) + "\n\n"


def algorithm_problems(root, name, files, page, where):
    labelled, bare = steps(page, name)
    if not labelled:
        yield f"{where}: there is no block of code with numbered lines before the marker of '{name}'"
    for line in bare:
        if "compute b - A x" not in line:
            yield f"{where}: a line of '{name}' has no number: '{line.strip()}'"
    known = set().union(*(numbers(label) for label, _ in labelled))
    found = [one for file in files for one in statements(root, file)]
    for label, text in labelled:
        if not any(which & numbers(label) for which, _, _ in found):
            yield f"{where}: line {label} of '{name}' has no statement in {', '.join(files)}: '{text.strip()}'"
    for which, function, what in found:
        if which - known:
            yield f"{function}: '{what}' is line {sorted(which - known)} of '{name}', which {where} does not have"
    have = re.search(MARKED.format(re.escape(name)), page, re.DOTALL)
    if not have or have[1] != table(labelled, found, files):
        yield (f"{where}: the table of '{name}' is {'not current' if have else 'missing, or its markers are'}; update: "
               "python3 regression/documents/check_algorithms.py --update .")


def problems(root, algorithms, open_pages):
    for page, name, files in algorithms:
        where = f"docs/methods/{page}.md"
        yield from algorithm_problems(root, name, files, (root / where).read_text(encoding="utf-8"), where)
    for path in sorted((root / "docs/methods").glob("*.md")):
        named = set(re.findall(r"<!-- begin algorithm: (.*?) -->", path.read_text(encoding="utf-8")))
        listed = {name for page, name, _ in algorithms if page == path.stem}
        if bool(listed) == (path.stem in open_pages) or named != listed:
            yield f"{path.name}: found the algorithms {sorted(named)}; ALGORITHMS has {sorted(listed)}, or else OPEN_PAGES has the page"
    used = {file for _, _, files in algorithms for file in files}
    for path in sorted((root / "belos_ext/solvers").rglob("*.hpp")):
        file = str(path.relative_to(root / "belos_ext/solvers"))
        if file not in used and any(statements(root, file)):
            yield f"{file}: statements say which line they are; no algorithm of ALGORITHMS has the file"


def update(root, algorithms):
    for page, name, files in algorithms:
        path = root / f"docs/methods/{page}.md"
        text = path.read_text(encoding="utf-8")
        made = table(steps(text, name)[0], [one for file in files for one in statements(root, file)], files)
        pattern = MARKED.format(re.escape(name))
        path.write_text(re.sub(pattern, lambda match: match[0].replace(match[1] + "<!-- end", made + "<!-- end"), text, flags=re.DOTALL),
                        encoding="utf-8")


def main():
    root = pathlib.Path([argument for argument in sys.argv[1:] if argument != "--update"][0])
    if "--update" in sys.argv:
        update(root, ALGORITHMS)
    found = list(problems(root, ALGORITHMS, OPEN_PAGES))
    print("\n".join(found) if found else f"{len(ALGORITHMS)} algorithms have statements for their lines; open: {', '.join(OPEN_PAGES) or 'none'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
