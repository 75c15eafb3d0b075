"""The gallery: every script of examples/ with its picture, what it prints, and its code.

A script that draws saves its picture in its folder, and is run in a separate one: the page
shows what it left there. Pictures are drawn again only where the script or the package changed.
"""

import ast
import hashlib
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import herded

EXAMPLES = Path(__file__).parents[2] / "examples"
SOURCES = Path(herded.__file__).parent
INTRODUCTION = """# Gallery

Every picture was drawn by the script below it, when this site was built. The scripts are in
`examples/`, short, and run by the tests. Click on one to see it.

"""


def write(folder: Path, kept: Path) -> None:
    """The gallery and a page for each script, into `folder`; runs are kept in `kept`."""
    (folder / "gallery").mkdir(parents=True)
    scripts = sorted(EXAMPLES.glob("*.py"))
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda script: _run(script, kept), scripts))
    shown = [
        (script, run, next(run.glob("*.png"), None))
        for script, run in zip(scripts, runs, strict=True)
    ]
    shown.sort(key=lambda one: one[2] is None)  # those with a picture come first
    for script, run, picture in shown:
        if picture is not None:
            shutil.copy(picture, folder / "gallery" / picture.name)
        (folder / "gallery" / f"{script.stem}.md").write_text(
            _page(script, run, picture), encoding="utf-8"
        )
    cards = [_card(script, picture) for script, _, picture in shown]
    names = [f"{title_of(script).split(':')[0]} <gallery/{script.stem}>" for script, _, _ in shown]
    contents = "```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"
    text = f"{INTRODUCTION}<div class='cards'>\n{''.join(cards)}</div>\n\n{contents}"
    (folder / "gallery.md").write_text(text, encoding="utf-8")


def title_of(script: Path) -> str:
    """The first sentence of what the script says of itself."""
    told = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or script.stem
    return told.split("\n")[0].split(": python ")[0].rstrip(".")


def _run(script: Path, kept: Path) -> Path:
    """The folder where the script ran, with its output in `printed`."""
    folder = kept / f"{script.stem}-{_key(script)}"
    if (folder / "printed").exists():
        return folder
    for old in kept.glob(f"{script.stem}-*"):
        shutil.rmtree(old)
    folder.mkdir(parents=True)
    paths = [str(SOURCES.parent), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{script.name} ended with {done.returncode}:\n{done.stderr}")
    (folder / "printed").write_text(done.stdout, encoding="utf-8")
    return folder


def _key(script: Path) -> str:
    """Another one where the script, or any line of the package, is another."""
    hashed = hashlib.sha256(script.read_bytes())
    for path in sorted(SOURCES.rglob("*.py")):
        hashed.update(path.read_bytes())
    return hashed.hexdigest()[:16]


def _card(script: Path, picture: Path | None) -> str:
    shown = (
        f"<img src='_images/{picture.name}' alt='' loading='lazy'>"  # where Sphinx puts pictures
        if picture
        else "<span class='no-picture' aria-hidden='true'>&gt;&gt;&gt;</span>"
    )
    link = f"gallery/{script.stem}.html"
    return f"<a class='card' href='{link}'>{shown}<span>{title_of(script)}</span></a>\n"


def _page(script: Path, run: Path, picture: Path | None) -> str:
    code = script.read_text(encoding="utf-8").rstrip("\n")
    told = ast.get_docstring(ast.parse(code)) or ""
    more = told.partition("\n")[2].strip()
    body = code.split('"""', 2)[2].lstrip("\n") if told else code
    printed = (run / "printed").read_text(encoding="utf-8").rstrip("\n")
    parts = [f"# {title_of(script)}", more]
    if picture is not None:
        parts.append(f"![{title_of(script)}]({picture.name})")
    parts.append(f"`examples/{script.name}`:")
    parts.append(f"```python\n{body}\n```")
    if printed:
        parts.append(f"It prints:\n\n```text\n{printed}\n```")
    return "\n\n".join(part for part in parts if part) + "\n"
