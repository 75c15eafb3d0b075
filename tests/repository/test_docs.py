"""The pages of the docs show what their commands print."""

import re
import shlex

import pytest

from docs.tools import refresh_pages
from docs.tools.benchmark_plots.tables import tables
from docs.tools.page_files import DOCS, RESULTS, page_files
from docs.tools.refresh_pages import Command, commands, is_current, pages, refreshed
from tests.repository import module_list
from tests.support.commands import quick
from tests.support.example_budget import ALL
from tests.support.preloaded_commands import FORKED

PAGE = """# A page

```console
$ echo one; python -c "print(6 * 7)"
$ cat <<END
> two
>
> END
old
```

```console fails
$ ls missing >log 2>&1
```

```console varies
$ date
yesterday
```

```python
$ not this
```
"""


def test_the_commands_of_a_block():
    found = commands("$ a\n> b\n>\nc\n> d\n$ e\n")
    assert found == [Command("a\nb\n", "c\n> d\n"), Command("e", "")]
    assert "".join(command.as_text() for command in found) == "$ a\n> b\n>\nc\n> d\n$ e\n"
    with pytest.raises(ValueError, match="a command after"):
        commands("no command\n$ a\n")


def test_a_page_is_refreshed():
    page = refreshed(PAGE)
    assert "one\n42\n$ cat <<END\n> two\n>\n> END\ntwo\n\n```" in page
    assert "yesterday" not in page and "$ not this" in page and "old" not in page
    assert not is_current(PAGE) and is_current(page)
    assert "yesterday" in refreshed(PAGE, check=True)
    assert not is_current(page.replace("\n42", "\n43"))


def test_seconds_and_last_digits_may_differ():
    page = "```console\n$ echo 3.25 s, 7 seconds, 0.12345678987654 and 5\n"
    page += "3.25 s, 7 seconds, 0.12345678987654 and 5\n```"
    assert is_current(page)
    said, printed = page.split("\n3.25")
    for old, new in (("7 s", "6 s"), ("987654", "911")):
        assert is_current(f"{said}\n3.25{printed.replace(old, new)}")
    assert not is_current(f"{said}\n3.25{printed.replace('and 5', 'and 6')}")


def test_a_command_that_fails_unasked():
    with pytest.raises(ValueError, match="ended with 3"):
        refreshed("```console\n$ exit 3\n```")


def test_all_pages_that_show_commands_are_found():
    assert {"file-formats", "command-line", "scale"} <= {path.stem for path in pages([])}
    assert "tutorial" in {path.stem for path in pages([])}  # its Python prints
    assert "architecture" not in {path.stem for path in pages([])}
    assert [path.stem for path in pages(["scale"])] == ["scale"]


@pytest.mark.parametrize("name", ["file-formats", "command-line", "scale"])
def test_pages_are_current(name, monkeypatch):
    """If not, and rightly so: python -m docs.tools.refresh_pages"""
    offer, run = refresh_pages._offer, refresh_pages.run

    def run_quickly(typed, *rest):
        """`herded infer` starts its workers as ever, `herded many` has the same lines for that."""
        with pytest.MonkeyPatch.context() as patch:
            if "herded many " in typed and not ALL:
                patch.setenv(FORKED, "1")
            return run(typed, *rest)

    monkeypatch.setattr(refresh_pages, "run", run_quickly)
    monkeypatch.setattr(
        refresh_pages, "_offer", lambda path, _: offer(path, shlex.join(quick(path.name)[1:]))
    )
    page = page_files()[name].read_text(encoding="utf-8")
    assert is_current(page), f"python -m docs.tools.refresh_pages {name}"


def test_the_list_of_suites_is_current():
    """If not: python -m tests.repository.module_list"""
    page = module_list.README.read_text(encoding="utf-8")
    assert page == module_list.written(page)


def test_files_that_pages_name_exist():
    root = DOCS.parent
    pages = [*page_files().values(), *(root / name for name in ("README.md", "CONTRIBUTING.md"))]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|md|json|npz))`", text):
            if not name.startswith(("herded-", "build/")):
                assert (root / name).exists() or (root / "src/herded" / name).exists(), (page, name)


def test_readme_quotes_what_was_measured():
    """Its table is that of one run, exact inference and the CPU included."""
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 100
    section = readme.split("## Why herded?", 1)[1].split("\n## ", 1)[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    measured = (RESULTS / "readme.md").read_text(encoding="utf-8")
    assert rows == [line for line in measured.splitlines() if line.startswith("|")]
    assert "\n".join(rows) in page_files()["benchmarks"].read_text(encoding="utf-8")
    assert len(rows) > 5 and rows[-1].startswith("| `hd.Exact()` |")
    cpu = re.search(r"on \d+ cores of ([^,]*),", measured)
    assert cpu and cpu[1] in section


def test_the_page_on_methods_quotes_what_was_measured():
    """The ratios of its advice are those of 97 models after 10,000 updates."""
    measured = (RESULTS / "which-method.md").read_text(encoding="utf-8")
    [rows] = tables(measured, "10,000 updates")
    ratios = {row[""]: row["all (97)"] for row in rows}
    page = " ".join(page_files()["choose"].read_text(encoding="utf-8").split())
    assert f"(a ratio of {ratios['Gibbs(herd=64)']})" in page
    assert f"about a quarter ({ratios['blanket']})" in page


def test_readme_keeps_its_promises():
    """The two commands that must work in a fresh checkout, word for word."""
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    install = "python3 -m venv .venv && .venv/bin/pip install '.[paper]' && .venv/bin/herded paper"
    test = ".venv/bin/pip install '.[test]' && .venv/bin/python -m pytest"
    assert f"\n    {install}\n" in readme and f"\n    {test}\n" in readme
