"""What a case file says: which tutorial, how it is prepared, and what of it is pressure.

A case file (YAML) holds:

    tutorial    folder below the installed tutorials, such as incompressible/simpleFoam/pitzDaily
    folder      instead of tutorial: any other case folder, from where the case file is
    about       one line for people
    prepare     commands before the run, in order. Programs of OpenFOAM, with arguments; and `restore0` (0.orig becomes 0),
                `m4 FROM TO`, `copy FROM TO`, `move FROM TO`, `remove PATTERN`, inside the case
    application the solver and its arguments; default: controlDict's
    steps       time steps (or iterations) of a run
    pressure    fields whose solves are the pressure's; the others are called the rest
    asymmetric  those of them with an asymmetric matrix: no conjugate gradients
    no_mean     fields that are compared without their means: those defined up to a constant, and large constants
    slices      direction (x, y, z) that a decomposition cuts; default: the longest of the mesh
    ranks       most ranks that the case can have; default: any number
    tight       tolerance for comparing fields; default 1e-9
    functions   keep: function objects of the tutorial stay; default: drop
    edits       file: {entry: value}. An entry is a path such as PIMPLE/nCorrectors; ~ removes it
"""

import dataclasses
import pathlib
import shlex
import shutil

from . import yaml_text
from .errors import WrongUse, nearest, not_allowed
from .foam_text import FoamText

KEYS = ("tutorial", "folder", "about", "prepare", "application", "steps", "pressure", "asymmetric", "no_mean", "slices",
        "ranks", "tight", "functions", "edits")
# Commands of `prepare` that are no programs, and how many arguments they take.
OWN_COMMANDS = {"restore0": 0, "m4": 2, "copy": 2, "move": 2, "remove": 1}


@dataclasses.dataclass
class Case:
    name: str
    tutorial: pathlib.Path
    about: str = ""
    prepare: "list[list[str]]" = dataclasses.field(default_factory=list)
    application: "list[str]" = dataclasses.field(default_factory=list)
    steps: int = 10
    pressure: "list[str]" = dataclasses.field(default_factory=lambda: ["p"])
    asymmetric: "list[str]" = dataclasses.field(default_factory=list)
    no_mean: "list[str]" = dataclasses.field(default_factory=list)
    slices: str = ""
    ranks: int = 0
    tight: float = 1e-9
    functions: str = "drop"
    edits: "dict[str, dict[str, str]]" = dataclasses.field(default_factory=dict)


class Checker:
    """Reads typed values out of a mapping; a mistake names file, line, key, value and what is allowed."""

    def __init__(self, mapping, place, keys):
        if not isinstance(mapping, yaml_text.Mapping):
            raise WrongUse(f"{place}: found {describe(mapping)}; allowed: a mapping with the keys {', '.join(keys)}")
        self.mapping, self.place = mapping, place
        for key in mapping:
            if key not in keys:
                raise not_allowed(f"{self.where(key)}: unknown key", key, keys)

    def where(self, key):
        return f"{self.place}:{self.mapping.lines.get(key, self.mapping.line)}"

    def fail(self, key, allowed):
        raise WrongUse(f"{self.where(key)}: {key}: found {describe(self.mapping.get(key))}; allowed: {allowed}")

    def has(self, key):
        return self.mapping.get(key) is not None

    def text(self, key, default=""):
        value = self.mapping.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            self.fail(key, "text")
        return value

    def word(self, key, allowed, default):
        value = self.text(key, default)
        if value not in allowed:
            raise not_allowed(f"{self.where(key)}: {key}", value, allowed)
        return value

    def texts(self, key, default=()):
        """A list of texts; a single one is a list of one."""
        value = self.mapping.get(key)
        if value is None:
            return list(default)
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.fail(key, "a list of texts")
        return list(value)

    def whole(self, key, default, least=1):
        value = self.mapping.get(key)
        if value is None:
            return default
        if not isinstance(value, str) or not value.isdigit() or int(value) < least:
            self.fail(key, f"a whole number from {least} on")
        return int(value)

    def wholes(self, key, default):
        values = self.texts(key)
        if not all(value.isdigit() and int(value) >= 1 for value in values):
            self.fail(key, "whole numbers from 1 on")
        return [int(value) for value in values] or list(default)

    def number(self, key, default):
        """A number above 0."""
        value = self.mapping.get(key)
        if value is None:
            return default
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = -1.0
        if not 0 < number < float("inf"):
            self.fail(key, "a number above 0")
        return number


def describe(value):
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else f"'{value}'"


def read_list(path, of):
    """The entries of a file that is a list; of: what a message calls them."""
    rows = yaml_text.read(path)
    if not isinstance(rows, list):
        raise WrongUse(f"{path}: found {describe(rows)}; allowed: a list of {of}")
    return rows


