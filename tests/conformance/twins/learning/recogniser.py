"""The slow, obvious twins of the recogniser's compiled code.

Hashes are Python's whole numbers modulo 2^64, sums run over lists from the left. `exp` and `log`
are the library's, so that bits can be compared.
"""

import itertools

import numpy as np

from herded.ner.text.word_atoms import (
    DIGIT,
    LETTER,
    LOWER_CASE,
    OTHER_CHARACTER,
    PADDING_AFTER,
    PADDING_BEFORE,
    UPPER_CASE,
)
from herded.system.numerics.exp_log import exp, log
from tests.conformance.twins.counter_rng import naive_draw

WORD_64 = 2**64
OFFSET, PRIME = 0xCBF29CE484222325, 0x100000001B3
GOLDEN, FOLD = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93


def add(values):
    """From the left: `sum` rounds differently from Python 3.12 on."""
    total = 0.0
    for value in values:
        total += value
    return total


# Words


def kind_of(character):
    if character.isdigit():
        return DIGIT
    if character.isalpha():
        return UPPER_CASE if character.isupper() else LOWER_CASE if character.islower() else LETTER
    return OTHER_CHARACTER


def plain(character):
    """The code of a character in lower case, all digits alike."""
    if character.isdigit():
        return ord("0")
    return ord(character.lower()) if len(character.lower()) == 1 else ord(character)


def shape_of(word, longest):
    """Marks of the characters; a run of one mark counts up to `longest`."""
    marks = [kind_of(c) or ord(c) + 8 for c in word]
    runs = [list(run) for _, run in itertools.groupby(marks)]
    return [mark for run in runs for mark in run[:longest]]


def fnv(codes):
    h = OFFSET
    for code in codes:
        h = (h ^ code) * PRIME % WORD_64
    return h


def naive_atoms(word):
    """The 13 atoms of a word."""
    low = [plain(c) for c in word]
    heads = [fnv(low[:k]) for k in (1, 2, 3, 4)]
    tails = [fnv(low[::-1][:k]) for k in (1, 2, 3, 4)]
    shapes = [fnv(shape_of(word, 3)), fnv(shape_of(word, 1))]
    return [fnv(map(ord, word)), fnv(low), *shapes, *heads, *tails, kind_of(word[:1] or " ")]


def naive_rows(types, atoms, places, salts, table, bits):
    """The row of each feature of each word of a sentence."""
    n, n_atoms = len(types), len(atoms[0])

    def value(at, atom):
        if atom >= n_atoms:
            return int(places[at][atom - n_atoms]) if 0 <= at < n else 0xFFFF
        word = PADDING_BEFORE if at < 0 else PADDING_AFTER if at >= n else types[at]
        return int(atoms[word][atom])

    rows = np.zeros((n, len(salts)), np.uint32)
    for i, f in np.ndindex(*rows.shape):
        h = int(salts[f])
        count, *pairs = map(int, table[f])
        for offset, atom in zip(pairs[0 : 2 * count : 2], pairs[1 : 2 * count : 2], strict=True):
            h = (h ^ value(i + offset, atom)) * GOLDEN % WORD_64
            h ^= h >> 32
        rows[i, f] = h * FOLD % WORD_64 >> (64 - bits)
    return rows


def naive_places(document):
    """What a document (sentences of words) and a sentence say of each word; without lists."""
    low = {}  # how often the document writes each word in small letters, and "Word" within
    for sentence in document:
        for at, word in enumerate(sentence):
            counts = low.setdefault(tuple(map(plain, word)), [0, 0])
            counts[0] += shape_of(word, 1) == [LOWER_CASE]
            counts[1] += shape_of(word, 1) == [UPPER_CASE, LOWER_CASE] and at > 0
    places, small = [], []
    for sentence in document:
        shapes = [shape_of(word, 1) for word in sentence]
        n_small = sum(shape == [LOWER_CASE] for shape in shapes)
        n_large = sum(shape in ([UPPER_CASE], [UPPER_CASE, LOWER_CASE]) for shape in shapes)
        case = 0 if not n_small else 1 if not n_large else 2 if n_large > n_small else 3
        for at, (word, shape) in enumerate(zip(sentence, shapes, strict=True)):
            in_small, within = low[tuple(map(plain, word))]
            within -= shape == [UPPER_CASE, LOWER_CASE] and at > 0
            code = (
                min(in_small, 2) + 3 * min(within, 2) + 9 * (at == 0) + 18 * (shape == [UPPER_CASE])
            )
            places.append(
                [1 + code if shape in ([UPPER_CASE], [UPPER_CASE, LOWER_CASE]) else 0, case, 0]
            )
            small.append(in_small)
    return places, small


# Lists of names


def extend(h, atom):
    h = (h ^ atom) * PRIME % WORD_64
    return h ^ h >> 32


def naive_key(words):
    h = OFFSET
    for word in words:
        h = extend(h, fnv(map(plain, word)))
    return h >> 32 | 1


