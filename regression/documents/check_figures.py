#!/usr/bin/env python3
"""Keeps tables of measured figures equal to the result files that they cite, and citations to files that are there.

usage: check_figures.py [--update] <root of the source tree>

BLOCKS names tables that stand between "<!-- begin figures: NAME -->" and "<!-- end figures: NAME -->" in a document, and PROSE
figures in sentences. Without --update, a difference is shown and the exit status is 1; with it, the tables are rewritten
(sentences are not). Of every other table of docs/ that follows a citation in its section, each number must stand in the files cited
last ahead of it, more digits or not, and in a line with the row's name or another number of the row, unless several do not. "<!-- derived: NUMBERS -->" above a table excuses those that are made of others there, or are no
results; "<!-- derived: all -->" all. Every file of perf/results that a document names must be there, and every one that is there be
named.
"""

import difflib
import pathlib
import re
import sys

RESULTS = "perf/results"
HEADLINE = "2026-11-26-headline.txt"
DEFAULT = "2026-11-22-epyc-2-cores.txt"
LATENCY = "2026-11-22-epyc-2-cores-latency.txt"
OVERHEAD = "2026-11-27-overhead.txt"
RESIDUALS = "2026-11-28-residuals.txt"
EXECUTIONS = "2026-11-28-tasks.txt"
# What result files call solvers, and what documents do.
NAMES = {"capstan cr": "`CAPSTAN CR`", "capstan cr pipeline": "`CAPSTAN CR PIPELINE`", "capstan s-step auto": "`CAPSTAN GMRES S-STEP`", "capstan s-step 10": "`CAPSTAN GMRES S-STEP`, s = 10",
         "capstan gmres": "`CAPSTAN GMRES`", "capstan cg": "`CAPSTAN CG`", "block gmres": "Belos `BLOCK GMRES`",
         "tpetra gmres s-step 10 nalu": "Belos `TPETRA GMRES S-STEP`, s = 10, as Nalu-wind sets it up", "tpetra cg": "Belos `TPETRA CG`",
         "pseudoblock cg": "Belos `PSEUDOBLOCK CG`", "CAPSTAN GMRES S-STEP": "`CAPSTAN GMRES S-STEP`, auto",
         "CAPSTAN CG PIPELINE": "`CAPSTAN CG PIPELINE`, l = 1", "CAPSTAN GMRES PIPELINE": "`CAPSTAN GMRES PIPELINE`, l = 1"}


class Wrong(Exception):
    """A result file does not hold what a table takes from it."""


def tables(text):
    """Tables in columns, each as (line ahead of it that has no blank line between, head, rows): a line of dashes tells the columns."""
    lines, found = text.splitlines(), []
    for at, line in enumerate(lines):
        if at == 0 or not re.fullmatch(r"-+(  +-+)+", line):
            continue
        spans = [match.span() for match in re.finditer(r"-+", line)]

        def cells(row, spans=spans):
            return [row[start:end].strip() for start, end in spans]
        rows = []
        for row in lines[at + 1:]:
            if not row.strip() or not (len(row) > spans[1][0] and row[spans[0][1]:spans[1][0]].isspace()):
                break
            rows.append(dict(zip(cells(lines[at - 1]), cells(row))))
        found.append((at, cells(lines[at - 1]), rows))
    return lines, found


def number(text):
    """The first number of a cell."""
    match = re.match(r"-?[\d,.]+", text)
    if not match:
        raise Wrong(f"found '{text}' where a number should be")
    return float(match[0].replace(",", ""))


def markdown(head, rows):
    def line(cells):
        return ("| " + " | ".join(cells) + " |").replace("|  |", "| |")
    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])


