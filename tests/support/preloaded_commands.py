"""The commands `herded` and `python` without a second of imports: forked from a process that has
done them.

Pages of the docs show dozens of commands, and other suites run some. Each is a process of its own
here too, with the folder, the environment and the open files of whoever types it;
`herded.cli.main.main` runs there as ever, and so does a program from stdin or after -c. SIGINT and
SIGTERM are passed on. `commands.quick` gives what to type.
"""

import json
import os
import signal
import socket
import sys

TYPE_CHECKING = False  # `typing` takes time to import
if TYPE_CHECKING:
    from typing import TextIO

FORKED = "HERDED_TESTS_FORK"  # workers of the command are forked, and import nothing
PASSED_ON = (signal.SIGINT, signal.SIGTERM)


def ask(path: str, words: list[str]) -> int:
    """Run a command of these words in a fork of the server at `path`; the exit code.

    Signals wait until it is known whom to pass them on to: the command would not hear of one that
    ends this process, and whoever waits for what it prints would wait until it ends by itself.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    with socket.socket(socket.AF_UNIX) as line:
        pid, said = begin(line, path, words, [0, 1, 2])
        for number in PASSED_ON:
            signal.signal(number, lambda number, _: os.kill(pid, number))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
        return int(said.readline() or 1)  # no word: it has died


def begin(
    line: socket.socket, path: str, words: list[str], files: list[int]
) -> tuple[int, "TextIO"]:
    """Begin a command with these stdin, stdout and stderr; its process, and what says how it ends.

    That is a line with the exit code, or none where the process is killed.
    """
    told = {"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}
    line.connect(path)
    socket.send_fds(line, [b"\n"], files)
    line.sendall(json.dumps(told).encode())
    line.shutdown(socket.SHUT_WR)
    said = line.makefile()
    return int(said.readline()), said


def serve(path: str) -> None:
    """Fork whenever somebody asks, until stdin ends; then the folder of `path` is removed."""
    import select

    _get_ready()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them here
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        door.listen()
        print("ready", flush=True)
        while sys.stdin not in select.select([door, sys.stdin], [], [])[0]:
            line, _ = door.accept()
            if os.fork() == 0:
                door.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _answer(line)
            line.close()
    os.unlink(path)
    os.rmdir(os.path.dirname(path))


def _get_ready() -> None:
    """One run of each kind: all that commands import is imported, and no thread is left."""
    import contextlib
    import io
    import tempfile
    import threading

    import herded as hd
    from herded.cli.main import main

    said = contextlib.redirect_stdout(io.StringIO())
    with tempfile.TemporaryDirectory() as name, said:
        model = os.path.join(name, "pair.uai")
        hd.io.write_uai(hd.FactorGraph([2, 2], [((0, 1), [[0.0, 1.0], [1.0, 0.0]])]), model)
        for method in ("exact", "herded"):
            assert main(["infer", model, "--method", method]) == 0
    assert threading.active_count() == 1


def _answer(line: socket.socket) -> None:
    _, files, *_ = socket.recv_fds(line, 1, 3)
    told = json.loads(b"".join(iter(lambda: line.recv(65536), b"")))
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
    os.chdir(told["folder"])
    os.environ.clear()
    os.environ.update(told["environment"])
    line.sendall(f"{os.getpid()}\n".encode())
    try:
        code = _run(told["words"])
    except SystemExit as end:  # after --help, and where the words make no sense
        code = end.code
    sys.stdout.flush()
    sys.stderr.flush()
    line.sendall(f"{code or 0}\n".encode())  # a whole line: who else has it open need not end
    os._exit(0)


def _run(words: list[str]) -> int:
    from herded.cli.main import main

    if FORKED in os.environ:
        import multiprocessing

        context = multiprocessing.get_context("fork")
        multiprocessing.get_context = lambda _: context
    match words:
        case ["herded", *rest]:
            return main(rest)
        case ["python", "-"]:
            exec(sys.stdin.read(), {"__name__": "__main__"})
        case ["python", "-c", program, *rest]:
            sys.argv = ["-c", *rest]
            exec(program, {"__name__": "__main__"})
        case _:
            raise ValueError(f"expected herded, python - or python -c, got {words}")
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(ask(sys.argv[1], sys.argv[2:]))
