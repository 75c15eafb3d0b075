"""Values at an address, from which compiled functions read instead of taking arguments.

A function that takes one address instead of a dozen arrays is called within a few nanoseconds, and
its type does not depend on what it reads: kernels that call such functions are compiled once for
all of them. Arrays read in this way count no references, so a view of one costs nothing.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from herded.system.compilation.jit import _numba

WORD_BYTES = 8  # every value starts at a multiple of this


class AddressedValues:
    """Arrays, numbers and tuples of them, at an address that compiled code can read.

    They stay there as long as this object lives; array contents may change, the arrays may not.
    """

    def __init__(self, *values: object) -> None:
        self.values = values
        self._words = np.frombuffer(b"".join(_as_reader_value(values)), np.uint64)

    @property
    def address(self) -> int:
        """Return the address of the values."""
        return int(self._words.ctypes.data)


def _as_reader_value(value: object) -> Iterator[bytes]:
    """Yield a value in the layout that `make_reader` expects."""
    if isinstance(value, tuple):
        for part in value:
            yield from _as_reader_value(part)
    elif isinstance(value, np.ndarray):
        yield np.array([value.ctypes.data, *value.shape, *value.strides], np.int64).tobytes()
    else:
        raw = np.asarray(value).tobytes()
        yield raw + bytes(-len(raw) % WORD_BYTES)


def plain_values(place: AddressedValues) -> tuple[Any, ...]:
    """Return the values as plain Python reads them."""
    return place.values


def make_reader(*values: object) -> tuple[Any, str]:
    """Build a compiled function from an address to values of these types; also their name.

    The caller must ensure that values of exactly these types are at the address.
    """
    numba = _numba()
    from numba.np.arrayobj import populate_array
    from numba.np.numpy_support import as_dtype

    types, whole = numba.core.types, numba.typeof(values)

    def read(typing: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            word = context.get_value_type(types.int64)
            first, taken = builder.inttoptr(arguments[0], word.as_pointer()), [0]

            def pointer(words: int) -> Any:
                at = context.get_constant(types.int64, taken[0])
                taken[0] += words
                return builder.gep(first, [at])

            def load(kind: Any) -> Any:
                if isinstance(kind, types.BaseTuple):
                    return context.make_tuple(builder, kind, [load(part) for part in kind])
                if isinstance(kind, types.Array):
                    array = context.make_array(kind)(context, builder)
                    numbers = [builder.load(pointer(1)) for _ in range(1 + 2 * kind.ndim)]
                    data = builder.inttoptr(numbers[0], array.data.type)
                    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
                    populate_array(
                        array,
                        data,
                        numbers[1 : 1 + kind.ndim],
                        numbers[1 + kind.ndim :],
                        context.get_constant(types.intp, size),
                        None,
                    )
                    return array._getvalue()
                words = -(-as_dtype(kind).itemsize // WORD_BYTES)
                place = context.get_data_type(kind).as_pointer()
                return context.unpack_value(builder, kind, builder.bitcast(pointer(words), place))

            return load(whole)

        return whole(address), generate

    return numba.extending.intrinsic(read), str(whole)
