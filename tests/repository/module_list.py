"""python -m tests.repository.module_list: write the list of test modules in tests/README.md."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).parents[1]
README = HERE / "README.md"
DOCSTRING = re.compile(r'r?""".*?"""', re.DOTALL)  # to parse all that follows takes longer
MARK = "## What each suite guards\n"


def listed() -> str:
    """A line for each suite: what the first paragraph of its docstring says."""
    lines = []
    for path in sorted(HERE.rglob("test_*.py")):
        found = DOCSTRING.match(path.read_text(encoding="utf-8"))
        words = ast.literal_eval(found[0]) if found else ""
        name = path.relative_to(HERE).as_posix()
        lines.append(f"- `{name}`: {' '.join(words.split(chr(10) * 2)[0].split())}\n")
    return "".join(lines)


def written(page: str) -> str:
    """The page with the list as it should be."""
    return f"{page.partition(MARK)[0]}{MARK}\n{listed()}"


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
