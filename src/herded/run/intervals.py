"""95 % intervals from a few independent runs: Student's t, since their spread is not known well."""

# 97.5 % quantiles of Student's t for 1, 2, .. 30 degrees of freedom (any book of tables).
T_TABLE = (
    12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
    2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860,
    2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423,
)  # fmt: skip
NORMAL = 1.959964


def t_quantile(runs: int) -> float:
    """How many standard errors a 95 % interval from so many runs reaches to each side.

    Examples
    --------
    >>> from herded.run.intervals import t_quantile
    >>> t_quantile(4), round(t_quantile(1000), 4)
    (3.1824, 1.9623)
    """
    freedom = runs - 1
    if freedom <= len(T_TABLE):
        return T_TABLE[freedom - 1]
    z = NORMAL  # the first terms of its expansion in 1 / freedom (Fisher)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
