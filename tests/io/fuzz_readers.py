"""Broken files of every kind: a reader gives a model or one of our errors, whatever it is given.

    python -m tests.io.fuzz_readers --count 100000
    python -m tests.io.fuzz_readers --seconds 60 --seed 1
    python -m tests.io.fuzz_readers --seconds 60 --atheris      guided by coverage, if installed

Valid files are cut, and their words and bytes deleted, repeated, exchanged and replaced. What a
reader accepts is written and read again, and must be the same. The limit on memory makes greed an
error, and whatever is found is kept for a test.
"""

import argparse
import collections
import gzip
import io
import os
import random
import re
import sys
import tempfile
import time
import traceback
import zipfile
from pathlib import Path

import numpy as np

import herded as hd
from herded.errors import HerdedError

LIMIT = 2**26  # bytes that readers may take
SLOW = 5.0  # seconds for one small file

WORDS = [
    *(b"0", b"-1", b"1", b"2", b"3", b"99999999999", b"1e12", b"1e-999", b"1e999", b"nan", b"inf"),
    *(b"0.5", b"2.5", b"-0", b"1_0", b"0x1", b"+.5e1", b"9" * 400, b"#", b"//", b"/*", b"*/", b'"'),
    *(b"MARKOV", b"BAYES", b"MAR", b"PR", b"MPE", b"-BEGIN-", b"network", b"variable", b"type"),
    *(b"probability", b"property", b"table", b"default", b"discrete", b"{", b"}", b"(", b")", b";"),
    *(b"[", b"]", b"|", b",", b"<", b">", b"</", b"/>", b"&", b"&lt;", b"&#0;", b"<!ENTITY a 'b'>"),
    *(b"<TABLE>", b"<GIVEN>", b"\n", b"\r", b"\r\n", b"\t", b" ", b"\0", b"\xff", b"\xc3\xa9", b""),
]
WORD = re.compile(rb"\s+|\w+|[^\s\w]+|[^\s]")

UAI = b"""MARKOV
3
2 2 3
3
1 0
2 0 1
2 1 2

2
 0.4 0.6
4
 1 2  3 4
6
 .1 .2 .3  0 1 1e-9
"""
BIF = b"""network "a b" { property x "y;z" // no comment
; }
variable a { type discrete [ 2 ] { yes, "no, never" }; property p; }
variable b/c { type discrete[3] { <5 5-12 12+ }; } /* comment */
probability ( a ) { table 0.25, 0.75; }
probability ( b/c | a ) { (yes) 0.5, 0.25, 0.25; default 0.1 0.2 0.7; }
variable d { type discrete [ 2 ] { x, y }; }
probability ( d | a, b/c ) { table .1 .2 .3 .4 .5 .6 .9 .8 .7 .6 .5 .4; }
"""
XMLBIF = b"""<?xml version="1.0"?>
<!DOCTYPE BIF [ <!ELEMENT BIF (NETWORK)*> ]>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME><PROPERTY>p</PROPERTY>
<VARIABLE TYPE="nature"><NAME>a &amp; b</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>
<VARIABLE><NAME>c</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME><OUTCOME>z</OUTCOME></VARIABLE>
<DEFINITION><FOR>a &amp; b</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>c</FOR><GIVEN>a &amp; b</GIVEN><TABLE>.1 .2 .7 <!-- x -->
0 0 1</TABLE></DEFINITION></NETWORK></BIF>
"""


def saved_models(suffix: str) -> list[bytes]:
    """Our own files, of a factor graph and of a lattice."""
    graph = hd.FactorGraph([2, 3], [((0, 1), np.eye(2, 3)), ((), 0.5)], names="ab")
    grid = hd.ising_grid(np.ones((2, 3)), 0.5)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for model in (graph.given({"a": 1}), grid.given({(1, 1): 0})):
            path = Path(folder) / f"model{suffix}"
            hd.save_model(model, path)
            found.append(path.read_bytes())
    return found


def seeds() -> dict[str, list[bytes]]:
    """Valid files for every reader."""
    found = {
        "read_uai": [UAI, UAI.replace(b"MARKOV", b"BAYES"), b"MARKOV 1 2 2 0 1 0 1 .5 2 1 0"],
        "read_evidences": [b"2 0 1 7 0\n", b"3\n0\n1 2 2\n2 0 1 1 0\n", b"0"],
        "read_mar": [b"MAR\n2 2 0.1 0.9 3 0.2 0.2 0.6\n", b"MAR\n1\n1 2 0 1\n-BEGIN-\n1 1 1\n"],
        "read_pr": [b"PR\n-12.5\n", b"PR\n1\n0.25\n"],
        "read_mpe": [b"MPE\n3 0 1 2\n", b"MAP\n1\n3 0 1 2\n"],
        "read_bif": [BIF],
        "read_xmlbif": [XMLBIF],
        "load_model": saved_models(".npz"),
    }
    try:
        found["load_model"] += saved_models(".safetensors")
    except HerdedError:
        print("safetensors is not installed: its files are left out", file=sys.stderr)
    found["read_model"] = [data for datas in found.values() for data in datas]
    return found


# -- mutations ---------------------------------------------------------------------------------


