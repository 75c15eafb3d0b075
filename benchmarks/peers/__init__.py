"""What a user might pick instead of `herded`, one module each.

A peer says why it cannot do some work (`obstacle`), or gets ready for it (`prepare`): what it then
returns is called with a number of sweeps and a seed, starts afresh, and gives the marginals (N, K).
"""
