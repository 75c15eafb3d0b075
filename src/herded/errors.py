"""What was expected, what came, what to do: every error a user can meet.

Each is also the built-in error a careful caller would have caught (`ValueError`, `MemoryError`),
so nobody needs to import this module to handle one.
"""


class HerdedError(Exception):
    """Any error that `herded` raises on purpose."""


class ModelError(HerdedError, ValueError):
    """The model, or a state or evidence given for it, makes no sense."""


class MethodError(HerdedError, ValueError):
    """An option is wrong, or the method cannot run on this model."""


class InfeasibleError(HerdedError, ValueError):
    """No state of positive probability exists, or none was found within the bound."""


class MemoryLimitError(HerdedError, MemoryError):
    """The memory needed, estimated before anything is allocated, exceeds the limit."""


class FileError(HerdedError, ValueError):
    """A file cannot be read as what it should be, or cannot be written."""


class CheckpointError(HerdedError, ValueError):
    """A checkpoint cannot be read, or belongs to another run."""


class CorpusError(HerdedError, ValueError):
    """A text, its labels or the file they come from cannot be read, or make no sense."""


class WorkerError(HerdedError, RuntimeError):
    """Workers died, cannot be reached, or run another version."""


class NotKeptError(HerdedError, AttributeError):
    """The result was asked for something the run was not told to keep."""


class HerdedWarning(UserWarning):
    """A result that is not to be trusted, for the reason it gives."""


def missing(library: str, purpose: str, extra: str) -> MethodError:
    """What to raise where an optional library is needed and not there."""
    return MethodError(
        f"expected {library} for {purpose}, but it is not installed: pip install 'herded[{extra}]'"
    )