def read_case(path, tutorials):
    """The case that a file describes."""
    return make_case(yaml_text.read(path), path, tutorials, path.parent.name)


def make_case(mapping, place, tutorials, name):
    """The case that a mapping describes. `tutorials`: the folder of all installed ones."""
    checker = Checker(mapping, place, KEYS)
    case = Case(name=name, tutorial=source_folder(checker, place, tutorials), about=checker.text("about"),
                steps=checker.whole("steps", 10), pressure=checker.texts("pressure", ["p", "pcorr"]),
                asymmetric=checker.texts("asymmetric"), no_mean=checker.texts("no_mean"),
                slices=checker.word("slices", ("x", "y", "z", ""), ""), ranks=checker.whole("ranks", 0),
                tight=checker.number("tight", 1e-9), functions=checker.word("functions", ("drop", "keep"), "drop"),
                application=shlex.split(checker.text("application")))
    for field in case.asymmetric:
        if field not in case.pressure:
            raise not_allowed(f"{checker.where('asymmetric')}: asymmetric", field, case.pressure)
    case.prepare = [read_command(checker, text) for text in checker.texts("prepare")]
    case.edits = read_edits(checker)
    case.application = case.application or [control_entry(case.tutorial, "application")]
    if not case.application[0]:
        checker.fail("application", "a program; the tutorial's controlDict names none")
    return case


def source_folder(checker, place, tutorials):
    """The folder that a case is a copy of."""
    if checker.has("tutorial") == checker.has("folder"):
        raise WrongUse(f"{checker.where('tutorial')}: found {'both' if checker.has('folder') else 'neither'}; allowed: either "
                       "tutorial (a folder below the installed tutorials) or folder (of a case)")
    key = "tutorial" if checker.has("tutorial") else "folder"
    name = checker.text(key)
    folder = tutorials / name if key == "tutorial" else (pathlib.Path(place).parent / name).resolve()
    if folder.is_dir() and (folder / "system").is_dir():
        return folder
    where = near_tutorial(name, tutorials) if key == "tutorial" else f"{folder} is no folder with a folder system"
    raise WrongUse(f"{checker.where(key)}: {key}: found '{name}'; {where}")


def near_tutorial(wanted, tutorials):
    """What is allowed instead of a tutorial that is not there."""
    if not tutorials.is_dir():
        return f"the folder {tutorials} is missing; on Debian: apt-get install openfoam-examples, or: ./capstan setup"
    folders = sorted(path.parent.parent.relative_to(tutorials).as_posix()
                     for path in tutorials.rglob("system/controlDict*"))
    return f"allowed: one of {len(folders)} below {tutorials}; did you mean '{nearest(wanted, folders)}'?"


def read_command(checker, text):
    words = shlex.split(text)
    if not words:
        checker.fail("prepare", "commands")
    own = OWN_COMMANDS.get(words[0])
    if own is not None and len(words) - 1 != own:
        raise WrongUse(f"{checker.where('prepare')}: prepare: found '{text}'; allowed: {words[0]} with {own} argument(s)")
    outside = [word for word in words[1:] if word.startswith("/") or ".." in word.split("/")]
    if own is not None and outside:
        raise WrongUse(f"{checker.where('prepare')}: prepare: found '{outside[0]}'; allowed: a path inside the case")
    if own is None and shutil.which(words[0]) is None:
        raise not_allowed(f"{checker.where('prepare')}: prepare: no program", words[0],
                          [*OWN_COMMANDS, "blockMesh", "topoSet", "setFields", "splitMeshRegions", "changeDictionary",
                           "createPatch", "createBaffles", "mirrorMesh", "extrudeMesh", "refineMesh", "mergeMeshes"])
    return words


def read_edits(checker):
    edits = checker.mapping.get("edits")
    if edits is None:
        return {}
    if not isinstance(edits, yaml_text.Mapping):
        checker.fail("edits", "file: {entry: value}")
    for file, entries in edits.items():
        place = f"{checker.place}:{edits.lines[file]}: edits: {file}"
        if file.startswith("/") or ".." in file.split("/"):
            raise WrongUse(f"{place}: allowed: a file inside the case")
        if not isinstance(entries, yaml_text.Mapping):
            raise WrongUse(f"{place}: found {describe(entries)}; allowed: entries with values")
        for key, value in entries.items():
            if not (value is None or isinstance(value, str)):
                raise WrongUse(f"{place}: {key}: found {describe(value)}; allowed: text in quotes, or ~ to remove the entry")
    return edits


def control_entry(folder, key):
    """An entry of a tutorial's controlDict, "" where it has none."""
    path = folder / "system/controlDict"
    return (FoamText.read(path).get(key) or "") if path.is_file() else ""
