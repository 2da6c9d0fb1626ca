"""Descriptions of machines in YAML: what the models need to know. docs/study.md describes the format."""

import dataclasses
import difflib
import json
import pathlib
from typing import List, Optional

from report import processes

FOLDER = pathlib.Path(__file__).resolve().parent / "machines"


@dataclasses.dataclass(frozen=True)
class Link:
    """How messages up to a size travel between two processes: seconds, bytes a second."""
    latency: float
    rate: float
    injection_rate: float = float("inf")  # of a node's network card
    up_to: float = float("inf")  # bytes


@dataclasses.dataclass(frozen=True)
class Machine:
    """What is not known is None, or an empty list of links."""
    name: str
    source: str
    file: str
    ranks_per_node: Optional[int] = None
    sockets: Optional[int] = None
    eager_limit: Optional[int] = None  # bytes
    flop_time: Optional[float] = None  # seconds: "gamma" of [enlarged-cg], equation (3.3)
    dense_flop_time: Optional[float] = None  # None: the same
    reduction_latency: Optional[float] = None  # None: the latency of the network
    on_socket: List[Link] = dataclasses.field(default_factory=list)
    on_node: List[Link] = dataclasses.field(default_factory=list)
    network: List[Link] = dataclasses.field(default_factory=list)

    def link(self, place, size):
        """The link of a place, "on_socket", "on_node" or "network", for messages of `size` bytes."""
        links = getattr(self, place)
        return next((link for link in links if size <= link.up_to), links[-1])

    def missing(self, *names):
        """Those of these members that are not known."""
        return [name for name in names if getattr(self, name) in (None, [])]


class Reader:
    """Reads a map; what is wrong ends in processes.Misuse with file, key, value and what is allowed."""

    def __init__(self, file, value, path=""):
        self.file, self.path = file, path
        if not isinstance(value, dict):
            self.fail("", value, "a map of keys and values")
        self.value = value

    def fail(self, key, value, allowed, hint=""):
        place = ".".join(word for word in (self.path, key) if word)
        raise processes.Misuse(f"{self.file}: {place or 'the file'}: found {value!r}; allowed: {allowed}{hint}")

    def known(self, names):
        for key in self.value:
            if key not in names:
                near = difflib.get_close_matches(str(key), names, 1)
                self.fail(str(key), self.value[key], "a key of " + ", ".join(names),
                          f"; did you mean {near[0]}?" if near else "")

    def text(self, key):
        value = self.value.get(key)
        if not isinstance(value, str) or not value.strip():
            self.fail(key, value, "a text")
        return value.strip()

    def number(self, key, whole=False, needed=False):
        """Above 0, or None where it is not there or null. YAML 1.1 takes 1e-6 for a text: that is read, too."""
        value = self.value.get(key)
        if value is None and not needed:
            return None
        allowed = f"a {'whole ' * whole}number above 0" + (" or null" if not needed else "")
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            self.fail(key, value, allowed)
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if not 0 < number < float("inf") or (whole and number != int(number)):
            self.fail(key, value, allowed)
        return int(number) if whole else number


def _link(reader, last, network):
    reader.known(["latency", "rate", *(["injection_rate"] if network else []), "up_to"])
    up_to = reader.number("up_to", needed=not last)
    if last and up_to is not None:
        reader.fail("up_to", reader.value["up_to"], "none in the last one, which takes all larger messages")
    injection = reader.number("injection_rate") if network else None
    return Link(reader.number("latency", needed=True), reader.number("rate", needed=True),
                float("inf") if injection is None else injection, float("inf") if up_to is None else up_to)


def _links(reader, key):
    """One link, or a list of them by ascending size."""
    value = reader.value.get(key)
    if value is None:
        return []
    values = value if isinstance(value, list) else [value]
    if not values:
        reader.fail(key, value, "a link, or a list of them")
    links = [_link(Reader(reader.file, one, f"{key}[{k}]" if isinstance(value, list) else key), k == len(values) - 1,
                   key == "network") for k, one in enumerate(values)]
    for k in range(1, len(links)):
        if links[k].up_to <= links[k - 1].up_to:
            reader.fail(f"{key}[{k}].up_to", links[k].up_to, f"more than {links[k - 1].up_to:g}")
    return links


def names():
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def read(text):
    """The machine that a file describes: a path, or the name of one in perf/models/machines."""
    import yaml  # pylint: disable=import-outside-toplevel
    path = pathlib.Path(text)
    if not path.is_file() and (FOLDER / f"{text}.yaml").is_file():
        path = FOLDER / f"{text}.yaml"
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        near = difflib.get_close_matches(text, names(), 1)
        raise processes.Misuse(f"machine '{text}': {error.strerror}; allowed: a YAML file, or one of {', '.join(names())}"
                               + (f"; did you mean {near[0]}?" if near else "")) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise processes.Misuse(f"{path}: no YAML: {' '.join(str(error).split())}") from error
    reader = Reader(str(path), value)
    reader.known([field.name if field.name != "name" else "machine" for field in dataclasses.fields(Machine)
                  if field.name != "file"])
    whole = {key: reader.number(key, whole=True) for key in ("ranks_per_node", "sockets", "eager_limit")}
    times = {key: reader.number(key) for key in ("flop_time", "dense_flop_time", "reduction_latency")}
    links = {key: _links(reader, key) for key in ("on_socket", "on_node", "network")}
    return Machine(reader.text("machine"), reader.text("source"), str(path), **whole, **times, **links)


def text_of(machine):
    """The description as YAML, one that read() takes."""
    lines = [f"machine: {json.dumps(machine.name)}", f"source: {json.dumps(machine.source)}"]
    for key in ("ranks_per_node", "sockets", "eager_limit", "flop_time", "dense_flop_time", "reduction_latency"):
        value = getattr(machine, key)
        if value is not None:
            lines.append(f"{key}: {value:.4g}" if isinstance(value, float) else f"{key}: {value}")
    for place in ("on_socket", "on_node", "network"):
        links = getattr(machine, place)
        if links:
            lines.append(f"{place}:")
        for link in links:
            words = [f"{name}: {value:.0f}" if name == "up_to" else f"{name}: {value:.4g}"
                     for name, value in dataclasses.asdict(link).items() if value != float("inf")]
            lines.append(f"  - {{{', '.join(words)}}}")
    return "\n".join(lines) + "\n"
