"""SplitMix64 in Python's whole numbers: draws, keys of streams, and a shuffle."""

WORD = 2**64 - 1


def naive_mix(z):
    """SplitMix64's finaliser."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
    return z ^ (z >> 31)


def naive_draw(key, counter):
    """64 random bits."""
    return naive_mix((int(key) + 0x9E3779B97F4A7C15 * counter) & WORD)


def naive_key(*numbers):
    """The key of the stream (seed, chain, purpose)."""
    key = 0
    for number in numbers:
        key = naive_mix(((key ^ number) + 0x9E3779B97F4A7C15) & WORD)
    return key


def naive_shuffle(items, key):
    """Fisher and Yates, from the back."""
    items = list(items)
    for last in range(len(items) - 1, 0, -1):
        other = (naive_draw(key, last) >> 11) % (last + 1)
        items[last], items[other] = items[other], items[last]
    return items
