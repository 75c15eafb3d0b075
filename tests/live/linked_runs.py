"""Runs whose hashes the live page shows: links, and what Python, Node and a browser must all give.

`python -m tests.live.linked_runs` prints the hashes anew.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import herded as hd
from herded.live.scene_links import read_link
from herded.live.scenes import digest_of, scene_of
from tests.support.commands import weather

# A ring in 64 x 64 pixels, as the page writes it.
RING = (
    "rmQYKMxAuFCoYJxokHiEgHyIeIh0kGyYaEAYQGQ4MDhgNDg0XDRANFgwSDBYLFAsVDBQMFAwUDBQLFgsUCxYLFAsWCxQL"
    "FgsUCxYLFAsWCxQMFAwUDBQMFQsUCxYMEgwWDRANFw0ODRgODA4ZEAYQGiYbJB0iHiIfICEeJBonGCoULhAzCp0E"
)
PICTURE = f"picture?size=64&noise=2&p={RING}&seed=5"
TEXT = "Jackson+met+reporters+in+Jackson,+Mississippi.%0AThen+Jackson+flew+to+Paris."
NAMES = f"names?ties=2&text={TEXT}&seed=4"
DIGITS = 32  # of a hash, which has 64
HASHES = {
    "weight?p=0.30&seed=0&method=herded&sweeps=1000": "a0b58e52b0ed3a9b7bdf158441538be9",
    "two?eps=0.01&seed=3&method=herded&sweeps=1000": "88daae004d3da1714ce80238a89ecbe6",
    "two?eps=0.01&seed=3&method=gibbs&sweeps=1000": "d55fe82b8e710c9ef3f313c17460886f",
    f"{PICTURE}&method=herded&sweeps=1000": "8e6d88541b346690dbdc01f57cd75bc2",
    f"{PICTURE}&method=shared&sweeps=1000": "162f5e65f56f9325dce935bda7b56f8e",
    f"{PICTURE}&method=gibbs&sweeps=1000": "4cb66d4ae2e774ab50e63c6938d38fb5",
    f"{PICTURE}&method=herd&sweeps=1000": "a0f68957f7c7167c028f16386a5a4176",
    "herd?coupling=0.30&seed=5&method=shared&sweeps=16000": "b0234cc8900be0d8d56b3fb44acbcf2e",
    "herd?coupling=0.30&seed=5&method=herd&sweeps=1000": "4304c39a56736daa20c44260e624eb5d",
    f"{NAMES}&method=herded&sweeps=1000": "d4f2bbbff1eb726e85fabba4e5e4d143",
    f"{NAMES}&method=gibbs&sweeps=1000": "5a3022c14fd2e87542cf88dfa854e471",
    "model?given=&seed=2&method=herded&sweeps=1000": "9abed00c9e1009280971f8168a5cf0e9",
    "model?given=&seed=2&method=gibbs&sweeps=1000": "7591e275834fe3344b84eb7006bf710b",
    "model?given=2:1&seed=2&method=gibbs&sweeps=1000": "8f7e84a34ed8e5df53501516053f6f0d",
}


def write_net(folder: Path) -> Path:
    """The file of links to a model."""
    path = folder / "weather.bif"
    hd.io.write_bif(weather(), path)
    return path


def main() -> None:
    with TemporaryDirectory() as folder:
        path = write_net(Path(folder))
        for link in HASHES:
            print(f'"{link}": "{digest_of(scene_of(read_link(link), path))[:DIGITS]}",')


if __name__ == "__main__":
    main()
