"""What a user might pick instead of `herded`, one module each.

A peer says why it cannot do some work (`obstacle`), or prepares for it (`prepare`). What it
then returns is called with a number of sweeps and a seed, starts afresh, and gives the
marginals (N, K). `protocol` defines this and `registry` lists all peers; `distribution_check`
tests each one before it is timed. `comparison_page` puts the sections together, `peer_goals`
compares results with goals. `handwritten` has loops as an expert would write them.
"""
