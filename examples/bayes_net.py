"""A Bayes net with evidence by name: was it rain or the sprinkler that wet the grass?"""

import numpy as np

import herded as hd

cloudy, sprinkler, rain, wet = range(4)
tables = {  # P(last | others), of which the last varies fastest
    (cloudy,): [0.5, 0.5],
    (cloudy, sprinkler): [[0.5, 0.5], [0.9, 0.1]],
    (cloudy, rain): [[0.8, 0.2], [0.2, 0.8]],
    (sprinkler, rain, wet): [[[0.99, 0.01], [0.1, 0.9]], [[0.1, 0.9], [0.01, 0.99]]],
}
factors = [(variables, np.log(table)) for variables, table in tables.items()]
names, states = ["cloudy", "sprinkler", "rain", "wet"], [["no", "yes"]] * 4
model = hd.FactorGraph([2] * 4, factors, names=names, state_names=states)
seen = model.given({"wet": "yes"})

before, after = hd.infer(model), hd.infer(seen)  # without a method, `infer` chooses
herd = hd.infer(seen, hd.Gibbs(herd=256), sweeps=1000, burn_in=50, chains=4)

print(f"{'P(yes)':<12}{'before':>10}{'wet grass':>12}{'a herd':>10}")
for name in names:
    columns = [result.marginal(name)["yes"] for result in (before, after, herd)]
    print(f"{name:<12}{columns[0]:>10.4f}{columns[1]:>12.4f}{columns[2]:>10.4f}")
print(f"P(wet grass) = {np.exp(after.log_z):.4f}, by {after.method}: {after.reason}")
print(f"the most probable explanation: {after.best.named}")
herd.plot().savefig("bayes_net.png", dpi=110)
