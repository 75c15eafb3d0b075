"""The weights of Algorithm 1: what each is one for, where it starts, how pools split."""

import itertools

from tests.conformance.twins.counter_rng import WORD, naive_draw, naive_mix
from tests.conformance.twins.integer_conditionals import SCALAR, WEIGHT, entries

FIRST_SPLIT = 128  # the sweep at which pools split first


def naive_start(key, name, width):
    """A weight at rest (key None), or at the random place that belongs to `name`."""
    if width == 0:  # the scalar rule
        return SCALAR // 2 - 1 if key is None else naive_draw(key, name) >> 33
    if key is None:
        return (0,) * width
    places = [naive_draw((key + k) & WORD, name) >> 40 for k in range(width)]
    mean, rest = divmod(sum(places), width)
    return tuple(r - mean - (rest if k == 0 else 0) for k, r in enumerate(places))


class NaiveWeights:
    """The weights of a herded run: a dictionary from contexts to weights."""

    def __init__(self, naive, weights, kind, key):
        self.naive, self.weights, self.kind = naive, weights, kind
        self.key = key  # None: all start at rest
        self.of = {}
        widths = (self.width(i) or 1 for i in range(naive.n))
        self.pools = list(itertools.accumulate(widths, initial=0))  # one after another
        self.places = _table_places(naive) if kind == "table" else {}
        self.shared = _shared_places(naive, self.places) if weights == "shared" else {}

    def width(self, i):
        return 0 if self.naive.scalar else self.naive.cards[i]

    def bins(self, sweep):
        """1 until sweep 128, then twice as many whenever the run is 4 times as long."""
        splits = [t for t in range(5) if sweep >= FIRST_SPLIT * 4**t]
        return 2 ** len(splits)

    def split(self, sweep):
        """Both halves of a bin inherit its weight."""
        if self.weights == "pooled" and self.bins(sweep) > self.bins(sweep - 1):
            halves = {(i, 2 * b + h): w for (i, b), w in self.of.items() for h in (0, 1)}
            bins = self.bins(sweep)
            missing = [(i, b) for i in self.naive.free for b in range(bins)]
            self.of = {c: halves.get(c, self._first(c)) for c in missing}

    def context(self, i, x, p, sweep):
        """What the weight is one for, and the name of its random start."""
        if self.weights == "full":
            others = tuple(x[j] for j in range(self.naive.n) if j != i)
            return (i, others), _name_of_others(i, x)
        if self.weights == "shared":
            return (i, p), self.shared[i, p]
        if self.weights == "pooled":
            return (i, self.bin(p, sweep)), None
        around = self.naive.around(i, x)
        if self.kind == "table":
            return (i, around), self.places[i, around]
        return (i, around), _name_of_neighbours(i, around)

    def get(self, i, context, name):
        if context not in self.of:
            pooled = self.weights == "pooled"
            self.of[context] = (
                self._first(context) if pooled else naive_start(self.key, name, self.width(i))
            )
        return self.of[context]

    def _first(self, context):
        """A pool before any split."""
        i = context[0]
        return naive_start(self.key, self.pools[i], self.width(i))

    def bin(self, p, sweep):
        bins = self.bins(sweep)
        if isinstance(p, int):
            return min(p * bins // SCALAR, bins - 1)
        mean = sum(k * q for k, q in enumerate(p))
        return min(int(mean * (bins / (max(1, len(p) - 1) * float(WEIGHT)))), bins - 1)


def _table_places(naive):
    """Where the weight of each (variable, neighbours' states) lies: one after another."""
    places, at = {}, 0
    for i in naive.free:
        for around in itertools.product(*(range(naive.cards[j]) for j in naive.neighbours[i])):
            places[i, around] = at
            at += 1 if naive.scalar else naive.cards[i]
    return places


def _shared_places(naive, places):
    """Where the weight of each (variable, conditional) lies: in the order they are first met."""
    starts, at = {}, 0
    for i, around in places:
        x = {**naive.clamped, **dict(zip(naive.neighbours[i], around, strict=True))}
        p = naive.conditional(i, x)
        if (i, p) not in starts:
            starts[i, p] = at
            at += len(entries(p))
    return starts


def _name_of_neighbours(i, around):
    h = naive_mix(i + 1)
    for k in around:
        h = (h ^ (k + 1)) * 0xD6E8FEB86659FD93 & WORD
        h ^= h >> 33
    return naive_mix(h)


def _name_of_others(i, x):
    h = 0
    for j in range(len(x)):
        if j != i:
            h ^= naive_mix((j << 20) + x[j] + 1)
    return naive_mix((h + i) & WORD)
