"""Ways in which a visit finds its weight: numbers that kernels are specialised by."""

RANDOM_DRAW, BLANKET, SHARED, POOLED, LAZY, FULL = range(6)

MAX_BINS = 32  # of a pooled variable: bounds its memory