def solvers(text, section, group, wanted, over):
    """Solvers of one table: iterations, all-reduces, milliseconds, and the median over that of the fastest of Belos.

    Beside a median stand the upper quartile, if the file has it, and the least and the greatest turn."""
    lines, found = tables(text)
    start = next((at for at, line in enumerate(lines) if line.startswith(section)), None)
    rows = next((rows for at, head, rows in found if start is not None and at > start and head[0] == f"{group} solver"), None)
    if rows is None:
        raise Wrong(f"no table '{group} solver' after '{section}'")
    name, milliseconds = f"{group} solver", next(key for key in rows[0] if key.startswith("ms"))
    by_name = {row[name]: row for row in rows}
    fastest = min(number(row[milliseconds]) for row in rows if row["library"] == "belos")
    reductions = next(key for key in rows[0] if key.startswith("all-reduces"))
    body = []
    for solver in wanted:
        row = by_name.get(solver)
        if row is None:
            raise Wrong(f"no solver '{solver}' in '{group} solver' after '{section}'")
        each = sum(float(part) for part in row[reductions].split("+"))
        ratio = number(row["/belos"] if "/belos" in row else str(number(row[milliseconds]) / fastest))
        body.append([NAMES.get(solver, solver), row["iterations"], f"{each:.2f}", turns(row, milliseconds), "1" if ratio == 1 else f"{ratio:.2f}"])
    upper = ", upper quartile" if "upper quartile" in rows[0] else ""
    return markdown(["Solver", "Iterations", "All-reduces an iteration", f"Milliseconds: median{upper} (least to greatest)", over], body)


def turns(row, milliseconds):
    """What the turns of one solver took: the median, and what says how far they are apart."""
    def rounded(text):
        value = number(text)
        return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    upper = f", {rounded(row['upper quartile'])}" if "upper quartile" in row else ""
    span = re.search(r"\[(.*)\.\.(.*)\]", row["least..most"] if "least..most" in row else row[milliseconds])
    if not span:
        raise Wrong(f"no least and greatest turn in '{row}'")
    return f"{rounded(row[milliseconds])}{upper} ({rounded(span[1])} to {rounded(span[2])})"


def targets(text):
    """The targets of a campaign, as its last table has them."""
    noisy = set(re.findall(r"^Flagged by the noise check: (.*)$", text, re.MULTILINE))
    rows = next((rows for _, head, rows in tables(text)[1] if "verdict" in head), None)
    if not rows:
        raise Wrong("no table of targets")

    def short(name):
        name = re.sub(r"^(capstan|belos:|petsc:|hypre:) | nalu$", "", re.sub(r"^(belos|petsc|hypre): ", "", name)).strip()
        return re.sub(r"^(?:pcg|cg pipeline)(?: (\d))?\b", lambda found: f"p({found[1]})-CG" if found[1] else "pipelined CG", name)
    body = []
    for row in rows:
        cell = row["cell"].replace(", 2 ranks", "").replace(", shm", "").replace(" emulated", "")
        upper = f", upper quartile {row['upper quartile']}" if "upper quartile" in row else ""
        least, most = re.fullmatch(r"\[(.*)\.\.(.*)\]", row["turn by turn"]).groups()
        body.append([cell, row["kind"], short(row["ours"]), short(row["peer"]), row["at most"], f"{row['found']}{upper} ({least} to {most})",
                     row["verdict"].lower() + (", noisy" if row["cell"] in noisy else "")])
    return markdown(["Cell, 2 ranks", "Kind", "Capstan's", "Over", "at most", "found", ""], body)


def latency(text):
    """Capstan's fastest over the fastest peer, by latency."""
    found = [(head, row) for _, head, rows in tables(text)[1] for row in rows if row[head[0]].startswith("Capstan's fastest")]
    if len(found) != 2:
        raise Wrong(f"found {len(found)} lines \"Capstan's fastest over the fastest peer\"; needed: of GMRES and CG")
    columns = [name for name in found[0][0] if name.endswith(" us")]
    return markdown(["", *columns], [[kind, *(row[column] for column in columns)] for kind, (_, row) in zip(("GMRES", "CG"), found)])


