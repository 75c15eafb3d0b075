"""Exact mean energies: Kaufman's formula on tori, transfer matrices on strips."""

import itertools

import numpy as np


def torus_energy(side: int, temperature: float) -> float:
    """The mean of -K (sum of s s') over an Ising torus, K = 1 / T (Kaufman 1949).

    Z is a sum of four products over the frequencies of rows. Each is differentiated by K as a sum
    of logarithms.
    """
    k = 1.0 / temperature
    c, s = np.cosh(2 * k), np.sinh(2 * k)
    r = np.arange(1, 2 * side)
    others = np.arccosh(c * c / s - np.cos(np.pi * r / side))
    gamma = np.concatenate([[2 * k + np.log(np.tanh(k))], others])
    slope = np.concatenate([[2 + 2 / s], 2 * c * (s * s - 1) / (s * s) / np.sinh(gamma[1:])])
    logs, slopes, signs = [], [], []
    for first, sign in itertools.product((1, 0), (1, -1)):
        g, d = gamma[first::2] * side / 2, slope[first::2] * side / 2
        far = np.exp(-2 * np.abs(g))
        logs.append(float((np.abs(g) + np.log1p(sign * far)).sum()))
        tanh = np.tanh(g)
        slopes.append(float((d * (tanh if sign > 0 else 1 / tanh)).sum()))
        signs.append(1.0 if sign > 0 else float(np.prod(np.sign(g))))
    weights = np.array(signs) * np.exp(np.array(logs) - max(logs))
    mean = side * side * c / s + float(weights @ np.array(slopes)) / float(weights.sum())
    return -k * mean


def strip_energy(log_unary: np.ndarray, pairs: np.ndarray, inside: list[tuple[int, int]]) -> float:
    """The mean energy of layers one behind another, by transfer matrices.

    `log_unary` is (layers, sites of a layer, K), `pairs` (K, K) joins a site with the same one of
    the next layer, and the sites of `inside` within a layer. The mean is -d log Z(b) / d b at
    b = 1, where all logarithms are multiplied by b.
    """
    layers, sites, states = log_unary.shape
    x = np.array(list(itertools.product(range(states), repeat=sites)))
    within = sum((pairs[x[:, a], x[:, b]] for a, b in inside), np.zeros(len(x)))
    between = sum(pairs[x[:, None, a], x[None, :, a]] for a in range(sites))
    step, slope = np.exp(between), between * np.exp(between)
    v, d, log_slope = np.zeros(len(x)), np.zeros(len(x)), 0.0
    for layer in range(layers):
        logs = within + sum(log_unary[layer, a, x[:, a]] for a in range(sites))
        before, its = (v, d) if layer else (np.ones(len(x)), np.zeros(len(x)))
        if layer:
            before, its = step @ v, slope @ v + step @ d
        weight = np.exp(logs - logs.max())
        v, d = weight * before, weight * (its + logs * before)
        total = v.sum()
        v, d = v / total, d / total
        log_slope = d.sum()
    return -float(log_slope)
