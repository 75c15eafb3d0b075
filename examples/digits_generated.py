"""Digits generated: what does a restricted Boltzmann machine think a digit looks like?

It learns from scikit-learn's 8 x 8 digits, black or white, and then draws new ones. With 16 hidden
units its likelihood is known exactly: all of their states can be summed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import herded as hd

rows = (load_digits().data > 7).astype(int)
rows = rows[np.random.default_rng(0).permutation(len(rows))]
train, test = rows[:1437], rows[1437:]

ones = (train.sum(axis=0) + 1) / (len(train) + 2)  # how often each pixel is on
alone = np.where(test, np.log(ones), np.log1p(-ones)).sum(axis=1).mean()
print(f"independent pixels: {alone:.2f} nats for a test digit")
small = hd.learn.RBM(hidden=16, epochs=100, rate=1.0).fit(train)
print(f"16 hidden units: {small.score(test):.2f}")
large = hd.learn.RBM(hidden=64, epochs=100).fit(train)
drawn = large.sample(40, sweeps=500)
print(f"64 hidden units: {len(drawn)} digits drawn, {drawn.mean():.2f} of their pixels on")

digits = np.pad(drawn.reshape(4, 10, 8, 8), ((0, 0), (0, 0), (1, 1), (1, 1)))
picture = digits.transpose(0, 2, 1, 3).reshape(40, 100)  # four rows of ten, with gaps
plt.imsave("digits_generated.png", picture.repeat(6, axis=0).repeat(6, axis=1), cmap="Greys")