def naive_insert(keys, kinds, slots):
    """An open-addressed table with linear probing."""
    table, table_kinds = [0] * slots, [0] * slots
    for key, kind in zip(map(int, keys), map(int, kinds), strict=True):
        at = key % slots
        while table[at] not in (0, key):
            at = (at + 1) % slots
        table[at] = key
        table_kinds[at] |= kind
    return table, table_kinds


def naive_look_up(sentence, lists):
    """What lists of names say of each word; names are compared as words, not as hashes."""
    kinds = {}
    for bit, names in enumerate(lists):
        for name in names:
            phrase = tuple(tuple(map(plain, word)) for word in name.split())
            kinds[phrase] = kinds.get(phrase, 0) | 1 << bit
    low = [tuple(map(plain, word)) for word in sentence]
    found = [0] * len(sentence)
    for first, last in itertools.combinations(range(len(sentence) + 1), 2):
        kind = kinds.get(tuple(low[first:last]), 0) if last - first <= 4 else 0
        if last - first == 1:
            found[first] |= kind
        else:
            found[first] |= kind << 8
            for at in range(first + 1, last):
                found[at] |= kind << 16
    return found


# Chains


def labelling_score(scores, transitions, y):
    """The score of one labelling of a sentence."""
    before, total = len(transitions) - 1, 0.0
    for i, label in enumerate(y):
        total += float(transitions[before, label]) + float(scores[i, label])
        before = label
    return total


def labellings(scores):
    return itertools.product(range(scores.shape[1]), repeat=len(scores))


def enumerate_chain(scores, transitions):
    """log Z, marginals, expected pairs and the best labelling, by listing all labellings.

    Of equal labellings the one with the lowest last label, then the lowest one before, is best.
    """
    listed = [(labelling_score(scores, transitions, y), y) for y in labellings(scores)]
    top = max(value for value, _ in listed)
    z = add(exp(value - top) for value, _ in listed)
    p, pairs = np.zeros(scores.shape), np.zeros(transitions.shape)
    for value, y in listed:
        for i, label in enumerate(y):
            chance = exp(value - top) / z
            p[i, label] += chance
            pairs[y[i - 1] if i else -1, label] += chance
    best = min(y[::-1] for value, y in listed if value == top)[::-1]
    return top + log(z), p, pairs, best


def naive_messages(scores, transitions):
    """(log Z, exp(transitions), exp(scores), alpha, beta), scaled as in the compiled code."""
    n, width = scores.shape
    top = float(transitions.max())
    e = [[exp(float(t) - top) for t in row] for row in transitions]
    log_z = n * top
    local = []
    for row in scores:
        log_z += float(row.max())
        local.append([exp(float(s) - float(row.max())) for s in row])
    alpha = []
    for i in range(n):
        into = e[width] if i == 0 else [
            add(alpha[-1][j] * e[j][k] for j in range(width)) for k in range(width)
        ]  # fmt: skip
        fresh = [into[k] * local[i][k] for k in range(width)]
        log_z += log(add(fresh))
        alpha.append([a / add(fresh) for a in fresh])
    beta = [[1.0] * width]
    for i in range(n - 2, -1, -1):
        out = [
            add(e[j][k] * local[i + 1][k] * beta[0][k] for k in range(width)) for j in range(width)
        ]
        beta.insert(0, [b / add(out) for b in out])
    return log_z, e, local, alpha, beta


def naive_forward_backward(scores, transitions, pairs):
    """(log Z, marginals); expected pairs are added to `pairs`."""
    n, width = scores.shape
    log_z, e, local, alpha, beta = naive_messages(scores, transitions)
    products = [[a * b for a, b in zip(alpha[i], beta[i], strict=True)] for i in range(n)]
    p = np.array([[x / add(row) for x in row] for row in products])
    pairs[width] += p[0]
    for i in range(1, n):
        joint = [
            [alpha[i - 1][j] * e[j][k] * local[i][k] * beta[i][k] for k in range(width)]
            for j in range(width)
        ]
        total = add(itertools.chain(*joint))
        for j, k in np.ndindex(width, width):
            pairs[j, k] += joint[j][k] / total
    return log_z, p


def naive_viterbi(scores, transitions):
    """The best labelling of one sentence: of equals the lowest label, from the last word back."""
    value, back = transitions[-1] + scores[0], []
    for row in scores[1:]:
        sums = value[:, None] + transitions[:-1]
        back.append(sums.argmax(axis=0))
        value = sums.max(axis=0) + row
    best = [int(value.argmax())]
    for pointers in reversed(back):
        best.insert(0, int(pointers[best[0]]))
    return best


def naive_span(scores, transitions, first, last, labels):
    """P(the words from `first` to `last` - 1 of a sentence have these labels)."""
    _, p = naive_forward_backward(scores, transitions, np.zeros(transitions.shape))
    _, e, local, _, beta = naive_messages(scores, transitions)
    chance = float(p[first, labels[first]])
    for i in range(first + 1, last):
        out = [x * y * z for x, y, z in zip(e[labels[i - 1]], local[i], beta[i], strict=True)]
        chance *= out[labels[i]] / add(out)
    return chance