def overhead(text):
    """Thousands of instructions of a solve."""
    situations = {"kept": "solver kept, 17 iterations", "kept-loose": "kept, 4 to 5", "kept-5-iterations": "kept, 5 exactly",
                  "kept-jacobi": "kept, Jacobi, 17", "anew": "made anew, 17", "anew-loose": "anew, 4 to 5"}
    found = {(method, situation): int(count.replace(",", "")) for situation, method, count in
             re.findall(r"^([a-z0-9-]+) +([A-Z][A-Z -]*[A-Z]) +([\d,]+) +[\d.]+$", text, re.MULTILINE)}
    methods = [method for method in dict.fromkeys(key[0] for key in found) if method != "TPETRA GMRES"]
    body = []
    for method in methods:
        name = NAMES.get(method, f"`{method}`" if method.startswith("CAPSTAN") else f"Belos `{method}`")
        body.append([name, *(f"{found[method, situation] / 1000:.0f}" for situation in situations)])
    return markdown(["", *situations.values()], body)


def executions(text):
    """Milliseconds of solvers whose kernels threads share, by ranks and latency."""
    lines, found = tables(text)

    def row(section, group, solver):
        start = next((at for at, line in enumerate(lines) if line == section), len(lines))
        rows = next((rows for at, head, rows in found if at > start and head[0] == f"{group} solver"), [])
        return next((one for one in rows if one[f"{group} solver"] == solver), None)
    kinds = {"s-step pipeline": ("GMRES", "`CAPSTAN GMRES S-STEP PIPELINE`"), "s-step": ("GMRES", "`CAPSTAN GMRES S-STEP`"),
             "cg": ("CG", "`CAPSTAN CG`")}
    ways = (("", "1 thread"), (", 2 threads", "2 threads, in order"), (", 2 threads, tasks", "2 threads, tasks"))
    body = []
    for solver, (group, name) in kinds.items():
        for suffix, way in ways:
            cells = [row(f"laplace3d 48^3, {ranks}, shm{latency}", group, solver + suffix)
                     for ranks in ("1 rank", "2 ranks") for latency in ("", ", 500 us emulated")]
            if None in cells:
                raise Wrong(f"no solver '{solver + suffix}' in each cell")
            body.append([name, way, *(turns(cell, next(key for key in cell if key.startswith("ms"))) for cell in cells)])
    return markdown(["Solver", "Each rank", "1 rank", "1 rank, 500 us", "2 ranks", "2 ranks, 500 us"], body)


OVER_GMRES, OVER_CG = "Time over the fastest Belos GMRES", "Time over the fastest Belos CG"
# Name: document, result file, table.
BLOCKS = {
    "readme": ("README.md", HEADLINE, lambda text: solvers(
        text, "laplace3d 48^3, 2 ranks, shm", "GMRES",
        ["capstan s-step auto", "PETSc fgmres", "PETSc gmres", "capstan gmres", "tpetra gmres s-step 10 nalu", "hypre gmres", "block gmres"],
        "Time over Belos' fastest GMRES")),
    "headline": ("docs/benchmarks.md", HEADLINE, targets),
    "default-gmres": ("docs/benchmarks.md", DEFAULT, lambda text: solvers(
        text, "laplace3d 48^3", "GMRES", ["capstan s-step 10", "capstan s-step auto", "PETSc gmres", "capstan gmres",
                                          "tpetra gmres s-step 10 nalu", "block gmres"], OVER_GMRES)),
    "default-cg": ("docs/benchmarks.md", DEFAULT, lambda text: solvers(
        text, "laplace3d 48^3", "CG", ["PETSc cg", "capstan cg", "tpetra cg", "pseudoblock cg"], OVER_CG)),
    "residuals": ("docs/benchmarks.md", RESIDUALS, lambda text: solvers(
        text, "laplace3d 96^3", "CG", ["capstan cg", "capstan cr", "capstan cr pipeline", "PETSc cg", "tpetra cg", "hypre pcg",
                                       "PETSc pipecr", "PETSc pipecg"], OVER_CG)),
    "executions": ("docs/benchmarks.md", EXECUTIONS, executions),
    "latency": ("docs/benchmarks.md", LATENCY, latency),
    "overhead": ("docs/benchmarks.md", OVERHEAD, overhead),
}


