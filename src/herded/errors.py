"""The errors that `herded` raises. Messages say what was expected, what was given and what to do.

Each is also a built-in error (`ValueError`, `MemoryError`, ...), so that a caller can handle it
without importing this module.
"""

from typing import Any

MAX_MESSAGE_CHARS = 1000  # characters of a message
TAIL_CHARS = 300  # the part of them kept from the end, which says what to do


def shorten_message(message: str) -> str:
    """Shorten a very long message by cutting from its middle."""
    if len(message) <= MAX_MESSAGE_CHARS:
        return message
    return f"{message[: MAX_MESSAGE_CHARS - TAIL_CHARS]} ... {message[-TAIL_CHARS:]}"


class HerdedError(Exception):
    """Base class of all errors that `herded` raises on purpose.

    Each is also the built-in error that fits (`ValueError`, `MemoryError`, ...), so that code which
    does not know `herded` can catch it.

    Examples
    --------
    >>> try:
    ...     hd.ising_grid([[]])
    ... except hd.HerdedError as error:
    ...     print(error)
    expected a non-empty array of 1 or more dimensions as field, got shape (1, 0)
    """

    def __init__(self, message: Any = "") -> None:
        super().__init__(shorten_message(str(message)))
        self.message = message  # text, or a `Phrase` that the command line renders with its options


class ModelError(HerdedError, ValueError):
    """A wrong model, or a wrong state or evidence for it. Also a `ValueError`.

    Examples
    --------
    >>> try:
    ...     hd.ising_grid([[0.0, 0.0]]).given({(0, 0): 2})
    ... except hd.ModelError as error:
    ...     print(error)
    expected evidence from 0 to 1 for variable (0, 0), got 2
    """


class MethodError(HerdedError, ValueError):
    """A wrong option, or a method that cannot run on the model. Also a `ValueError`.

    Examples
    --------
    >>> try:
    ...     hd.infer(hd.ising_grid([[0.0, 0.0]]), hd.Gibbs(), sweeps=0)
    ... except hd.MethodError as error:
    ...     print(error)
    expected sweeps to be a whole number of 1 or more, got 0
    """


class InfeasibleError(HerdedError, ValueError):
    """A model without a possible state, or with none found in time. Also a `ValueError`.

    Examples
    --------
    Three neighbours that must all differ, with two states:

    >>> differ = np.array([[-np.inf, 0.0], [0.0, -np.inf]])
    >>> model = hd.pairwise_model(np.zeros((3, 2)), [(0, 1), (1, 2), (0, 2)], differ)
    >>> try:
    ...     hd.infer(model, hd.Exact())
    ... except hd.InfeasibleError as error:
    ...     print("infeasible")
    infeasible
    """


class MemoryLimitError(HerdedError, MemoryError):
    """A need for more memory than the limit allows. Also a `MemoryError`.

    The need is estimated before any memory is allocated.

    Examples
    --------
    >>> model = hd.ising_grid(np.zeros((20, 20)))
    >>> try:
    ...     hd.infer(model, hd.Exact(), max_memory="1M")
    ... except hd.MemoryLimitError:
    ...     print("too large")
    too large
    """


class FileError(HerdedError, ValueError):
    """A file that cannot be read in the expected format, or cannot be written. Also a `ValueError`.

    Examples
    --------
    >>> try:
    ...     hd.read_model("missing.uai")
    ... except hd.FileError as error:
    ...     print(error)
    could not read missing.uai: No such file or directory
    """


class CheckpointError(HerdedError, ValueError):
    """A checkpoint that cannot be read or belongs to another run. Also a `ValueError`.

    Examples
    --------
    >>> with open("run.ckpt", "w") as file:
    ...     _ = file.write("not a checkpoint")
    >>> try:
    ...     hd.infer(hd.ising_grid(np.zeros((4, 4))), sweeps=10, checkpoint="run.ckpt")
    ... except hd.CheckpointError:
    ...     print("cannot resume")
    cannot resume
    """


class CorpusError(HerdedError, ValueError):
    """A text, label or corpus file that cannot be read. Also a `ValueError`.

    Examples
    --------
    >>> try:
    ...     hd.ner.score([["O", "B-PERSON"]], [["O"]])
    ... except hd.CorpusError as error:
    ...     print(error)
    expected 2 guessed labels of sentence 0, as in the truth, got 1
    """


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run: a `KeyboardInterrupt` that carries the partial result.

    A script that does not catch it ends with exit code 1.

    Attributes
    ----------
    result
        The partial result of the interrupted function. None if there is none yet, for example
        during the burn-in.

    Examples
    --------
    A callback may end a run as Ctrl-C does:

    >>> def stop(snapshot):
    ...     raise KeyboardInterrupt
    >>> try:
    ...     hd.infer(hd.ising_grid(np.zeros((4, 4))), hd.Gibbs(), sweeps=10**9, callback=stop)
    ... except hd.Interrupted as error:
    ...     print(error.result.provenance["interrupted"], error.result.marginals.shape)
    True (4, 4, 2)
    """

    def __init__(self, message: str = "", result: Any = None) -> None:
        super().__init__(*[message] if message else [])
        self.result = result


class WorkerError(HerdedError, RuntimeError):
    """Workers that died, are unreachable or run another `herded`. Also a `RuntimeError`.

    Examples
    --------
    Fall back to threads of this process when the workers fail:

    >>> def run(models, executor):
    ...     try:
    ...         return hd.infer_many(models, executor=executor)
    ...     except hd.WorkerError:
    ...         return hd.infer_many(models)
    """


class NotKeptError(HerdedError, AttributeError):
    """A request for something that the run did not keep. Also an `AttributeError`.

    Examples
    --------
    >>> result = hd.infer(hd.ising_grid([[0.0, 1.0]]), hd.Gibbs(), sweeps=10)
    >>> try:
    ...     result.samples
    ... except hd.NotKeptError as error:
    ...     print(error)
    expected samples to be kept, but got none: pass keep=[Samples(every=10)] to a sampler
    """


class HerdedWarning(UserWarning):
    """A warning that a result is unreliable, with the reason.

    `result.warnings` holds the same sentences.

    Examples
    --------
    Two variables that must be equal: a move that changes one variable at a time cannot flip both.

    >>> import warnings
    >>> must = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    >>> model = hd.pairwise_model(np.zeros((2, 2)), [(0, 1)], must)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", hd.HerdedWarning)
    ...     result = hd.infer(model, hd.Gibbs(), sweeps=100)
    >>> "cannot reach every state" in result.warnings[0]
    True
    """


def missing_extra_error(library: str, purpose: str, extra: str) -> MethodError:
    """Build the error to raise when an optional library is needed but not installed."""
    return MethodError(
        f"expected {library} for {purpose}, but it is not installed: pip install 'herded[{extra}]'"
    )