def naive_scores(weights, scale, rows):
    """The sums of a word's weights, feature by feature, times the scale."""
    return (
        np.array([[add(column) for column in weights[row].T.astype(float)] for row in rows]) * scale
    )


# Training


def naive_step(
    loss, rows, at, n, labels, counts, rate, l2, dropout, key, learned, transitions, squares
):
    """AdaGrad's step on one of n sentences, whose first word is `at`; adds its loss to `loss`."""
    (n_words, n_features), width = rows.shape, transitions.shape[1]
    grown = 1.0 / (1.0 - dropout)
    used = [
        [f for f in range(n_features)
         if naive_draw(key, (at + i) * n_features + f) >= int(dropout * 2.0**64)]
        for i in range(n_words)
    ]  # fmt: skip
    scores = np.array(
        [[grown * add(float(learned[rows[i, f], k]) for f in used[i]) for k in range(width)]
         for i in range(n_words)]
    )  # fmt: skip
    pairs = np.zeros(transitions.shape)
    log_z, p = naive_forward_backward(scores, transitions, pairs)
    loss, before = loss + log_z, width
    for i, y in enumerate(labels):
        loss -= float(scores[i, y]) + float(transitions[before, y])
        pairs[before, y] -= 1.0
        before = y
    for j, k in np.argwhere(transitions > -np.inf):
        step = pairs[j, k] + l2 * transitions[j, k] / n
        squares[j, k] += step * step
        transitions[j, k] -= rate * step / np.sqrt(squares[j, k])
    for i, y in enumerate(labels):
        gradient = [grown * (float(p[i, k]) - (y == k)) for k in range(width)]
        for f in used[i]:
            row = learned[rows[i, f]]  # float32, as stored; sums are float64
            for k in range(width):
                step = gradient[k] + l2 / int(counts[rows[i, f]]) * float(row[k])
                row[width + k] = np.float32(float(row[width + k]) + step * step)
                row[k] = np.float32(float(row[k]) - rate * step / float(np.sqrt(row[width + k])))
    return loss


# Skip-chains


def naive_gradient(scores, transitions, labels, linked, table, kinds, trust):
    """log P of a sentence given the labels linked to it, and its gradient by trust and table."""
    (n, width), size = scores.shape, len(table)
    forced = np.array([[trust * t if t > -np.inf else t for t in row] for row in transitions])
    local = trust * scores
    for i, k in np.ndindex(n, width):
        for other in range(size):
            local[i, k] += linked[i, other] * table[kinds[k], other]
    pairs, parts = np.zeros(transitions.shape), np.zeros(1 + size * size)
    log_z, p = naive_forward_backward(local, forced, pairs)
    value, before = -log_z, width
    for i, y in enumerate(labels):
        value += local[i, y] + forced[before, y]
        pairs[before, y] -= 1.0
        before = y
        for k in range(width):
            gap = (y == k) - p[i, k]
            parts[0] += gap * scores[i, k]
            for other in range(size):
                parts[1 + kinds[k] * size + other] += gap * linked[i, other]
    for j, k in np.argwhere(transitions > -np.inf):
        parts[0] -= pairs[j, k] * transitions[j, k]
    return value, parts


def skip_score(chain, starts, scores, edges, strengths, table, trust, y):
    """The formula in `herded.ner.crf.skip_chain`: trust * chain(y) + sum of strength * S[y_i,
    y_j].
    """
    total = 0.0
    for a, b in itertools.pairwise(starts):
        total += trust * labelling_score(scores[a:b], chain.transitions, y[a:b])
    return total + add(s * table[y[i], y[j]] for (i, j), s in zip(edges, strengths, strict=True))


def naive_rounds(scores, transitions, starts, edges, strengths, table, rounds, labels):
    """Viterbi for each sentence in turn given the others' labels; gives the rounds made."""
    chains = [(a, b) for a, b in itertools.pairwise(starts) if a < b]

    def total(y):
        value = add(labelling_score(scores[a:b], transitions, y[a:b]) for a, b in chains)
        return value + add(
            s * table[y[i], y[j]] for (i, j), s in zip(edges, strengths, strict=True)
        )

    for made in range(rounds):
        before = list(labels)
        for a, b in chains:
            local = scores[a:b].copy()
            for (i, j), s in zip(edges, strengths, strict=True):
                if a <= j < b:
                    local[j - a] += s * table[:, labels[i]]
                elif a <= i < b:
                    local[i - a] += s * table[:, labels[j]]
            tried = [*labels[:a], *naive_viterbi(local, transitions), *labels[b:]]
            if total(tried) > total(labels):
                labels[:] = tried
        if list(labels) == before:
            return made
    return rounds
