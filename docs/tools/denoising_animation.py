"""python -m docs.tools.denoising_animation: the animation on the first page, in docs/pictures.

The experiment of section 4.2 of the paper: a picture under heavy noise, restored by Gibbs and by
herded Gibbs, sweep by sweep. Both start at the noisy picture; what is shown is the mean so far.
"""

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import herded as hd
from herded.paper.denoising import drawn_picture

OUT = Path(__file__).parents[1] / "pictures" / "denoising.gif"
SIDE, SIGMA, GAP, HEAD, FOOT = 208, 4, 12, 32, 30
SHOWN = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 21, 24, 27, 30]
GREYS = 6  # levels of grey: few of them keep the file small
METHODS = {"Gibbs": hd.Gibbs(), "herded Gibbs": hd.HerdedGibbs("shared")}
INK, SOFT = (31, 41, 55), (107, 114, 128)


def means(noisy: np.ndarray, method: hd.Sampler) -> np.ndarray:
    """P(white) after each sweep, as the share of sweeps so far in which a pixel was white."""
    model = hd.denoising_model(noisy, SIGMA)
    start = (noisy > 0).astype(int)
    run = hd.infer(model, method, sweeps=SHOWN[-1], start=start, keep=[hd.Samples()])
    white = run.samples[0].reshape(-1, SIDE, SIDE).cumsum(axis=0)
    return white / np.arange(1, 1 + len(white))[:, None, None]


def frames() -> list[Image.Image]:
    """One picture for each of SHOWN: noisy, Gibbs, herded Gibbs, and their wrong pixels."""
    clean = drawn_picture(SIDE)
    rng = np.random.default_rng(0)
    noisy = np.where(clean, 1.0, -1.0) + SIGMA * rng.normal(size=clean.shape)
    found = {name: means(noisy, method) for name, method in METHODS.items()}
    alone = 100 * ((noisy > 0) != clean).mean()
    return [
        _frame(
            {
                "noisy": ((noisy > 0).astype(float), f"{alone:.0f} % wrong"),
                **{name: _told(mean[sweep - 1], clean, sweep) for name, mean in found.items()},
            }
        )
        for sweep in SHOWN
    ]


def _told(mean: np.ndarray, clean: np.ndarray, sweep: int) -> tuple[np.ndarray, str]:
    wrong = 100 * ((mean > 0.5) != clean).mean()
    return mean, f"sweep {sweep}: {wrong:.1f} % wrong"


def _frame(panels: dict[str, tuple[np.ndarray, str]]) -> Image.Image:
    width = len(panels) * SIDE + (len(panels) - 1) * GAP
    frame = Image.new("RGB", (width, HEAD + SIDE + FOOT), "white")
    pen, large, small = (
        ImageDraw.Draw(frame),
        ImageFont.load_default(21),
        ImageFont.load_default(18),
    )
    for number, (name, (picture, below)) in enumerate(panels.items()):
        left = number * (SIDE + GAP)
        grey = np.round(picture * (GREYS - 1)) * (255 / (GREYS - 1))
        frame.paste(Image.fromarray(grey.astype(np.uint8)), (left, HEAD))
        pen.text((left, 3), name, INK, large)
        pen.text((left, HEAD + SIDE + 4), below, SOFT, small)
    return frame


def main() -> None:
    first, *more = [frame.quantize(24, dither=Image.Dither.NONE) for frame in frames()]
    times = [400] * len(more) + [3000]  # ms; the last one stays
    first.save(OUT, save_all=True, append_images=more, duration=times, loop=0, optimize=True)
    print(f"wrote pictures/{OUT.name}: {len(times)} frames, {OUT.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
