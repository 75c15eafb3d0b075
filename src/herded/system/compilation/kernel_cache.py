"""The cache of compiled kernels, which lets a second process start quickly.

Numba checks only the file that a function is in, and would reuse kernels whose imported parts have
changed. So the kernels of a module are kept in a folder named by a hash of everything that they may
depend on: the module, the modules of the package that it imports, directly or not, and the named
tuples of the package, which may be arguments. An edit to one of these starts an empty folder; any
other edit does not. No kernel takes a function as an argument, which the hash would miss.
"""

import hashlib
import os
import re
import shutil
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[__name__.count(".") - 1]
CACHE_FOLDER = "herded-kernels"
# Parsing the sources would take 0.1 s at every start; this takes 5 ms. A test compares the two.
IMPORT_PATTERN = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\((?:#[^\n]*|[^)#])*\)|(?:\\\n|[^\n])*)"
    rb"|import[ \t]+((?:\\\n|[^\n])*))",
    re.MULTILINE,
)
COMMENT_PATTERN = re.compile(rb"#[^\n]*")
TUPLE_PATTERN = re.compile(rb"^class \w+\(NamedTuple\):\n(?:[ \t][^\n]*\n|\n)*", re.MULTILINE)
# a module that calls these may import anything
LATE_IMPORT_WORDS = (b"import_module", b"__import__")


class PackageSources:
    """The modules of a package, and the sources that the kernels of each depend on."""

    def __init__(self, package: Path) -> None:
        self.package = package
        self.paths: dict[str, str] = {}
        for folder, _, files in os.walk(package):
            parts = [package.name, *Path(folder).relative_to(package).parts]
            for file in files:
                if file.endswith(".py"):
                    name = [] if file == "__init__.py" else [file[:-3]]
                    self.paths[".".join(parts + name)] = os.path.join(folder, file)
        self.text, self.imports = cache(self._text), cache(self._imports)
        self.digest = cache(lambda module: hashlib.sha256(self.text(module)).digest())
        self.tuples = cache(self._tuples)

    def _text(self, module: str) -> bytes:
        with open(self.paths[module], "rb") as file:
            return file.read()

    def _imports(self, module: str) -> set[str]:
        """Return the modules of this package that a module names in its imports."""
        if any(name + b"(" in self.text(module) for name in LATE_IMPORT_WORDS):
            return set(self.paths)
        found = set()
        for home, names, whole in IMPORT_PATTERN.findall(self.text(module)):
            if home.startswith(b"."):  # the package has no relative imports
                return set(self.paths)
            words = COMMENT_PATTERN.sub(b"", names or whole).translate(None, b"()\\")
            for word in filter(bytes.strip, words.split(b",")):
                name = word.split()[0].decode()
                if whole:
                    # The name of the package is bound, so all of it is reachable.
                    found |= {name} if b" as " in word else {name.partition(".")[0]}
                else:
                    inner = f"{home.decode()}.{name}"
                    found.add(inner if inner in self.paths else home.decode())
        return found & self.paths.keys()

    def _tuples(self) -> bytes:
        """Return all named tuples of the package as source text."""
        texts = (self.text(module) for module in sorted(self.paths))
        return b"".join(
            b"".join(TUPLE_PATTERN.findall(text)) for text in texts if b"NamedTuple" in text
        )

    def reached(self, module: str) -> set[str]:
        """Return the module and all that it imports, directly or not.

        Their parent packages are executed too, but no kernel depends on them.
        """
        if module not in self.paths:  # a foreign kernel that calls ours
            return set(self.paths)
        found, new = {module}, [module]
        while new:
            name = new.pop()
            new += self.imports(name) - found
            found |= self.imports(name)
        return found

    def hash(self, module: str) -> str:
        """Hash the sources of a module: equal for equal files."""
        digest = hashlib.sha256(self.tuples())
        for name in sorted(self.reached(module)):
            digest.update(f"{name}\0".encode() + self.digest(name))
        return digest.hexdigest()[:16]


def cache_folder(sources: PackageSources, module: str, chosen: str) -> Path:
    """Return the folder for the kernels of a module: the `chosen` one, one next to the sources of
    the package, or one among the user's caches if the sources' folder is read-only."""
    name = f"{module}-{sources.hash(module)}"
    if chosen:
        return Path(chosen) / CACHE_FOLDER / name
    try:
        folder = sources.package / "__pycache__" / CACHE_FOLDER / name
        if not folder.exists():
            folder.mkdir(parents=True)
            remove_old(folder)
        return folder
    except OSError:
        return (
            Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / CACHE_FOLDER / name
        )


def remove_old(folder: Path) -> None:
    """Remove sibling folders with kernels of other versions of the same module."""
    module = folder.name.rpartition("-")[0]
    for old in folder.parent.glob(f"{module}-*"):
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)


def remove_oldest(folder: Path, most: int) -> None:
    """Remove the oldest folders within one if there are more than `most`."""
    try:
        made = sorted((inner.stat().st_mtime_ns, inner) for inner in folder.iterdir())
    except OSError:  # not there yet, or another process removes it
        return
    for _, old in made[: max(0, len(made) - most)]:
        shutil.rmtree(old, ignore_errors=True)


@cache
def _sources() -> PackageSources:
    return PackageSources(PACKAGE)


@cache
def folder_of(module: str, chosen: str) -> str:
    """Return the folder for the kernels of a module of this package."""
    return str(cache_folder(_sources(), module, chosen))
