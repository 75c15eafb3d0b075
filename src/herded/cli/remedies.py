"""What the library advises, in the words of the command line: there max_memory= is --max-memory."""

import argparse
import re

# The option that a command must have, what the library says, and what the command line does.
REWRITTEN_WORDS = (
    ("max_memory", r"\bmax_memory=(?![^\s,.:;)])", "--max-memory"),
    ("checkpoint", r"\bcheckpoint=(?![^\s,.:;)])", "--checkpoint"),
    ("burn_in", r"\bburn_in\b", "--burn-in"),
    ("method", r"\buse HerdedGibbs\b", "use --method herded"),
    ("methods", r"\buse HerdedGibbs\b", "use --methods herded"),
    ("weights", r'HerdedGibbs\(weights="(\w+)", slack=([\d.]+)\)', r"--weights \1 --slack \2"),
    ("methods", r' \(HerdedGibbs\(weights="pooled", slack=[\d.]+\) is a good choice\)', ""),
    ("weights", r'\bweights="(\w+)" or "(\w+)"', r"--weights \1 or \2"),
    ("methods", r'\bweights="(\w+)" or "(\w+)"', r"--methods \1 or \2"),
)
NO_LIMIT = ", or raise max_memory="


def rewrite_as_command(sentence: object, options: argparse.Namespace) -> str:
    """An error or a warning of the library as a command with these options would say it."""
    text = str(sentence)
    if not hasattr(options, "max_memory"):
        text = text.removesuffix(NO_LIMIT)
    for name, pattern, words in REWRITTEN_WORDS:
        if hasattr(options, name):
            text = re.sub(pattern, words, text)
    return text
