"""A Bayes net with evidence: exact marginals beside herded Gibbs.

The net is the garden of many textbooks: clouds make rain likely and the sprinkler unlikely, and
either of them wets the grass. Each conditional table P(child | parents) is one factor, given as a
logarithm. We see wet grass and ask why.

    python examples/bayes_net.py
"""

import numpy as np

import herded as hd

NAMES = ["cloudy", "sprinkler", "rain", "wet"]
STATES = ["no", "yes"]

# The last variable of a factor varies fastest: wet[s, r] is P(wet = no, yes | s, r).
CLOUDY = [0.5, 0.5]
SPRINKLER = [[0.5, 0.5], [0.9, 0.1]]
RAIN = [[0.8, 0.2], [0.2, 0.8]]
WET = [[[0.99, 0.01], [0.1, 0.9]], [[0.1, 0.9], [0.01, 0.99]]]


def garden() -> hd.FactorGraph:
    """The net as a factor graph."""
    cloudy, sprinkler, rain, wet = range(4)
    return hd.FactorGraph(
        [2, 2, 2, 2],
        [
            ((cloudy,), np.log(CLOUDY)),
            ((cloudy, sprinkler), np.log(SPRINKLER)),
            ((cloudy, rain), np.log(RAIN)),
            ((sprinkler, rain, wet), np.log(WET)),
        ],
        names=NAMES,
        state_names=[STATES] * 4,
    )


def main() -> None:
    model = garden()
    seen = model.given({"wet": "yes"})
    before = hd.infer(model, hd.Exact())
    exact = hd.infer(seen, hd.Exact())
    # One weight for every state of all other variables: the right choice for so small a model.
    herded = hd.infer(seen, hd.HerdedGibbs("full"), sweeps=20_000, burn_in=1_000)

    print(f"{'P(yes)':<12}{'before':>10}{'wet grass':>12}{'herded Gibbs':>15}")
    for i, name in enumerate(NAMES):
        numbers = before.marginals[i, 1], exact.marginals[i, 1], herded.marginals[i, 1]
        print(f"{name:<12}{numbers[0]:>10.4f}{numbers[1]:>12.4f}{numbers[2]:>15.4f}")
    print(f"P(wet grass) = {np.exp(exact.log_z):.4f}")
    print(f"largest error = {abs(herded.marginals - exact.marginals).max():.6f}")


if __name__ == "__main__":
    main()
