"""Clean a noisy page of text, told nothing of its noise: python examples/page_of_text.py"""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import herded as hd

LINES = """every member of a herd
is exactly a Gibbs chain,
and their average is
less noisy than that of
chains apart"""
SIGMA = 0.4

page = Image.new("1", (200, 120), 1)
ImageDraw.Draw(page).text((8, 6), LINES, 0, ImageFont.load_default(16))
clean = np.array(page)  # paper is True, ink False
noise = np.random.default_rng(0).normal(scale=SIGMA, size=clean.shape)
noisy = np.clip(clean + noise, 0, 1)  # a file holds 0 to 1

found = hd.vision.restore(noisy)
print(f"estimated: levels {found.levels}, sigma {found.sigma:.2f} ({SIGMA} true)")
for name, picture in (("each pixel for itself", noisy), ("restored", found.image)):
    print(f"wrong pixels, {name}: {100 * ((picture > 0.5) != clean).mean():.1f} %")
both = np.concatenate([noisy, found.image]).repeat(2, axis=0).repeat(2, axis=1)
Image.fromarray((255 * both).astype(np.uint8)).save("page_of_text.png")
