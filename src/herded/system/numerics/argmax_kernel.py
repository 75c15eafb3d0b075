"""The largest of some numbers, in kernels.

Numba's own version lies in a module that imports SciPy's linear algebra, and every process that
loads a kept kernel with it would wait 0.14 s for that.
"""

from herded.system.compilation.jit import jit


@jit
def argmax(values):
    """The place of the largest number, the first if there are several."""
    place = 0
    for k in range(1, len(values)):
        if values[k] > values[place]:
            place = k
    return place


@jit
def max_value(values):
    """The largest of one or more numbers."""
    return values[argmax(values)]
