"""Models from objects of other libraries, which are used but not imported.

`bqm.py` converts binary quadratic models of dimod, in both directions; `networkx.py` reads graphs
with couplings; `pgmpy.py` reads Bayes nets and Markov networks. Each function takes an object,
reads it through the object's own methods, and returns a model of `herded.models`.

Start reading at `networkx.py`, the shortest.
"""
