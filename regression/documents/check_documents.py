#!/usr/bin/env python3
"""Checks that nothing in the documents leads nowhere.

usage: check_documents.py <root of the source tree> <folder of the build>

- Links of README.md, CHANGELOG.md, CONTRIBUTING.md, docs/ and every README.md below: the file is there, and the heading.
- Every file of docs/ can be reached from README.md.
- Every command in a block ```sh of README.md and docs/, and every one of ours between backticks there that has options or
  arguments, stands in commands.txt beside this script, with a test of this build that runs it or with "elsewhere: reason"; and
  commands.txt holds no other.
- What stands between backticks, but for CHANGELOG.md: files and folders of the source tree are there, and so are commands of
  `./capstan` and what `./capstan bench` measures.
- Every reason that a solve may end with stands in the table of docs/troubleshooting.md, and no other.
- Every row of README.md's table of platforms that says what runs there says how that is proven, by a command, test or file between
  backticks or by hand, and when.
- CITATION.cff has the version of CMakeLists.txt and the authors of LICENSE.

Prints one line a violation and exits with 1 where there is one.
"""

import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
# A command of ours with what it is given: `./capstan test` alone only names it.
GIVEN = re.compile(r"(?:\./capstan \S+|python3 \S+|(?:app-inputs|cmake|perf|regression)/\S+) \S")
NOT_SEARCHED = {"build", "build-sanitize", "build-openmp", "build-cuda", "build-serial-static", "build-protected", ".git"}


def documents(root):
    names = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
    found = [root / name for name in names if (root / name).is_file()]
    found += sorted((root / "docs").rglob("*.md"))
    for folder in sorted(entry for entry in root.iterdir() if entry.is_dir() and entry.name not in NOT_SEARCHED | {"docs"}):
        found += sorted(folder.rglob("README.md"))
    return found


