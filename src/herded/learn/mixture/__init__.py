"""Dirichlet process mixtures: clusters of points whose number is not known.

`dirichlet_mixture.py` is the scikit-learn estimator. `validation.py` checks the data and the prior,
`clusters.py` keeps what each cluster knows of its points (parameters are integrated out),
`sweeps.py` runs collapsed Gibbs sweeps of a herd, with moves that split and merge clusters in
`split_merge.py`. `prediction.py` reads densities and clusters of new points from kept partitions,
and `cluster_plot.py` draws them.

Start reading at `dirichlet_mixture.py`, then `sweeps.py`.
"""
