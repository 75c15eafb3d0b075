"""Properties that hold across the package.

Golden hashes of runs, bitwise agreement with the slow twins, joint distributions, bias, and
agreement between layouts.
"""
