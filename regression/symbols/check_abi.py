#!/usr/bin/env python3
"""Compares the binary interface of libcapstanC with that of the last release, by libabigail's abidiff.

usage: check_abi.py [--header capstan.h] [--against FILE.abi | --against-revision REVISION] [--update]

Both are made from headers: a library is compiled with debugging information that has the header's functions and types, and nothing
behind them. The library itself is built without such information; that it exports these functions is another test
(check_symbols.py). MPI's types are stand-ins, so that the result is that of any MPI.

--against: what abidw has written, as regression/symbols/capstanC.abi, the default. --against-revision: capstan.h of that
revision of git. --update writes --against anew: at a release, and after a change of SOVERSION.

What may change within one SOVERSION: functions and numbers of enumerations are added, and members at the end of structures that
begin with their size. Prints all that changed. Exit status: 0 programs that were compiled before still run, 1 they do not,
2 wrong use, or a tool is missing.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = "adapters/c/capstan.h"
MPI = """#include <stddef.h>
typedef struct stands_for_a_communicator *MPI_Comm;
typedef int MPI_Fint;
"""
# Bits of abidiff's exit status: 1 an error, 2 wrong use, 4 something changed, 8 surely incompatible.
ERROR, CHANGED = 1 | 2, 4 | 8


def fail(text):
    print(f"check_abi.py: {text}", file=sys.stderr)
    sys.exit(2)


def run(*words, allowed=0):
    """The output and the exit status, of which bits may be allowed."""
    try:
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    except FileNotFoundError:
        fail(f"{words[0]} is missing: install abigail-tools, and gcc for cc")
    if done.returncode & ~allowed:
        fail(f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, done.returncode


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def library_of(header):
    """C that defines what a header declares; and an exported function for each enumeration, which functions may have as int alone."""
    text = without_comments(header)
    declared = re.findall(r"CAPSTAN_API\s+([^;{}]+);", text)
    if not declared:
        fail("the header declares no function with CAPSTAN_API")
    enumerations = re.findall(r"\}\s*(\w+)\s*;", "".join(re.findall(r"typedef\s+enum\b[^}]*\}\s*\w+\s*;", text)))
    defined = [f"{' '.join(one.split())} {{ __builtin_trap(); }}" for one in declared]
    return "\n".join(['#include "interface.h"', *defined, *(f"void numbers_of_{name}({name} any) {{}}" for name in enumerations)]) + "\n"


def members_in(abi):
    """{name of a structure: names of its members}"""
    return {one.get("name"): [member.get("name") for member in one.findall("data-member/var-decl")]
            for one in xml.etree.ElementTree.parse(abi).iter("class-decl")}


def without_new_members(header, members):
    """The header without what stands behind the members that there were, in structures that begin with their size. abidiff can leave
    out members at the end by itself, but then it leaves out what else has changed in that structure, too."""
    def cut(found):
        declared = [declaration.split(",") for declaration in found[3].split(";")[:-1]]
        names = [re.search(r"(\w+)\s*(\[[^]]*\]\s*)*$", one)[1] for names in declared for one in names]
        there_were = members.get(found[2], [])
        if names[:len(there_were)] != there_were:
            return found[0]
        kept, left = [], len(there_were)
        for names in declared:
            kept += [",".join(names[:left]) + ";"] if left else []
            left -= min(left, len(names))
        return f"{found[1]}{''.join(kept)}\n}}"

    return re.sub(r"(typedef\s+struct\s+(\w+)\s*\{)(\s*size_t\s+size\s*;[^{}]*)\}", cut, without_comments(header))


def write_abi(header, soname, out):
    """What abidw says of a header's library."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "mpi.h").write_text(MPI, encoding="utf-8")
        (folder / "interface.h").write_text(header, encoding="utf-8")
        (folder / "interface.c").write_text(library_of(header), encoding="utf-8")
        library = folder / "libinterface.so"
        run("cc", "-g", "-O0", "-w", "-fPIC", "-shared", "-I", folder, f"-Wl,-soname,{soname}", folder / "interface.c", "-o", library)
        run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed", "--no-show-locs", "--type-id-style", "hash", "--out-file", out,
            library)


def soname_in(abi):
    found = re.search(r"soname='([^']*)'", pathlib.Path(abi).read_text(encoding="utf-8"))
    if not found:
        fail(f"{abi}: found no soname in it; abidw writes it")
    return found[1]


def soname_now():
    version = re.search(r"capstanC PROPERTIES [^)]*SOVERSION (\d+)", (ROOT / "adapters/c/CMakeLists.txt").read_text(encoding="utf-8"))
    return f"libcapstanC.so.{version[1]}"


def compare(old, header, soname):
    """(what changed, whether programs that were compiled before still run)"""
    with tempfile.TemporaryDirectory() as scratch:
        new = pathlib.Path(scratch) / "new.abi"
        write_abi(header, soname, new)
        told, status = run("abidiff", "--harmless", "--no-show-locs", old, new, allowed=CHANGED)
        if status:
            write_abi(without_new_members(header, members_in(old)), soname, new)
            _, status = run("abidiff", "--no-added-syms", old, new, allowed=CHANGED)
    return told, status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--header", type=pathlib.Path, default=ROOT / HEADER)
    parser.add_argument("--soname", default=soname_now(), help=argparse.SUPPRESS)
    parser.add_argument("--against", type=pathlib.Path, default=ROOT / "regression/symbols/capstanC.abi")
    parser.add_argument("--against-revision", metavar="REVISION")
    parser.add_argument("--update", action="store_true")
    given = parser.parse_args()
    header = given.header.read_text(encoding="utf-8")
    if given.update:
        write_abi(header, given.soname, given.against)
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        old = given.against
        if given.against_revision:
            old = pathlib.Path(scratch) / "old.abi"
            write_abi(run("git", "-C", ROOT, "show", f"{given.against_revision}:{HEADER}")[0], given.soname, old)
        if not old.exists():
            fail(f"{old}: no such file; --update writes it")
        told, runs = compare(old, header, given.soname)
        before = soname_in(old)
    print(told or "nothing changed")
    if before != given.soname:
        print(f"{given.soname} is another library than {before}: programs are compiled anew. --update makes it what is compared with.")
        return 0
    print("programs that were compiled before still run" if runs else "programs that were compiled before do not run any more: see SOVERSION")
    return 0 if runs else 1


if __name__ == "__main__":
    sys.exit(main())
