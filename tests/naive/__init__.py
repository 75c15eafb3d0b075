"""The slow, obvious twins that compiled code must equal, bit for bit where it says so.

What a model is:

- `joint`: scores and probabilities of all states, log Z and the best state, by enumeration.
- `factor`: the factors of a model, and those of each variable as layouts list them.
- `model`: a model as dictionaries: conditionals (from tables, fields or pairs), scans, components.
- `conditional`: probabilities as whole numbers, for the scalar and the vector rule.

What samplers do:

- `stream`: random bits, keys of streams, a shuffle.
- `choose`: the rules that pick a state; herding without a model.
- `weights`: what the weights are for, where they start, how pools split.
- `herd`: chains that draw together, on any layout but a lattice's.
- `tempered`: replicas on a ladder of temperatures, and their exchanges.
- `samplers`: Algorithm 1, Gibbs sampling, and both annealed, on any layout but a lattice's.
- `lattice`, `potts`: the same on grids of two states and of more.
- `best`: the best state among samples.
- `measures`: energies and magnetisations of samples.

Others:

- `exp`: exp and log, which all other twins take from the library.
- `solvers`: mean field and belief propagation.
- `ner`: the recogniser: features, lists of names, chains, training, skip-chains.

Compiled methods are driven without `infer` by `advance` in `tests/compiled.py`.
"""
