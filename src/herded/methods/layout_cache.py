"""Layouts that are kept with their model, so that a small model is laid out once.

Neither a model nor a frozen dataclass of options ever changes, so the same question has the same
layout, whatever the seed; most layouts of herds are the same for any number of members. Only small
layouts are kept: a large one is worth compiling again, and not the memory that it would hold.
"""

from dataclasses import is_dataclass
from typing import Any, cast

from herded.layouts.base import Layout
from herded.methods.protocol import Method, sampler_capabilities
from herded.models.protocol import Model
from herded.system.memory_limits import Size

MAX_CACHED_LAYOUT_BYTES = 2**20  # bytes of a layout's arrays
MAX_CACHED_LAYOUTS = 16  # layouts of one model


class LayoutCache(dict[Any, Layout]):
    """The layouts of a model; not pickled with it, since a copy has other arrays."""

    def __reduce__(self) -> tuple[Any, ...]:
        return LayoutCache, ()


def cached_layout(
    model: Model, method: Method, kind: str | None, max_memory: Size | None
) -> Layout:
    """Return the layout of `method.compile`, made only once where it is small."""
    try:
        kept: LayoutCache = vars(model).setdefault("_layouts", LayoutCache())
    except TypeError:  # a model with slots, which has no room
        return method.compile(model, kind=kind, max_memory=max_memory)
    key = _layout_cache_key(method, kind, max_memory)
    layout = kept.get(key) if key else None
    if layout is not None and layout.model is model:  # not another's, where it was copied with it
        fitting = (
            layout
            if layout.method == method
            else layout.for_method(method, sampler_capabilities(method).members)
        )
        if fitting is not None:
            return fitting
    layout = method.compile(model, kind=kind, max_memory=max_memory)
    if key and layout.bytes <= MAX_CACHED_LAYOUT_BYTES:
        if len(kept) >= MAX_CACHED_LAYOUTS:
            kept.clear()
        kept[key] = layout
    return layout


def _layout_cache_key(method: object, kind: object, max_memory: object) -> tuple[Any, ...] | None:
    """Return what a layout depends on; None if that may change or is no valid choice."""
    if not is_dataclass(method) or not cast(Any, method).__dataclass_params__.frozen:
        return None
    own = sampler_capabilities(method).layout_key
    # True is 1, and no number of bytes: so the type counts as well.
    key = (method if own is None else (type(method), own), kind, max_memory, type(max_memory))
    try:
        hash(key)
    except TypeError:
        return None
    return key
