#!/usr/bin/env python3
"""Checks that includes run one way: tpetra_ext <- belos_ext <- adapters <- app-inputs, regression, perf.

usage: check_layers.py <root of the source tree>

Inside tpetra_ext, belos_ext and adapters, folders include one another without a circle, sub-folders included; tests are
not asked. The further rules, such as what kernels/ may include, stand in RULES below.

Prints one line a violation, "file:line: what is wrong", and exits with 1 where there is one.
"""

import pathlib
import re
import sys

# A room may include itself and rooms of a smaller number; rooms with the same number do not see each other.
ROOMS = {"tpetra_ext": 0, "belos_ext": 1, "adapters": 2, "app-inputs": 3, "regression": 3, "perf": 3}
SUFFIXES = {".hpp", ".h", ".H", ".cpp", ".cc", ".C", ".cu"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
VERSION_MACRO = re.compile(r"\b(\w+_)?(TRILINOS|TPETRA|BELOS|TEUCHOS|KOKKOS|KOKKOSKERNELS)_(MAJOR|MINOR|VERSION|RELEASE)\w*")
# Members of Tpetra that Trilinos 14 has no more, and of Kokkos that Kokkos 5 (Trilinos 17) has no more.
RENAMED_MEMBER = re.compile(r"(->|\.)getNode(Num|Element|MaxNum)\w*\(|\b(typename\s[^;=]*|\w*View)::HostMirror\b|::concurrency\(\)")
# Entries of vectors and matrices read or written on the host, of which Tpetra makes a copy where they live on a device.
HOST_ACCESS = re.compile(r"\b(getLocalViewHost|hostView|getData|getDataNonConst|get[12]dView\w*|getLocalRow(View|Copy)|randomize)\(")
# What a newer fmt (10 and later) has in a header of its own.
FMT_RANGES = re.compile(r"\bfmt::join\(")
FMT_RANGES_HEADER = "#include <fmt/ranges.h>"
# Views of what Tpetra objects keep, which must not live longer than a use; copies of rows are no views.
VIEWS = re.compile(r"\b(getLocal(View|Matrix|Graph|Values|Indices|RowPtrs)(Device|Host|View)?|getLocalRowView\w*|getGlobalRowView\w*"
                   r"|getData|getDataNonConst|get[12]dView\w*|getWrappedDualView)\s*\(")
VIEWS_HOME = "tpetra_ext/compat/"
# In inline functions of several translation units nvcc 11.8 copies such a lambda through a null pointer.
DEVICE_LAMBDA = re.compile(r"\bKOKKOS_(CLASS_)?LAMBDA\b")
# Launches and waits that CAPSTAN_KERNELS=delayed would not know of. Loops inside of kernels are none.
LAUNCH = re.compile(r"Kokkos::parallel_(for|reduce|scan)\((?!.*(TeamThread|ThreadVector)Range)|\bKokkos::fence\(|\.fence\(")
# Copies that name no execution space: they wait for the whole device.
COPY = re.compile(r"Kokkos::(deep_copy|create_mirror(_view)?_and_copy)\(")
COPY_HOME = "tpetra_ext/kernels/base/copy.hpp"
LAUNCH_HOME = ("tpetra_ext/kernels/base/", "tpetra_ext/kernels/host/chunks.hpp", "tpetra_ext/kernels/generic/partial_sums.hpp")
# Policies and instances that launches would need without a queue, and queues that nobody else knows.
POLICY = re.compile(r"\bKokkos::(Range|Team|MDRange)Policy\b|\b(Exec|Execution|ExecutionSpace|execution_space)(\(\)|\{\})"
                    r"|\bQueue<[^;&*<>]*>\s*(\w+\s*)?[({]")
POLICY_HOME = LAUNCH_HOME + ("tpetra_ext/node_queue.hpp",)
# The rooms that are a part of the library.
LIBRARY = ("tpetra_ext/", "belos_ext/", "adapters/")
HOST_HOME = "tpetra_ext/compat/"
VERSION_HOME = "tpetra_ext/compat/trilinos.hpp"

# Rooms whose folders must not include one another in a circle.
WITHOUT_CIRCLES = ("tpetra_ext", "belos_ext", "adapters")

STANDARD = r"[a-z_0-9]+"  # C++ standard headers have no suffix
HOST_HEADERS = r"(choices|field_driver|host|host_actions|renewal|row_sums|settings|solve_cost|test_vector)\.hpp"
TEST_TOOLS = r"gtest/.*|gmock/.*|benchmark/.*"

# (pattern of folders, what the rule is about, pattern of includes allowed or None, pattern of includes forbidden or None).
# The first is matched against the beginning of a file's path, the others against the whole path between the angle brackets
# or quotes.
RULES = [
    ("tpetra_ext/kernels/(?!benchmark/)", "kernels/ includes only Kokkos, the standard library and itself",
     rf"{STANDARD}|Kokkos_\w+\.hpp|immintrin\.h|tpetra_ext/kernels/.*|{TEST_TOOLS}", None),
    ("tpetra_ext/kernels/benchmark/", "the benchmark of kernels/ includes what they do, and the loader, which finds it others' libraries",
     rf"{STANDARD}|Kokkos_\w+\.hpp|dlfcn\.h|tpetra_ext/kernels/.*|{TEST_TOOLS}", None),
    ("tpetra_ext/topology/(?!exchange/|test/)", "plans are plain data: topology/ includes only the standard library and itself,"
     " but for exchange/", rf"{STANDARD}|tpetra_ext/topology/(?!exchange/).*", None),
    ("tpetra_ext/", "tpetra_ext knows no Krylov method, preconditioner or deck", None,
     r"(Belos|MueLu|Ifpack2)\w*\.hpp|yaml-cpp/.*"),
    ("belos_ext/", "belos_ext takes operators as they come: no preconditioner package, no deck", None,
     r"(MueLu|Ifpack2)\w*\.hpp|yaml-cpp/.*"),
    ("belos_ext/(?!manager/|.*test/)", "Belos is known in manager/ alone, but for the words of its output", None,
     r"Belos(?!Types\.hpp)\w*\.hpp"),
    ("belos_ext/solvers/", "a solver file holds no communication, no device code and no Belos", None,
     r"Belos\w*\.hpp|mpi\.h|Kokkos_\w+\.hpp|Teuchos_\w*Comm\w*\.hpp|tpetra_ext/kernels/.*"),
    ("adapters/driver/", "the driver knows no application and no deck", None, r"adapters/(deck|openfoam|plugin|tools)/.*"),
    (rf"adapters/driver/{HOST_HEADERS}", "what the driver shows to applications includes the standard library and MPI alone",
     rf"{STANDARD}|mpi\.h|adapters/driver/{HOST_HEADERS}", None),
]


def is_test(path):
    return any(part in ("test", "benchmark") for part in path.split("/")[:-1])


def quoted_target(root, path, name):
    """The path from the root of what a quoted include means, or None where it is no file of ours."""
    if (root / name).is_file():
        return name
    beside = (root / path).parent / name
    if beside.is_file():
        return beside.resolve().relative_to(root).as_posix()
    return None


def direction_problem(path, target):
    here, there = path.split("/")[0], target.split("/")[0]
    if there not in ROOMS:
        return f"includes '{target}', which lies in no room"
    if here != there and ROOMS[there] >= ROOMS[here]:
        return f"{here} must not include {there} ('{target}')"
    return None


def rule_problems(path, included):
    for folder, text, allowed, forbidden in RULES:
        if not re.match(folder, path):
            continue
        if allowed and not re.fullmatch(allowed, included):
            yield f"{text}; not '{included}'"
        # Tests may bring a preconditioner or a deck along, the code they test may not.
        if forbidden and not is_test(path) and re.fullmatch(forbidden, included):
            yield f"{text}; not '{included}'"


def line_problems(root, path, line):
    match = INCLUDE.match(line)
    if match:
        included = match.group(2)
        if match.group(1) == '"':
            target = quoted_target(root, path, included)
            if target is not None:
                included = target
                problem = direction_problem(path, target)
                if problem:
                    yield problem
            elif not path.startswith("adapters/openfoam/"):
                yield f"no file '{included}' in the source tree; libraries are included with <...>"
        elif included.endswith(".H") and not included.startswith("NOX") and not path.startswith("adapters/openfoam/"):
            yield f"only adapters/openfoam includes OpenFOAM headers ('{included}')"
        yield from rule_problems(path, included)
    elif (VERSION_MACRO.search(line) or RENAMED_MEMBER.search(line)) and path != VERSION_HOME:
        yield f"differences between Trilinos versions belong in {VERSION_HOME}"
    elif DEVICE_LAMBDA.search(line):
        yield "kernels are functors: a lambda for host and device breaks in headers with nvcc"
    elif LAUNCH.search(line) and path.startswith(LIBRARY) and not is_test(path) and not path.startswith(LAUNCH_HOME):
        yield "kernels are launched by kernels::launch(), and waited for by kernels::fence()"
    elif POLICY.search(line) and path.startswith(LIBRARY) and not is_test(path) and not path.startswith(POLICY_HOME):
        yield "kernels are given to a queue that is carried, in the end nodeQueue(): no policy or instance is made for them"
    elif COPY.search(line) and path.startswith(("tpetra_ext/", "belos_ext/")) and not is_test(path) and path != COPY_HOME:
        yield "views are copied by kernels::copyAndWait(), which does not wait for the whole device"
    elif (HOST_ACCESS.search(line) and path.startswith(("tpetra_ext/", "belos_ext/")) and not is_test(path)
          and not path.startswith(HOST_HOME)):
        yield f"host access to vectors and matrices belongs in {HOST_HOME}: write a kernel"
    elif (VIEWS.search(line) and path.startswith(("tpetra_ext/", "belos_ext/", "adapters/")) and not is_test(path)
          and not path.startswith(VIEWS_HOME)):
        yield f"views of Tpetra's objects are taken by {VIEWS_HOME}local_views.hpp, which sees how long they live"


def folder_includes(root, room):
    """{folder: {folder it includes: "file:line" of one such include}}, tests left out."""
    graph = {}
    for file in sorted((root / room).rglob("*")):
        path = file.relative_to(root).as_posix()
        if file.suffix not in SUFFIXES or not file.is_file() or is_test(path):
            continue
        here = graph.setdefault(path.rpartition("/")[0], {})
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            target = quoted_target(root, path, match.group(2)) if match and match.group(1) == '"' else None
            there = target.rpartition("/")[0] if target else None
            if there and there.split("/")[0] == room and there != path.rpartition("/")[0]:
                here.setdefault(there, f"{path}:{number}")
    return graph


def circles(graph):
    """Each circle of folders once, as a list that ends where it begins."""
    done = set()

    def visit(folder, trail):
        if folder in trail:
            yield trail[trail.index(folder):] + [folder]
            return
        if folder in done:
            return
        for there in sorted(graph.get(folder, {})):
            yield from visit(there, trail + [folder])
        done.add(folder)

    for folder in sorted(graph):
        yield from visit(folder, [])


def circle_problems(root):
    for room in WITHOUT_CIRCLES:
        graph = folder_includes(root, room)
        for circle in circles(graph):
            places = ", ".join(graph[here][there] for here, there in zip(circle, circle[1:]))
            yield f"{graph[circle[-2]][circle[-1]]}: folders in a circle: {' -> '.join(circle)} ({places})"


def problems(root):
    """All violations below root, as "file:line: text"."""
    root = root.resolve()
    yield from circle_problems(root)
    for room in ROOMS:
        for file in sorted((root / room).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            lines = file.read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines, 1):
                if FMT_RANGES.search(line) and FMT_RANGES_HEADER not in lines:
                    yield f"{path}:{number}: fmt::join() is in <fmt/ranges.h>, not in <fmt/format.h> alone"
                for problem in line_problems(root, path, line):
                    yield f"{path}:{number}: {problem}"


def main():
    root = pathlib.Path(sys.argv[1])
    missing = [room for room in ROOMS if not (root / room).is_dir()]
    if missing:
        sys.exit(f"{root} is not the source tree: it has no {', '.join(missing)}")
    found = list(problems(root))
    print("\n".join(found) if found else "all includes follow the layers")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
