"""Links of the live page: a scene and its settings, as texts.

    http://127.0.0.1:8731/TOKEN/#two?eps=0.01&seed=3&method=herded&sweeps=1000

Only the part after # counts; the part before it may be left out.
"""

import base64
import binascii
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import parse_qsl

from herded.errors import MethodError

SCENES = {  # scene: methods whose states have a hash
    "weight": ("herded", "gibbs"),
    "two": ("herded", "gibbs"),
    "picture": ("herded", "shared", "gibbs", "herd"),
    "herd": ("herd", "shared", "gibbs"),
    "names": ("herded", "gibbs"),
    "model": ("gibbs", "herded"),
}
MAX_LINK_SWEEPS = 10_000_000
MAX_LINK_FILE_BYTES = 2**21  # largest file in a link


@dataclass(frozen=True)
class SceneLink:
    """A scene, and the settings that follow it."""

    scene: str
    words: dict[str, str]

    def text(self, name: str) -> str:
        """Return a setting that must be there."""
        if name not in self.words:
            raise MethodError(f"expected {name}=... in the link to {self.scene}, got none")
        return self.words[name]

    def one_of(self, name: str, known: Collection[str]) -> str:
        """Return a setting that must be one of the `known` words."""
        found = self.text(name)
        if found not in known:
            raise MethodError(f"expected {name}= as one of {', '.join(known)}, got {found!r:.80}")
        return found

    def number(self, name: str, least: float, most: float) -> float:
        """Return a setting as a number from `least` to `most`."""
        try:
            found = float(self.text(name))
        except ValueError:
            found = float("nan")
        if not least <= found <= most:
            raise MethodError(
                f"expected {name}= as a number from {least} to {most}, got {self.text(name)!r:.80}"
            )
        return found

    def whole(self, name: str, least: int, most: int) -> int:
        """Return a setting as a whole number from `least` to `most`."""
        found = self.number(name, least, most)
        if found != int(found):
            raise MethodError(f"expected {name}= as a whole number, got {self.text(name)!r:.80}")
        return int(found)

    def file(self, name: str) -> bytes:
        """Return the content of a file that the page packed (deflate, base 64) into a setting."""
        text = self.text(name)
        try:
            packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            content = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, MAX_LINK_FILE_BYTES)
        except (binascii.Error, ValueError, zlib.error):
            content = b""
        if not content:
            raise MethodError(f"expected {name}= as a file, as the page packs it, got {text!r:.80}")
        return content


def read_link(text: str) -> SceneLink:
    """Parse a link, or the part of it after #.

    Examples
    --------
    >>> from herded.live.scene_links import read_link
    >>> read_link("#two?eps=0.01&seed=3")
    Link(scene='two', words={'eps': '0.01', 'seed': '3'})
    """
    scene, _, words = text.rpartition("#")[2].partition("?")
    if scene not in SCENES:
        raise MethodError(
            f"expected a link to a scene ({', '.join(SCENES)}), such as "
            f"'two?eps=0.01&seed=0&method=herded&sweeps=1000', got {text!r:.80}"
        )
    return SceneLink(scene, dict(parse_qsl(words, keep_blank_values=True, max_num_fields=32)))