def in_row(name, first, column):
    """A figure of a block's table: in the row that begins so."""
    def find(made):
        row = next(line for line in made[name].splitlines() if line.startswith(f"| {first} |"))
        return row.strip("| ").split(" | ")[column]
    return find


# Document, a sentence with one group for the figure, and where the figure comes from.
PROSE = (
    ("README.md", r"`CAPSTAN GMRES S-STEP` takes (\S+) of the time\s+of Belos' fastest GMRES", in_row("readme", "`CAPSTAN GMRES S-STEP`", -1)),
    ("README.md", r"fastest GMRES takes (\S+) of the time of\s+the fastest peer", in_row("latency", "GMRES", -1)),
    ("README.md", r"PETSc's `gmres` takes (\S+) and `CAPSTAN GMRES` \S+ of", in_row("readme", "PETSc gmres", -1)),
    ("README.md", r"PETSc's `gmres` takes \S+ and `CAPSTAN GMRES` (\S+) of", in_row("readme", "`CAPSTAN GMRES`", -1)),
)


def filled(text, name, table, place):
    """The text with what is between the markers of `name` replaced."""
    pattern = re.compile(rf"(<!-- begin figures: {name} -->\n).*?(<!-- end figures: {name} -->)", re.DOTALL)
    text, count = pattern.subn(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", text)
    if count != 1:
        raise Wrong(f"{place} must hold exactly one pair of markers for '{name}'; it holds {count}")
    return text


def documents(root):
    """Texts that cite result files, by path; what has changed in the past may have cited files of the past."""
    paths = [path for pattern in ("*.md", "docs/**/*.md", "perf/**/*.md", "perf/campaigns/*.yaml", "app-inputs/**/*.md")
             for path in root.glob(pattern) if path.name != "CHANGELOG.md"]
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in paths}


def citations(root):
    """What is wrong with them, a line each."""
    texts = documents(root)
    there = {path.name for path in (root / RESULTS).iterdir() if path.is_file()}
    for place, text in texts.items():
        for name in re.findall(r"(?:perf|\.\.)/results/([\w.-]*\w)|`(2026-[\w-]+\.(?:txt|csv|png|json))`", text):
            name = next(filter(None, name))
            if name not in there:
                yield f"{place}: cites {RESULTS}/{name}, which is not there"
    everything = "\n".join(texts.values())
    for name in sorted(there):
        if name not in everything and not (name.endswith(".png") and name.replace(".png", ".txt") + "` and `.png`" in everything):
            yield f"{RESULTS}/{name}: no document cites it"


NUMBER = r"(?:(?<![\w^.])|(?<=\.\.))\d[\d,]*(?:\.\d+)?(?![\w^])"


def numbers(text):
    return [word.rstrip(",") for word in re.findall(NUMBER, text)]


def read(words):
    return [float(word.replace(",", "")) for word in words]


def span(word):
    """The least and the greatest value that round to this number."""
    half, (wanted,) = 0.51 * 10.0 ** -len(word.partition(".")[2]), read([word])
    return wanted - half, wanted + half


def stands_in(word, values):
    """Whether one of the values rounds to this number."""
    least, most = span(word)
    return any(least <= value <= most for value in values)


def names(text):
    return set(re.findall(r"[a-z][a-z0-9_]+", text.lower()))


