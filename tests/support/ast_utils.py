"""Python's sources as trees."""

import ast

HAVE_BODIES = ast.stmt, ast.excepthandler, ast.match_case


def statements(tree):
    """All of a tree, wherever they are; expressions, which are most of it, have none within."""
    found = [tree]
    for node in found:
        found += [inner for inner in ast.iter_child_nodes(node) if isinstance(inner, HAVE_BODIES)]
    return found