def without_code(text):
    return re.sub(r"^```.*?^```|``.*?``", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    headings = re.findall(r"^#+ +(.*)$", without_code(path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def links(path):
    for target in LINK.findall(without_code(path.read_text(encoding="utf-8"))):
        if not re.match(r"[a-z]+:", target):
            yield target


def link_problems(root, path):
    for target in links(path):
        name, _, anchor = target.partition("#")
        file = path if not name else (path.parent / name)
        here = path.relative_to(root)
        if not file.exists():
            yield f"{here}: the link '{target}' leads to no file"
        elif anchor and anchor not in anchors(file):
            yield f"{here}: the link '{target}' leads to no heading"


def mention_problems(root, path):
    """Files and commands that are named in the text, between backticks."""
    here = path.relative_to(root)
    folders = {entry.name for entry in root.iterdir() if entry.is_dir()} - NOT_SEARCHED
    launcher = root / "capstan"
    listed = re.search(r"^commands=\((.*)\)$", launcher.read_text(encoding="utf-8"), re.MULTILINE) if launcher.is_file() else None
    commands = set(listed.group(1).split()) if listed else set()
    for span in re.findall(r"`([^`]+)`", without_code(path.read_text(encoding="utf-8"))):
        words = span.split()
        first, slash, _ = words[0].partition("/") if words else ("", "", "")
        if slash and first in folders and not any(root.glob(words[0])):
            yield f"{here}: '{words[0]}' is no file and no folder"
        if words[:1] != ["./capstan"] or len(words) < 2:
            continue
        if not words[1].startswith("-") and words[1] not in commands:
            yield f"{here}: './capstan {words[1]}' is no command of the launcher"
        if words[1] == "bench" and len(words) > 2 and re.fullmatch(r"\w+", words[2]):
            if not (root / f"perf/campaigns/{words[2]}.yaml").is_file() and not (root / "perf" / words[2]).is_dir():
                yield f"{here}: './capstan bench {words[2]}' measures nothing"


def unreachable(root):
    seen, queue = set(), [root / "README.md"]
    while queue:
        path = queue.pop()
        if path in seen or not path.is_file() or path.suffix != ".md":
            continue
        seen.add(path)
        queue += [(path.parent / target.partition("#")[0]).resolve() for target in links(path)]
    for path in sorted((root / "docs").rglob("*.md")):
        if path not in seen:
            yield f"{path.relative_to(root)}: no link leads here from README.md"


def shown_commands(root):
    commands = {}
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                command = re.sub(r"\s+", " ", re.split(r"(?:^|\s)#", line)[0]).strip()
                if command:
                    commands.setdefault(command, path.relative_to(root))
        for span in re.findall(r"`([^`]+)`", without_code(text)):
            command = re.sub(r"\s+", " ", span).strip()
            if GIVEN.match(command):
                commands.setdefault(command, path.relative_to(root))
    return commands


def command_problems(root, list_file, tests):
    known = {}
    for line in list_file.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            command, _, runner = line.rpartition(" = ")
            known[command.strip()] = runner.strip()
    shown = shown_commands(root)
    for command, path in shown.items():
        if command not in known:
            yield f"{path}: no test is named for the command '{command}' in {list_file.name}"
    for command, runner in known.items():
        if command not in shown:
            yield f"{list_file.name}: no document shows the command '{command}'"
        if not runner.startswith("elsewhere: ") and not any(test == runner or test.startswith(runner + ".")
                                                            for test in tests):
            yield f"{list_file.name}: there is no test '{runner}' for the command '{command}'"


def reason_problems(root):
    source = (root / "belos_ext/convergence/stop_reason.cpp").read_text(encoding="utf-8")
    reasons = set(re.findall(r'case StopReason::\w+:\s*return "([^"]+)"', source)) - {"not started"}
    table = (root / "docs/troubleshooting.md").read_text(encoding="utf-8").partition("\n## Questions")[0]
    shown = set(re.findall(r"^\| ([^|]+?) \|", table, re.MULTILINE)) - {"Reason"}
    for reason in sorted(reasons - shown):
        yield f"docs/troubleshooting.md: the reason '{reason}' is missing"
    for reason in sorted(shown - reasons):
        yield f"docs/troubleshooting.md: no solve ends with the reason '{reason}'"
    if not reasons:
        yield "belos_ext/convergence/stop_reason.cpp: no reasons found"


def citation_problems(root):
    """Of what CITATION.cff says of the project."""
    cited = (root / "CITATION.cff").read_text(encoding="utf-8")
    for word, name, pattern in (("version", "CMakeLists.txt", r"^ *VERSION (\d+(?:\.\d+)*)$"),
                                ("  - name", "LICENSE", r"^Copyright \(c\) \d+, (.*)$")):
        here = re.search(rf"^{word}: (.*)$", cited, re.MULTILINE)
        there = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        if here is None or there is None or here[1] != there[1]:
            yield (f"CITATION.cff: '{word.strip(' -')}' is '{here[1] if here else ''}'; {name} says '{there[1] if there else ''}'")


def platform_problems(root):
    section = (root / "README.md").read_text(encoding="utf-8").partition("\n## Platforms and devices\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")]
    if len(rows) < 3:
        yield "README.md: below '## Platforms and devices' is no table of platforms"
        return
    if [cell.lower() for cell in rows[0]] != ["platform", "version", "what runs there", "how it is proven", "when"]:
        yield f"README.md: the table of platforms has other columns: {rows[0]}"
    for platform, *cells in rows[2:]:
        if len(cells) != 4:
            yield f"README.md: the row '{platform}' has not five cells"
        elif cells[1] != "not proven" and not ("`" in cells[2] or cells[2].startswith("by hand")):
            yield f"README.md: '{platform}' names nothing that proves it"
        elif cells[1] != "not proven" and not re.fullmatch(r"\d{4}-\d\d(-\d\d)?", cells[3]):
            yield f"README.md: '{platform}' does not say when it was proven"
        elif cells[1] == "not proven" and cells[3]:
            yield f"README.md: '{platform}' was proven on {cells[3]}, or was not"


def tests_of(build):
    run = subprocess.run(["ctest", "-N", "--test-dir", build], capture_output=True, text=True, check=False)
    return re.findall(r"Test +#\d+: (\S+)", run.stdout)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    tests = tests_of(sys.argv[2])
    found = documents(root)
    problems = [problem for path in found for problem in link_problems(root, path)]
    problems += [problem for path in found if path.name != "CHANGELOG.md" for problem in mention_problems(root, path)]
    problems += [*unreachable(root), *reason_problems(root), *citation_problems(root), *platform_problems(root)]
    problems += command_problems(root, pathlib.Path(__file__).resolve().parent / "commands.txt", tests)
    if not tests:
        problems.append(f"{sys.argv[2]}: 'ctest -N' lists no tests")
    print("\n".join(problems) if problems else f"{len(found)} documents, {len(shown_commands(root))} commands")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
