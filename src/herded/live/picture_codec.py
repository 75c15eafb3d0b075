"""Pictures of two levels as encoded in links, and noise, as in `page/sampler/picture.js`."""

import base64
import binascii

import numpy as np

from herded.errors import ModelError
from herded.system.numerics.counter_rng import random_bits_array, stream_key
from herded.system.numerics.exp_log import log_array
from herded.system.numerics.stream_purposes import StreamPurpose

DRAWS_PER_PIXEL = 32  # for each pixel; four in five of these succeed


def normal_numbers(seed: int, n: int) -> np.ndarray:
    """Draw a normal number for each of n pixels by Marsaglia's polar method, one of each pair."""
    key = stream_key(seed, 0, StreamPurpose.PICTURE_NOISE)
    bits = random_bits_array(key, n * DRAWS_PER_PIXEL).reshape(n, DRAWS_PER_PIXEL)
    u = (bits >> np.uint64(32)).astype(np.float64) * 2.0**-31 - 1.0
    v = (bits & np.uint64(0xFFFFFFFF)).astype(np.float64) * 2.0**-31 - 1.0
    s = u * u + v * v
    good = (s > 0.0) & (s < 1.0)
    first = good.argmax(axis=1)[:, None]
    u, s = (np.take_along_axis(each, first, 1)[:, 0] for each in (u, s))
    found, has = np.zeros(n), good.any(axis=1)
    found[has] = u[has] * np.sqrt(-2.0 * log_array(s[has]) / s[has])
    return found


def noisy_picture(bits: np.ndarray, sigma: float, seed: int) -> np.ndarray:
    """Add noise of this standard deviation to the picture of -1 and 1."""
    return np.where(bits, 1.0, -1.0) + sigma * normal_numbers(seed, bits.size).reshape(bits.shape)


def decode_picture(text: str, n: int) -> np.ndarray:
    """Decode the n bits of a picture: "r" and run lengths, 0 first, or "b" and bits, in base 64."""
    try:
        padding = "=" * (-(len(text) - 1) % 4)
        coded = np.frombuffer(base64.urlsafe_b64decode(text[1:] + padding), np.uint8)
    except (binascii.Error, ValueError):
        coded = np.empty(0, np.uint8)
    if text[:1] == "b" and len(coded) == -(-n // 8):
        return np.unpackbits(coded, count=n, bitorder="little")
    lengths = _lengths(coded) if text[:1] == "r" else []
    if sum(lengths) != n:
        raise ModelError(f"expected p= as a picture of {n} pixels, as the page writes it")
    return np.repeat(np.arange(len(lengths), dtype=np.uint8) & 1, lengths)


def _lengths(coded: np.ndarray) -> list[int]:
    """Decode numbers of seven bits per byte, lowest first; the top bit means that more follow."""
    found, length, place = [], 0, 0
    for byte in coded.tolist():
        length += (byte & 127) << place
        place += 7
        if byte < 128:
            found.append(length)
            length = place = 0
    return found
