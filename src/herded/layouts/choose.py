"""model -> plan: the flat, read-only arrays that one kind of kernel runs on.

lattice  4-neighbour grids, packed by colour
table    small blankets: every conditional tabulated
field    binary variables with pair interactions: conditionals from sums of couplings
pairs    any variables with pair interactions: conditionals from products of tabulated rows
factor   any model: conditionals summed from log-tables on each visit
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from herded.errors import MethodError
from herded.layouts import grid as _lattice
from herded.layouts import potts as _potts
from herded.layouts.factor import compile_factors
from herded.layouts.field import compile_field, field_couplings
from herded.layouts.pairs import compile_pairs, pair_rows
from herded.layouts.scan import compile_scan
from herded.layouts.table import compile_table, count_rows
from herded.layouts.weights import TABULATED, compile_contexts, weight_bytes
from herded.models.lattice import Lattice
from herded.models.names import called
from herded.system import memory

# Where tables are a choice and not a must, they may take this many entries per variable.
LEAN = 2**26  # bytes of links and rows that never are too many
FEW_ENTRIES = 256

KINDS = ("lattice", "table", "field", "pairs", "factor")


@dataclass(frozen=True, eq=False)
class Plan:
    """A model compiled for one kind of kernel, one scan and one `weights=` choice."""

    model: Any
    kind: str
    scalar: bool  # scalar rule (2^31) or vector rule (2^24)
    memory: float  # estimated bytes of tables and of one chain's weights
    chain_memory: float = 0.0  # the weights alone: what every further chain adds
    # What kernels of this kind read; the others are None.
    factors: Any = None  # FactorArrays
    tables: Any = None  # TableArrays
    field: Any = None  # FieldArrays
    pairs: Any = None  # PairArrays
    lattice: Any = None  # LatticeArrays or PottsArrays
    scan: Any = None  # ScanArrays
    contexts: Any = None  # ContextArrays
    made_for: Any = None  # the method that compiled it

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Pickles forget what is read-only, a part of types: workers would compile anew."""
        for part in state.values():
            for array in part if isinstance(part, tuple) else ():
                if isinstance(array, np.ndarray):
                    array.flags.writeable = False
        self.__dict__.update(state)

    @cached_property
    def width(self) -> int:
        """States of the largest variable."""
        return int(self.model.cardinalities.max())

    @cached_property
    def n_stored(self) -> int:
        """Length of a state as the kernels store it: a packed lattice may have a spare column."""
        if self.lattice is None:
            return int(self.model.n_variables)
        return 2 * self.lattice.height * self.lattice.columns

    @cached_property
    def state_type(self) -> Any:
        return np.uint8 if self.width <= 256 else np.uint16 if self.width <= 65536 else np.int64

    @property
    def counts_ones(self) -> bool:
        """Whether its kernels count the samples with x = 1 (`State.ones`)."""
        return self.lattice is not None and self.scalar

    def store(self, states: np.ndarray) -> np.ndarray:
        """States (..., N) in the kernels' layout."""
        if self.lattice is None:
            return np.array(states, dtype=self.state_type)
        pictures = states.reshape(*states.shape[:-1], *self.model.shape)
        packed = _lattice.pack(pictures, self.lattice.height).astype(self.state_type)
        return packed.reshape(*states.shape[:-1], self.n_stored)

    def unstore(self, stored: np.ndarray) -> np.ndarray:
        """Per-variable arrays (..., n_stored) back in the model's order (..., N)."""
        if self.lattice is None:
            return stored
        halves = (2, self.lattice.height, self.lattice.columns)
        pictures = _lattice.unpack(stored.reshape(*stored.shape[:-1], *halves), *self.model.shape)
        return pictures.reshape(*stored.shape[:-1], self.model.n_variables)

    @cached_property
    def table_hash(self) -> str:
        """Names the fixed-point tables: equal hashes mean equal bits on every machine."""
        if self.kind == "factor":
            return "none"
        if self.lattice is not None:
            arrays = self.lattice.tables
        else:
            arrays = self.field or (self.pairs and self.pairs[1:]) or (self.tables.p,)
        digest = hashlib.sha256()
        for array in arrays:
            digest.update(array.tobytes())
        return digest.hexdigest()[:16]


