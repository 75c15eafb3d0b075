"""The errors that `herded` raises. Messages say what was expected, what was found and what to do.

Each is also a built-in error (`ValueError`, `MemoryError`, ...), so that a caller can handle it
without importing this module.
"""

from typing import Any

MAX_MESSAGE_CHARS = 1000  # characters of a message
TAIL_CHARS = 300  # of them from its end, where it says what to do


def shorten_message(message: str) -> str:
    """A message without the middle of what it quotes, if that is very long."""
    if len(message) <= MAX_MESSAGE_CHARS:
        return message
    return f"{message[: MAX_MESSAGE_CHARS - TAIL_CHARS]} ... {message[-TAIL_CHARS:]}"


class HerdedError(Exception):
    """Any error that `herded` raises on purpose.

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

    def __init__(self, message: str = "") -> None:
        super().__init__(shorten_message(message))


class ModelError(HerdedError, ValueError):
    """A model, or a state or evidence given for it, is wrong. Also a `ValueError`.

    Examples
    --------
    >>> try:
    ...     hd.ising_grid([[0.0, 0.0]]).given({(0, 0): 2})
    ... except hd.ModelError as error:
    ...     print(error)
    expected evidence from 0 to 1 for variable (0, 0), got 2
    """


class MethodError(HerdedError, ValueError):
    """An option is wrong, or the method cannot run on this model. Also a `ValueError`.

    Examples
    --------
    >>> try:
    ...     hd.infer(hd.ising_grid([[0.0, 0.0]]), hd.Gibbs(), sweeps=0)
    ... except hd.MethodError as error:
    ...     print(error)
    expected sweeps to be a whole number of 1 or more, got 0
    """


class InfeasibleError(HerdedError, ValueError):
    """No state has positive probability, or none was found within the limit. Also a `ValueError`.

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
    """More memory is needed than the limit allows. Also a `MemoryError`.

    The need is estimated before anything is allocated.

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
    """A file cannot be read as what it should be, or cannot be written. Also a `ValueError`.

    Examples
    --------
    >>> try:
    ...     hd.read_model("missing.uai")
    ... except hd.FileError as error:
    ...     print(error)
    expected a file that can be read at missing.uai, but: No such file or directory
    """


class CheckpointError(HerdedError, ValueError):
    """A checkpoint cannot be read, or belongs to another run. Also a `ValueError`.

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
    """A text, its labels or the file they come from cannot be read. Also a `ValueError`.

    Examples
    --------
    >>> try:
    ...     hd.ner.score([["O", "B-PERSON"]], [["O"]])
    ... except hd.CorpusError as error:
    ...     print(error)
    expected 2 guessed labels of sentence 0, as many as true, got 1
    """


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run. A `KeyboardInterrupt` that carries the partial result.

    A script that does not catch it ends with exit code 1.

    Attributes
    ----------
    result
        What the interrupted function would have returned, as far as it got. None where there is
        no partial result, such as during the burn-in: then there are no numbers.

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
    """Workers died, cannot be reached, or run another version of `herded`. Also a `RuntimeError`.

    Examples
    --------
    Use threads of this process where the workers fail:

    >>> def run(models, executor):
    ...     try:
    ...         return hd.infer_many(models, executor=executor)
    ...     except hd.WorkerError:
    ...         return hd.infer_many(models)
    """


class NotKeptError(HerdedError, AttributeError):
    """The result was asked for something that the run did not keep. Also an `AttributeError`.

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
    """A result that should not be trusted, for the reason that the warning gives.

    The same sentences are in `result.warnings`.

    Examples
    --------
    Two variables that must be equal: no move of one variable at a time can change them.

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
    """The error to raise where an optional library is needed and not installed."""
    return MethodError(
        f"expected {library} for {purpose}, but it is not installed: pip install 'herded[{extra}]'"
    )
