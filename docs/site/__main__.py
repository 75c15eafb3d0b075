"""python -m docs.site [--out FOLDER]: build the site, without a network; every warning is an error.

It needs pip install '.[docs]'. The first page is FOLDER/index.html, and opens as a file.
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

from sphinx.cmd.build import build_main

from docs.site.stage import SITE, stage

OUT = SITE.parents[1] / "build" / "site"


def main() -> int:
    options = argparse.ArgumentParser(
        prog="python -m docs.site", description=__doc__.split("\n")[0].partition(": ")[2]
    )
    options.add_argument("--out", type=Path, default=OUT, help="where to; default: build/site")
    chosen = options.parse_args()
    began = time.perf_counter()
    kept = OUT.parent / "gallery"
    with tempfile.TemporaryDirectory(prefix="herded-site-") as name:
        folder = Path(name)
        stage(folder, kept)
        shutil.rmtree(chosen.out, ignore_errors=True)
        arguments = [
            "-q",
            "-j",
            "2",
            "-W",
            "--keep-going",
            "-b",
            "html",
            "-d",
            str(folder / ".doctrees"),
        ]
        failed = build_main([*arguments, "-c", str(SITE), str(folder), str(chosen.out)])
    if failed:
        return failed
    print(f"{chosen.out / 'index.html'} written in {time.perf_counter() - began:.0f} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