def mutate_words(data: bytes, rng: random.Random) -> bytes:
    """Delete, repeat, exchange or replace a few words."""
    words = WORD.findall(data) or [b""]
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        i, j = rng.randrange(len(words)), rng.randrange(len(words))
        change = rng.randrange(5)
        if change == 0:
            words[i : i + rng.choice((1, 2, 9))] = [b""]
        elif change == 1:
            words[i:i] = words[j : j + rng.choice((1, 5, 40))]
        elif change == 2:
            words[i], words[j] = words[j], words[i]
        elif change == 3:
            words[i] = rng.choice(WORDS)
        else:
            words.insert(i, rng.choice(WORDS))
    return b"".join(words)


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Cut, or delete, insert, replace or flip a few bytes."""
    result = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        i = rng.randrange(len(result) + 1)
        change = rng.randrange(6)
        if change == 0:
            del result[i:]
        elif change == 1:
            del result[i : i + rng.choice((1, 4, 50))]
        elif change == 2:
            result[i:i] = rng.randbytes(rng.choice((1, 4, 8)))
        elif change == 3:
            result[i : i + 1] = rng.randbytes(1)
        elif change == 4 and i < len(result):
            result[i] ^= 1 << rng.randrange(8)
        else:
            result[i:i] = rng.choice(WORDS)
    return bytes(result)


def mutate_arrays(data: bytes, rng: random.Random) -> bytes:
    """Change what is in a zip, and make a valid zip of it again."""
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    name = rng.choice(list(members))
    members[name] = mutate(members[name], rng)
    packed = io.BytesIO()
    with zipfile.ZipFile(
        packed, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    ) as file:
        for name, member in members.items():
            if rng.random() > 0.02:
                file.writestr(name, member)
    return packed.getvalue()


def mutate(data: bytes, rng: random.Random) -> bytes:
    """A broken file made of a valid one."""
    if data.startswith(b"PK") and rng.random() < 0.7:
        return mutate_arrays(data, rng)
    result = (mutate_words if rng.random() < 0.7 else mutate_bytes)(data, rng)
    if rng.random() < 0.03:
        packed = gzip.compress(result, 1)
        return packed if rng.random() < 0.5 else mutate_bytes(packed, rng)
    return result


# -- the check ---------------------------------------------------------------------------------


def check(reader: str, path: Path) -> bool:
    """Whether the file is valid; anything but a model or one of our errors is raised."""
    limited = reader in ("read_uai", "read_bif", "read_xmlbif", "load_model", "read_model")
    try:
        found = getattr(hd.io, reader)(path, **({"max_memory": LIMIT} if limited else {}))
    except HerdedError as error:
        said = str(error)
    else:
        if limited:
            _check_comes_back(reader, found, path.with_name("again.npz"))
        return True
    assert (
        said.startswith(("expected ", "could not read ")) and "\n" not in said and len(said) < 1000
    ), said
    return False


def _check_comes_back(reader: str, model: hd.FactorGraph | hd.Lattice, path: Path) -> None:
    writer = {"load_model": "save_model", "read_model": "save_model"}.get(reader)
    try:
        getattr(hd.io, writer or reader.replace("read", "write"))(model, path)
    except HerdedError:
        return  # a name, say, that XML has and cannot write
    again = getattr(hd.io, reader)(path)
    assert again.content_hash == model.content_hash
    assert again.names == model.names and again.state_names == model.state_names


def run(args: argparse.Namespace, folder: Path) -> int:
    """Plain mutation; the number of failures."""
    rng, files = random.Random(args.seed), seeds()
    valid, total, slowest = collections.Counter(), collections.Counter(), 0.0
    failures = 0
    end = time.monotonic() + args.seconds if args.seconds else float("inf")
    while total.total() < args.count and time.monotonic() < end:
        reader = rng.choice(list(files))
        data = mutate(rng.choice(files[reader]), rng)
        path = folder / "file"
        path.write_bytes(data)
        began = time.perf_counter()
        total[reader] += 1
        try:
            valid[reader] += check(reader, path)
            took = time.perf_counter() - began
            slowest = max(slowest, took)
            assert took < SLOW, f"{took:.1f} s"
        except Exception:
            failures += 1
            kept = Path(args.keep) / f"{reader}-{failures}"
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(data)
            traceback.print_exc()
            print(f"{reader} failed: the file is kept as {kept}", file=sys.stderr)
    for reader in files:
        print(f"{reader:15} {total[reader]:8} files, {valid[reader]:7} of them valid")
    print(f"{total.total()} files, {failures} failures, slowest {slowest:.3f} s")
    return failures


def limit_memory() -> None:
    """Make greed an error, where the system can."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    resource.setrlimit(resource.RLIMIT_AS, (2**32, resource.getrlimit(resource.RLIMIT_AS)[1]))


def run_atheris(args: argparse.Namespace, folder: Path) -> None:
    """The same, guided by coverage; the first byte chooses the reader. Ends the process."""
    import atheris

    files = seeds()
    readers = list(files)
    corpus = folder / "corpus"
    corpus.mkdir()
    for k, reader in enumerate(readers):
        for j, data in enumerate(files[reader]):
            (corpus / f"{reader}-{j}").write_bytes(bytes([k]) + data)
    path = folder / "file"

    def one(data: bytes) -> None:
        if data:
            path.write_bytes(data[1:])
            check(readers[data[0] % len(readers)], path)

    atheris.instrument_all()
    limits = [f"-max_total_time={args.seconds or 60}", f"-seed={args.seed + 1}", "-timeout=20"]
    atheris.Setup([sys.argv[0], *limits, "-max_len=4096", str(corpus)], one)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=0, help="stop after so long")
    parser.add_argument("--count", type=int, default=sys.maxsize, help="stop after so many files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", default="fuzz-failures", help="where files that failed are kept")
    parser.add_argument("--atheris", action="store_true", help="be guided by coverage")
    args = parser.parse_args()
    if not args.seconds and args.count == sys.maxsize:
        parser.error("expected --seconds or --count")
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        if args.atheris:
            run_atheris(args, Path(name))
        limit_memory()
        return 1 if run(args, Path(name)) else 0


if __name__ == "__main__":
    sys.exit(main())