class _Layout(NamedTuple):
    """How a model that is no lattice would be laid out, and what that would take."""

    kind: str
    scalar: bool
    factors: Any
    width: np.ndarray  # entries of one weight, per variable
    rows: np.ndarray  # of the table of each variable
    scan: Any
    memory: float
    chain_memory: float
    links: Any  # Couplings of a field plan, Pairs of a pairs plan


def compile_plan(
    model: Any,
    *,
    kind: str | None = None,
    weights: str | None = None,
    scan: Any = "auto",
    vector: bool = False,
    bits: int = 32,
    cap: float | None = None,
) -> Plan:
    """Choose a kind of kernel for `model` unless forced, and lay the model out for it.

    `weights` names the contexts of a herded method, `vector` asks for weight vectors even where
    all variables are binary, `bits` are those of a weight, `cap` limits the bytes of tables and
    weights.
    """
    scan = _scan_of(model, scan)
    if kind not in (None, *KINDS):
        raise MethodError(f"expected a plan out of {', '.join(KINDS)}, got {kind!r}")
    if bits != 32:
        _check_coarse(model, kind, weights, scan, vector, bits)
    if kind == "lattice" or (kind is None and _fits_lattice(model, weights, scan, vector)):
        return _compile_lattice(model, weights, scan, vector, bits, cap)
    found = _lay_out(model, kind, weights, scan, vector, cap)
    if found.kind == "table":
        start, herded = found.factors.neighbour_start, weights in TABULATED
        memory.check_tables(
            found.memory, cap, found.rows, lambda i: called(model, i), start, herded
        )
    elif found.kind == "factor" and weights in TABULATED:
        raise MethodError(
            f'expected weights="pooled", "lazy" or "full" on a factor plan, got {weights!r}, which '
            "needs its conditionals tabulated"
        )
    else:
        memory.check(found.memory, cap, "couplings and weights" if found.links else "weights")
    tables = None
    if found.kind == "table":
        clamped = np.maximum(model.as_factor_graph().evidence, 0)
        tables = compile_table(found.factors, found.rows, clamped, found.scalar)
    return Plan(
        model=model,
        kind=found.kind,
        scalar=found.scalar,
        memory=found.memory,
        chain_memory=found.chain_memory,
        factors=found.factors,
        tables=tables,
        field=compile_field(found.links, found.scan) if found.kind == "field" else None,
        pairs=compile_pairs(found.links) if found.kind == "pairs" else None,
        scan=found.scan,
        contexts=compile_contexts(weights, tables, found.width),
    )


def plan_memory(
    model: Any,
    *,
    weights: str | None = None,
    vector: bool = False,
    bits: int = 32,
    cap: float | None = None,
) -> tuple[str, float, float]:
    """What `compile_plan` would take, without taking it.

    The kind of plan, the bytes of tables and of one chain's weights, and those of every further
    chain. Hashed weights ("lazy", "full") may grow from there.
    """
    scan = _scan_of(model, "auto")
    if _fits_lattice(model, weights, scan, vector):
        return "lattice", *_lattice_memory(model, weights, bits)
    found = _lay_out(model, None, weights, scan, vector, cap)
    return found.kind, found.memory, found.chain_memory


def _scan_of(model: Any, scan: Any) -> Any:
    if isinstance(scan, str) and scan == "auto":
        return "checkerboard" if isinstance(model, Lattice) else "sequential"
    return scan


def _lay_out(
    model: Any, kind: str | None, weights: str | None, scan: Any, vector: bool, cap: float | None
) -> _Layout:
    graph = model.as_factor_graph()
    if isinstance(scan, str) and scan == "jacobi" and graph.has_hard_zeros:
        raise MethodError(
            "expected a strictly positive model for the jacobi scan, got hard zeros: updating all "
            'variables at once could leave the support; use scan="sequential"'
        )
    factors, free = compile_factors(graph), graph.evidence < 0
    scalar = bool((graph.cardinalities[free] == 2).all()) and not vector
    width = np.ones_like(graph.cardinalities) if scalar else graph.cardinalities
    rows = count_rows(factors, free)
    entries = float((rows * width).sum())
    few = memory.fits(entries * 8, cap) and entries <= FEW_ENTRIES * len(free)
    links: Any = None
    if kind is None and (weights in TABULATED or few):
        kind = "table"
    elif kind is None or kind in _LINKED:
        kind, links = _links(graph, kind, weights, vector, cap)
    order = compile_scan(scan, factors, free, whole=weights == "full")
    weights_need = weight_bytes(weights, kind, entries, width, order.segments)
    need = weights_need
    if kind == "table":
        # p, and for the shared version each row's weight and a hash table of one variable's rows
        need += entries * 4.0
        need += 4.0 * rows.sum() + 32.0 * rows.max(initial=0) if weights == "shared" else 0.0
    elif links is not None:
        need += links.bytes
    return _Layout(kind, scalar, factors, width, rows, order, need, weights_need, links)


