"""Programs in processes of their own that need not import Numba anew, which takes half a second.

They are forked from one that has prepared what all of them need and has no thread. Each has its own
environment, modules and compiled kernels, and so it sees of others only what they left on disk.
"""

import json
import os
import subprocess
import sys
import tempfile

# Numba, and what it knows of types: for whatever processor and from whichever cache.
NUMBA = """
from numba.core.registry import cpu_target
cpu_target.typing_context.refresh()
"""


class Nursery:
    """A process that runs `prepare` and waits; `with` ends it.

    Settings of the environment, here and in `run`, are words, or None where there is to be none.
    """

    def __init__(self, prepare: str, **environment: str | None) -> None:
        self.prepare, self.environment = prepare, dict(os.environ)
        _set(self.environment, environment)

    def __enter__(self) -> "Nursery":
        self.server = None
        if hasattr(os, "fork"):
            self.server = subprocess.Popen(
                [sys.executable, __file__, self.prepare],
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self.server is not None:
            self.server.communicate()

    def run(self, program: str, *arguments: object, **environment: str | None) -> str:
        """What `program` prints in a process with these arguments and settings."""
        words = [str(one) for one in arguments]
        if self.server is None:
            command = [sys.executable, "-c", f"{self.prepare}\n{program}", *words]
            env = self.environment.copy()
            _set(env, environment)
            done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
            code, printed, said = done.returncode, done.stdout, done.stderr
        else:
            told = {"program": program, "words": words, "environment": environment}
            self.server.stdin.write(json.dumps(told) + "\n")
            self.server.stdin.flush()
            code, printed, said = json.loads(self.server.stdout.readline())
        assert code == 0, said
        return printed


def serve(prepare: str) -> None:
    """Fork for every line of stdin; answer with the exit code and all that was printed."""
    del sys.path[0]  # this folder, which no program would have
    exec(prepare, {})
    for line in sys.stdin:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            pid = os.fork()
            if pid == 0:
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                _run(**json.loads(line))
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            texts = [_read(file) for file in (out, err)]
        print(json.dumps([code, *texts]), flush=True)


def _run(program: str, words: list[str], environment: dict[str, str | None]) -> None:
    """Run the program as `python -c` would, and end."""
    _set(os.environ, environment)
    sys.path[:0] = filter(None, (environment.get("PYTHONPATH") or "").split(os.pathsep))
    if "numba" in sys.modules:  # it has read its settings before
        sys.modules["numba"].core.config.reload_config()
    sys.argv, code = ["-c", *words], 0
    try:
        exec(program, {"__name__": "__main__"})
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _set(environment, changes: dict[str, str | None]) -> None:
    for name, value in changes.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value


def _read(file) -> str:
    file.seek(0)
    return file.read().decode()


if __name__ == "__main__":
    serve(sys.argv[1])
