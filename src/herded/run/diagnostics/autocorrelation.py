"""Integrated autocorrelation times of series."""

import numpy as np

WINDOW_TIMES = 5  # autocorrelations are summed up to this multiple of their sum (Sokal)


def autocorrelation_times(series: np.ndarray) -> np.ndarray:
    """Return the times of values (draws, chains, entries), in draws: (entries,).

    A time is 1 + 2 (the sum of autocorrelations), at least 1. Chains are averaged over, around the
    mean of all: where they disagree for good, the time is as long as the run. NaN of an entry that
    never changes.

    Examples
    --------
    >>> from herded.run.diagnostics.autocorrelation import autocorrelation_times
    >>> noise = np.random.default_rng(0).normal(size=(1000, 8, 1))
    >>> autocorrelation_times(noise).round()
    array([1.])
    """
    draws = len(series)
    gaps = series - series.mean(axis=(0, 1))
    variance = (gaps**2).mean(axis=(0, 1))
    changes = variance > 1e-24 * np.maximum(1e-300, (series**2).mean(axis=(0, 1)))
    found = np.full(len(variance), np.nan)
    if not changes.any():
        return found
    gaps, variance = gaps[:, :, changes], variance[changes]
    waves = np.fft.rfft(gaps, 2 * draws, axis=0)
    products = np.fft.irfft((np.abs(waves) ** 2).mean(axis=1), axis=0)[:draws]
    correlations = products / np.arange(draws, 0, -1)[:, None] / variance
    times = 2 * np.cumsum(correlations, axis=0) - 1
    ended = np.arange(draws)[:, None] >= WINDOW_TIMES * times
    ended[draws // 2 :] = True
    first = ended.argmax(axis=0)
    found[changes] = np.maximum(1.0, times[first, np.arange(len(first))])
    return found