_LINKED = {"field": field_couplings, "pairs": pair_rows}


def _links(
    graph: Any, kind: str | None, weights: str | None, vector: bool, cap: float | None
) -> tuple[str, Any]:
    """The first plan for pair interactions that can run this, or else "factor", and its links."""
    for name in _LINKED if kind is None else (kind,):
        links, reason = None, f"weights={weights!r} is not for it"
        if vector and name == "field":
            reason = "slack needs weight vectors"
        elif weights in (None, "pooled"):
            links, reason = _LINKED[name](graph)
        if links is not None and (kind is not None or _is_lean(graph, links.bytes, cap)):
            return name, links
        if kind is not None:
            raise MethodError(f"expected a model for the {kind} plan, but {reason}: drop plan=")
    return "factor", None


def _is_lean(graph: Any, need: float, cap: float | None) -> bool:
    """Whether so many bytes are worth it: rows as wide as one wide variable could be mostly air."""
    return memory.fits(need, cap) and need <= max(LEAN, 8 * graph.log_tables.nbytes)


def _why_no_lattice(model: Any, weights: str | None, scan: Any, vector: bool) -> str:
    """Why the lattice kernels cannot run this; empty if they can."""
    if not isinstance(model, Lattice):
        return "the model is not a lattice"
    if model.periodic and any(side % 2 for side in model.shape):
        return "it is periodic and has an odd side"
    if vector:
        return "slack needs weight vectors"
    if not (isinstance(scan, str) and scan == "checkerboard"):
        return f"the scan is {scan!r:.40}, not the checkerboard"
    if model.log_unary.shape[2] != 2:
        return _potts.why_not(model, weights)
    if weights not in (None, *TABULATED):
        return f"weights={weights!r} is not for lattices of two states"
    if weights == "shared" and not model.counts_suffice:
        return "its conditionals are not told apart by how many neighbours are 1"
    return ""


def _check_coarse(
    model: Any, kind: str | None, weights: str | None, scan: Any, vector: bool, bits: int
) -> None:
    """Raise unless weights of fewer bits are for this."""
    if isinstance(model, Lattice) and model.log_unary.shape[2] != 2:
        reason = f"this one has {model.log_unary.shape[2]}"
    elif kind not in (None, "lattice"):
        reason = f"plan={kind!r} was asked for"
    else:
        reason = _why_no_lattice(model, weights, scan, vector)
    if reason:
        raise MethodError(
            f'expected a lattice of two states, weights="blanket" or "shared", the checkerboard '
            f"scan and no slack for weights of {bits} bits, but {reason}: use bits=32"
        )


def _fits_lattice(model: Any, weights: str | None, scan: Any, vector: bool) -> bool:
    return not _why_no_lattice(model, weights, scan, vector)


def _compile_lattice(
    model: Any, weights: str | None, scan: Any, vector: bool, bits: int, cap: float | None
) -> Plan:
    reason = _why_no_lattice(model, weights, scan, vector)
    if reason:
        raise MethodError(f"expected a model for the lattice plan, but {reason}: drop plan=")
    need, chain_need = _lattice_memory(model, weights, bits)
    memory.check(need, cap, "a lattice with its weights")
    binary = model.log_unary.shape[2] == 2
    return Plan(
        model=model,
        kind="lattice",
        scalar=binary,
        memory=need,
        chain_memory=chain_need,
        lattice=_lattice.compile_lattice(model, _shares(model, weights), bits)
        if binary
        else _potts.compile_potts(model),
    )


def _shares(model: Any, weights: str | None) -> bool:
    """Whether a pixel's conditionals are told apart by how many neighbours are 1."""
    return model.counts_suffice and weights != "blanket"


def _lattice_memory(model: Any, weights: str | None, bits: int) -> tuple[float, float]:
    if model.log_unary.shape[2] != 2:
        return _potts.lattice_memory(model, weights)
    need = bits / 4.0 * _lattice.n_entries(model.shape, _shares(model, weights))
    return need, need / 2 if weights else 0.0
