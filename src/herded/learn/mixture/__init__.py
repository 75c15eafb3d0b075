"""Dirichlet process mixtures: clusters of points whose number is unknown.

`dirichlet_mixture.py` is the scikit-learn estimator. `validation.py` checks the data and the prior.
`clusters.py` keeps the statistics of each cluster (its parameters are integrated out), `sweeps.py`
runs collapsed Gibbs sweeps of a herd, and `split_merge.py` has moves that split and merge clusters.
`prediction.py` computes densities and clusters of new points from kept partitions, and
`cluster_plot.py` draws them.

Start reading at `dirichlet_mixture.py`, then `sweeps.py`.
"""
