"""A hidden Markov chain: which die was thrown? Exact probabilities, and the best guess of all.

A cheat now and then changes to a loaded die, which shows six more than half of the time. Sums
along the chain give the probability of each moment, Viterbi the best whole story.
"""

import matplotlib.pyplot as plt
import numpy as np

import herded as hd

THROWS, STAY = 300, 0.97
dice = np.log([[1 / 6] * 6, [0.08] * 5 + [0.6]])  # fair, loaded

rng = np.random.default_rng(2)
die = (np.cumsum(rng.random(THROWS) > STAY) % 2).astype(int)
seen = np.array([rng.choice(6, p=np.exp(dice[d])) for d in die])
model = hd.chain_model(dice[:, seen].T, np.log([[STAY, 1 - STAY], [1 - STAY, STAY]]))
loaded = hd.infer(model, hd.Exact()).marginals[:, 1]
story = hd.infer(model, hd.Viterbi()).best.state
for name, guess in {"sixes alone": seen == 5, "P(loaded)": loaded > 0.5, "story": story}.items():
    print(f"{name}: {np.mean(guess == die):.0%} of the throws right")
figure, axis = plt.subplots(figsize=(7, 2.8), layout="constrained")
axis.fill_between(np.arange(THROWS), die, step="mid", color="#e5e7eb", label="loaded, in truth")
axis.plot(loaded, color="#c4382f", label="P(loaded)")
axis.plot(np.where(seen == 5, 1.06, np.nan), "|", color="black", label="six")
axis.set(xlabel="throw", ylabel="probability", ylim=(0, 1.15))
figure.legend(loc="outside upper center", ncols=3)
figure.savefig("hidden_chain.png", dpi=110)
