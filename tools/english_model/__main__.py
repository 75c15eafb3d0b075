"""python -m tools.english_model DIR --out MODEL: train the bundled English model again."""

import argparse
import sys
from collections.abc import Sequence

from herded.errors import CorpusError, HerdedError
from herded.ner.training import training_summary, write_model
from herded.system import atomic_files
from tools.english_model.recipe import train_recogniser


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, write the model and say how it went; 1 where that cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m tools.english_model", description=__doc__)
    parser.add_argument("folder", metavar="DIR", help="the corpora")
    parser.add_argument("--out", required=True, metavar="MODEL", help="the file to write")
    options = parser.parse_args(arguments)
    try:
        atomic_files.check_writable(options.out, CorpusError, "--out")
        facts = write_model(train_recogniser(options.folder), options.out)
    except HerdedError as error:
        print(f"english_model: {error}", file=sys.stderr)
        return 1
    print(training_summary(facts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
