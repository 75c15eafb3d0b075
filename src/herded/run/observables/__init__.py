"""Observables: functions of states, averaged over a run, with intervals.

`recorder.py` has the public class `Observable` and the recorder that averages it, block by block.
`functions.py` has ready-made functions: energy, magnetisation, correlations. Faster versions give
the same numbers: `batched.py` for whole blocks of samples (with `kernels.py`), `packed.py` for
herds whose members are bits (with `packed_kernels.py`), `large_lattices.py` for energies of large
lattices. `result.py` computes means, errors and series when the run has ended.

Start reading at `recorder.py`, then `functions.py`.
"""
