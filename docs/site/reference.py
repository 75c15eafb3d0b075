"""Pages of the API, from the docstrings; which names there are, the packages say themselves."""

import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import herded
from docs.site.docstrings import plain

# The home of a name, below herded, and the heading that it goes under.
HEADINGS = {
    "run.infer": "Run",
    "run.distributed.batch": "Run",
    "run.selection.recommendation": "Run",
    "run.progress": "Run",
    "run.result": "Results",
    "run.observables.result": "Results",
    "run": "What a run keeps",
    "models": "Models",
    "methods": "Methods",
    "moves": "Methods",
    "layouts": "Samplers of your own",
    "io": "Files",
    "tiled": "Lattices that no memory holds",
    "errors": "Errors",
}
PROTOCOLS = {"Answer", "Sampler", "Solver", "Model"}
LAST = "Samplers of your own"
PLAIN = {"Methods", LAST}  # of these only what a user sets, not what `infer` calls


def write(folder: Path) -> None:
    """The pages of the reference, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    rooms = sorted(name for name in herded.__all__ if isinstance(getattr(herded, name), ModuleType))
    names = []
    for heading, members in _grouped().items():
        page = heading.lower().replace(" ", "-")
        names.append(page)
        (folder / f"{page}.rst").write_text(_page(heading, "", "herded", members, heading))
    for room in rooms:
        names.append(room)
        module = importlib.import_module(f"herded.{room}")
        title = f"hd.{room}"
        text = "\n".join(plain((inspect.getdoc(module) or "").splitlines()))
        members = [name for name in dir(module) if not name.startswith("_")]
        (folder / f"{room}.rst").write_text(
            _page(title, text, f"herded.{room}", members, title), encoding="utf-8"
        )
    contents = "".join(f"   {name}\n" for name in names)
    (folder / "index.rst").write_text(
        "API reference\n=============\n\n"
        "All public names, from their docstrings. ``import herded as hd`` is short for all of\n"
        "them; the examples are run by the tests.\n\n"
        f".. toctree::\n   :maxdepth: 2\n\n{contents}",
        encoding="utf-8",
    )


def _grouped() -> dict[str, list[str]]:
    """Public names of the package by heading, in the order of HEADINGS."""
    found: dict[str, list[str]] = {heading: [] for heading in HEADINGS.values()}
    for name in herded.__all__:
        value = getattr(herded, name)
        if not name.startswith("_") and not isinstance(value, ModuleType):
            heading = LAST if name in PROTOCOLS else _heading(value)
            found.setdefault(heading, []).append(name)
    return {heading: names for heading, names in found.items() if names}


def _heading(value: Any) -> str:
    home = value.__module__.removeprefix("herded.")
    while home not in HEADINGS:
        if "." not in home:
            return "Others"
        home = home.rpartition(".")[0]
    return HEADINGS[home]


def _page(title: str, text: str, module: str, names: list[str], heading: str) -> str:
    entries = "".join(_entry(f"{module}.{name}", heading) for name in names)
    line = "=" * len(title)
    return f"{title}\n{line}\n\n{text}\n\n.. currentmodule:: {module}\n\n{entries}"


def _entry(path: str, heading: str) -> str:
    module, _, name = path.rpartition(".")
    value = getattr(importlib.import_module(module), name)
    if inspect.isclass(value):
        members = "   :no-members:\n" if heading in PLAIN or issubclass(value, Exception) else ""
        return f".. autoclass:: {path}\n{members}\n"
    kind = "autofunction" if callable(value) else "autodata"
    return f".. {kind}:: {path}\n\n"
