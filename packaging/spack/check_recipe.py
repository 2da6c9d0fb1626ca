#!/usr/bin/env python3
"""Checks the Spack recipe without Spack: what it names is there.

usage: check_recipe.py <root of the source tree> [--packages DIR]

- Variants that the recipe asks about are its own, and CMake options that it sets are those of the source tree.
- With --packages, a clone of github.com/spack/spack-packages: each package that it depends on is there, and has the variants and,
  where one is named alone, the version range that the recipe asks for.

Prints one line a violation and exits with 1 where there is one; 2 wrong use. It does not take the place of `spack audit packages`.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import types

RECIPE = "packaging/spack/spack_repo/capstan/packages/capstan/package.py"
# Variants that come with the classes a recipe inherits from.
INHERITED = {"cuda", "cuda_arch", "rocm", "amdgpu_target"}


class Recorded:
    """What the directives of a recipe are called with."""

    def __init__(self):
        self.calls = []

    def directive(self, name):
        return lambda *words, **options: self.calls.append((name, words, options))

    def of(self, name):
        return [(words, options) for called, words, options in self.calls if called == name]


def load(path):
    """(calls of the directives, options of CMake, variants asked about in cmake_args)."""
    record = Recorded()
    package = types.ModuleType("spack.package")
    for name in ("version", "variant", "depends_on", "conflicts", "license", "generator", "maintainers"):
        setattr(package, name, record.directive(name))
    package.__all__ = [name for name in vars(package) if not name.startswith("__")]
    bases = {name: type(name, (), {}) for name in ("CMakePackage", "CudaPackage", "ROCmPackage")}
    bases["CudaPackage"].cuda_arch_values = ("80",)
    bases["ROCmPackage"].amdgpu_targets = ("gfx90a",)
    modules = {"spack": types.ModuleType("spack"), "spack.package": package}
    for part in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        modules[part] = types.ModuleType(part)
    for part, name in (("cmake", "CMakePackage"), ("cuda", "CudaPackage"), ("rocm", "ROCmPackage")):
        modules[f"spack_repo.builtin.build_systems.{part}"] = types.ModuleType(part)
        setattr(modules[f"spack_repo.builtin.build_systems.{part}"], name, bases[name])
    sys.modules.update(modules)
    names = {"__name__": "package", "__file__": str(path)}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)  # pylint: disable=exec-used
    options, asked = [], []

    class Spec:
        def satisfies(self, text):
            asked.append(text)
            return True

        def __getitem__(self, name):
            return types.SimpleNamespace(prefix=f"/{name}")

    made = names["Capstan"]()
    made.spec = Spec()
    made.define = lambda name, value: options.append(name)
    made.define_from_variant = lambda name, variant: (options.append(name), asked.append(f"+{variant}"))
    made.cmake_args()
    return record, options, asked


def variants_of(spec):
    return set(re.findall(r"[+~]([\w-]+)", spec)) | set(re.findall(r"(?<![\w@:])([a-z_]+)=", spec))


def own_faults(root, record, options, asked):
    own = {words[0] for words, _ in record.of("variant")} | INHERITED
    conditions = asked + [options_.get("when", "") for _, _, options_ in record.calls] + [words[0] for words, _ in record.of("conflicts")]
    for text in conditions:
        for name in variants_of(text) - own:
            yield f"'{text}': the recipe has no variant '{name}'"
    cmake = (root / "cmake/CapstanOptions.cmake").read_text(encoding="utf-8")
    for name in options:
        if name != "BUILD_TESTING" and not re.search(rf"\(\s*{name}\b", cmake):
            yield f"cmake_args: cmake/CapstanOptions.cmake has no option '{name}'"


def show(packages, name):
    """The recipe of another package, from a clone with or without a work tree; None: there is none."""
    path = f"repos/spack_repo/builtin/packages/{name.replace('-', '_')}/package.py"
    if (packages / path).is_file():
        return (packages / path).read_text(encoding="utf-8")
    done = subprocess.run(["git", "-C", str(packages), "show", f"HEAD:{path}"], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def other_faults(packages, record):
    texts = {}
    for words, _ in record.of("depends_on"):
        name, spec = re.match(r"([a-z0-9-]+)(.*)", words[0]).groups()
        if name in ("c", "cxx", "mpi", "zlib-api"):  # languages and virtual packages
            continue
        texts.setdefault(name, show(packages, name))
        if texts[name] is None:
            yield f"'{words[0]}': there is no package '{name}'"
            continue
        known = set(re.findall(r"variant\(\s*[\"']([\w-]+)", texts[name])) | set(re.findall(r"^\s+\"([a-z]+)\",$", texts[name], re.MULTILINE))
        known |= INHERITED if re.search(r"CudaPackage|ROCmPackage", texts[name]) else set()
        for variant in variants_of(spec) - known:
            yield f"'{words[0]}': {name} has no variant '{variant}'"


def main(words):
    parser = argparse.ArgumentParser(prog="check_recipe.py", allow_abbrev=False)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--packages", type=pathlib.Path)
    arguments = parser.parse_args(words)
    record, options, asked = load(arguments.root.resolve() / RECIPE)
    faults = list(own_faults(arguments.root, record, options, asked))
    if arguments.packages:
        faults += other_faults(arguments.packages, record)
    for fault in faults:
        print(f"{RECIPE}: {fault}")
    if not faults:
        print("the recipe names what is there" + ("" if arguments.packages else "; other packages were not looked at"))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
