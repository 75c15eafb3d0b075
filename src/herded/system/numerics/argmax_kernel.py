"""The largest of several numbers, in kernels.

Numba's own version is in a module that imports SciPy's linear algebra, so that every process that
loads a cached kernel with it would wait 0.14 s.
"""

from herded.system.compilation.jit import jit


@jit
def argmax(values):
    """Return the index of the largest number, the first one if there are several."""
    place = 0
    for k in range(1, len(values)):
        if values[k] > values[place]:
            place = k
    return place


@jit
def max_value(values):
    """Return the largest of one or more numbers."""
    return values[argmax(values)]
