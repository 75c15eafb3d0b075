"""How much code there is: lines of the package that are no comment, no docstring and not blank.

python -m tests.repository.code_size
"""

import ast
import io
import tokenize
from pathlib import Path

import herded

ROOT = Path(herded.__file__).parent
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> int:
    """How many lines of a module have code on them."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if first is not None and ast.get_docstring(node, clean=False) is not None:
                lines -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(lines)


def size() -> dict[str, int]:
    """The lines of each part of the package: a folder, or a file beside them; stubs too."""
    parts: dict[str, int] = {}
    for path in sorted([*ROOT.rglob("*.py"), *ROOT.rglob("*.pyi")]):
        part = path.relative_to(ROOT).parts[0]
        parts[part] = parts.get(part, 0) + code_lines(path.read_text("utf-8"))
    return parts


if __name__ == "__main__":
    for part, lines in sorted(size().items(), key=lambda item: -item[1]):
        print(f"{lines:7,} {part}")
    print(f"{sum(size().values()):7,} in all")