def strays(first, words, lines):
    """The number of a row that is in no line with the row's name or with another number of it, where it is the only one: a wrong number
    may stand in the file for something else. Where several are alone the row is gathered from many lines, and nothing is known.

    first: the row's first cell; lines: (names, values) of each line of the files cited."""
    named, found, alone = names(first), {word: span(word) for word in words}, set(words)
    # One digit alone is in many lines.
    digits = {word: len(re.sub(r"\D", "", word).lstrip("0")) for word in found}
    for held, values in lines:
        here = {word for word, (least, most) in found.items() if any(least <= value <= most for value in values)}
        if named and named <= held:
            alone -= here
        else:
            alone -= {word for word in here & alone if sum(digits[one] for one in here if found[one] != found[word]) > 1}
        if not alone:
            break
    return sorted(alone) if len(alone) == 1 and words.count(*alone) == 1 and len(words) > 2 else []


def quotations(root):
    """Numbers of tables that no file cited ahead of them holds, a line a table."""
    for path in sorted((root / "docs").rglob("*.md")):
        text = re.sub(r"<!-- begin (figures|generated).*?<!-- end \1[^\n]*", lambda found: "\n" * found[0].count("\n"),
                      path.read_text(encoding="utf-8"), flags=re.DOTALL)
        cited, excused, fresh = [], [], True
        for at, line in enumerate(text.splitlines(), start=1):
            found = re.findall(r"(?:perf/results/|`)(2026-[\w.-]*?\w\.(?:txt|csv))", line)
            if line.startswith("## "):
                cited = []
            if found:
                cited, fresh = (found if fresh else cited + found), False
            if line.startswith("<!-- derived:"):
                excused = line[13:].replace("-->", "").split()
            if not line.startswith("|"):
                fresh = fresh or not line.strip()
                continue
            lines = [(names(one), read(numbers(one))) for name in cited if (root / RESULTS / name).is_file()
                     for one in (root / RESULTS / name).read_text(encoding="utf-8").splitlines()]
            values = [value for _, held in lines for value in held]
            cells = line.strip("|").split("|")[1:]
            words = [word for cell in cells for word in numbers(cell) if word not in excused] if values and excused != ["all"] else []
            missing = [word for word in words if not stands_in(word, values)]
            if missing:
                yield f"{path.relative_to(root)}:{at}: {', '.join(missing)}: not in {', '.join(cited)}"
            elif stray := strays(line.strip("|").split("|")[0], words, lines):
                yield f"{path.relative_to(root)}:{at}: {stray[0]}: in {', '.join(cited)}, but in no line with another number of this row"
            following = text.splitlines()[at:at + 1]
            if not following or not following[0].startswith("|"):
                excused = []


def check(root, update):
    """What is wrong, in lines; with update, tables are rewritten and not among it."""
    problems, made = [*citations(root), *quotations(root)], {}
    for name, (place, result, table) in BLOCKS.items():
        try:
            made[name] = table((root / RESULTS / result).read_text(encoding="utf-8"))
            have = (root / place).read_text(encoding="utf-8")
            want = filled(have, name, made[name], place)
        except (OSError, Wrong) as error:
            problems.append(f"{name}, {RESULTS}/{result}: {error}")
            continue
        if have != want and update:
            (root / place).write_text(want, encoding="utf-8")
        elif have != want:
            problems.append("".join(difflib.unified_diff(have.splitlines(True), want.splitlines(True), place, f"{RESULTS}/{result}")))
    for place, pattern, figure in PROSE:
        found = re.search(pattern, (root / place).read_text(encoding="utf-8"))
        if found is None:
            problems.append(f"{place}: no sentence like '{pattern}'")
        elif len(made) == len(BLOCKS) and found[1] != figure(made):
            problems.append(f"{place}: '{' '.join(found[0].split())}'; the result file says {figure(made)}")
    return problems


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    problems = check(pathlib.Path(arguments[0]).resolve(), "--update" in sys.argv)
    if problems:
        sys.exit("\n".join([*problems, "update tables: python3 regression/documents/check_figures.py --update ."]))
    print("figures and citations agree with the result files")


if __name__ == "__main__":
    main()
