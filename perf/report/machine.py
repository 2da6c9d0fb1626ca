"""What was measured, and on what: machine, source, build."""

import datetime
import os
import pathlib
import platform
import shlex
import subprocess

from report import processes


def cores():
    """Cores this process may use."""
    return len(os.sched_getaffinity(0))


def _field(path, name):
    """The value of the first line `name ... : value` of a file like /proc/cpuinfo, or None."""
    try:
        for line in pathlib.Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
            key, colon, value = line.partition(":")
            if colon and key.strip() == name:
                return value.strip()
    except OSError:
        pass
    return None


def _caches():
    """Sizes of the first core's caches, such as {"L2": "2048K"}."""
    sizes = {}
    for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        if kind != "Instruction":
            sizes[f"L{level}"] = size
    return sizes


def last_level_cache():
    """Bytes of the last-level caches of the cores this process may use, each cache counted once; 0 where Linux does not
    tell."""
    caches = {}
    for core in os.sched_getaffinity(0):
        levels = {}
        for index in pathlib.Path(f"/sys/devices/system/cpu/cpu{core}/cache").glob("index*"):
            try:
                level, kind, size, shared = ((index / name).read_text().strip()
                                             for name in ("level", "type", "size", "shared_cpu_list"))
            except OSError:
                continue
            if kind != "Instruction" and size[:-1].isdigit():
                levels[int(level)] = (int(size[:-1]) * {"K": 1 << 10, "M": 1 << 20}.get(size[-1], 0), shared)
        if levels:
            size, shared = levels[max(levels)]
            caches[shared] = size
    return sum(caches.values())


def _git(root, *words):
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def describe(root, build):
    """Date, machine, commit and build, for the head of results.json."""
    cache = processes.cmake_cache(build)
    changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    build_type = cache.get("CMAKE_BUILD_TYPE", "")
    flags = [cache.get("CMAKE_CXX_FLAGS", ""), f"-march={cache['CAPSTAN_BASELINE']}" if cache.get("CAPSTAN_BASELINE") else ""]
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {
            "processor": _field("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
            "cores": cores(),
            "caches": _caches(),
            "memory": _field("/proc/meminfo", "MemTotal"),
            "system": f"{platform.system()} {platform.release()}",
        },
        "load_average": {"start": os.getloadavg()[0]},
        "commit": _git(root, "rev-parse", "HEAD"),
        "changed_since_commit": None if changes is None else bool(changes),
        "build": {
            "folder": str(build),
            "type": build_type,
            "compiler": cache.get("CMAKE_CXX_COMPILER"),
            "flags": " ".join(word for word in flags if word),
        },
    }


def lines(described):
    """Where, how and of what source something was measured, as text. described: of describe(), "command" and "remarks" too."""
    own, build, load = described["machine"], described["build"], described["load_average"]["start"]
    caches = ", ".join(f"{name} {size}" for name, size in own["caches"].items())
    changed = " with changes" if described.get("changed_since_commit") else ""
    busy = [f"Warning: the machine was busy at the start (load {load:.1f} on {own['cores']} cores); do not trust the times."]
    return [*([f"command: {shlex.join(described['command'])}"] if "command" in described else []),
            f"machine: {own['processor']}, {own['cores']} cores, {caches}; {own['system']}",
            f"build: {build.get('type')} {build.get('flags', '')}".rstrip(),
            f"commit: {(described.get('commit') or 'unknown')[:12]}{changed}; {described['date']}",
            *busy * (load > 0.25 * own["cores"]), *(f"Note: {remark}" for remark in described.get("remarks", []))]
