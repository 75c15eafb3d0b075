"""The CRFs of the recogniser: linear chains, and skip-chains with ties between mentions.

`encoded_batch.py` turns documents into arrays with hashed `features.py`. `linear_chain_crf.py` is
the estimator of chains: `adagrad_training.py` fits their weights (`chain_weights.py`) with the
kernels of `chain_kernels.py`. `skip_chain_crf.py` adds ties between words that `mention_links.py`
finds likely to agree, as the model in `skip_chain.py`; `normal_equations.py` fits their strength.
`decoding.py` labels words by sampling, or with `iterated_viterbi.py`. `serialization.py` saves and
loads all of it.

Start reading at `linear_chain_crf.py`.
"""
