"""The slow, obvious twins."""

import itertools
import math

import numpy as np


def naive_log_scores(model):
    """The log of the unnormalised probability of every state, shape = cardinalities."""
    graph = model.as_factor_graph()
    scores = np.full(tuple(graph.cardinalities), -np.inf)
    factors = [graph.factor(f) for f in range(graph.n_factors)]
    for x in itertools.product(*(range(k) for k in graph.cardinalities)):
        if all(value in (-1, x[i]) for i, value in enumerate(graph.evidence)):
            scores[x] = math.fsum(table[tuple(x[i] for i in scope)] for scope, table in factors)
    return scores


def naive_joint(model):
    """pi(x) for every state, given the evidence, shape = cardinalities."""
    return np.exp(naive_log_scores(model) - naive_log_z(model))


def naive_log_z(model):
    """log sum_x exp(log_score(x)) over the states that agree with the evidence."""
    scores = naive_log_scores(model)
    top = scores.max()
    return top + math.log(math.fsum(np.exp(scores - top).ravel()))


def naive_viterbi(model):
    """The best state, the first in dictionary order if there are several, and its score."""
    scores = naive_log_scores(model)
    best = np.unravel_index(np.argmax(scores), scores.shape)
    return np.array(best), scores[best]


def _scopes_and_tables(model):
    """(variables, shaped log-table) of every factor."""
    graph = model.as_factor_graph()
    pairs = [graph.factor(f) for f in range(graph.n_factors)]
    return [(tuple(map(int, scope)), table) for scope, table in pairs]


def naive_factors(model):
    """What `FactorArrays` says of the factors of each variable, as lists."""
    factors = _scopes_and_tables(model)
    bases = list(itertools.accumulate((table.size for _, table in factors), initial=0))
    found = {
        "entry_start": [0], "table_base": [], "own_stride": [], "other_start": [0], "other": [],
        "other_ratio": [], "last_stride": [], "neighbour_start": [0], "neighbour": [],
    }  # fmt: skip
    for i in range(model.n_variables):
        around = set()
        for base, (scope, table) in zip(bases[:-1], factors, strict=True):
            if i not in scope:
                continue
            strides = [stride // table.itemsize for stride in np.empty(table.shape).strides]
            others = [(j, stride) for j, stride in zip(scope, strides, strict=True) if j != i]
            ratios = [before // after for (_, before), (_, after) in itertools.pairwise(others)]
            around |= {j for j, _ in others if model.evidence[j] < 0}
            found["table_base"].append(base)
            found["own_stride"].append(strides[list(scope).index(i)])
            found["other"] += [j for j, _ in others]
            found["other_ratio"] += [1, *ratios] if others else []
            found["other_start"].append(len(found["other"]))
            found["last_stride"].append(others[-1][1] if others else 1)
        found["neighbour"] += sorted(around)
        found["neighbour_start"].append(len(found["neighbour"]))
        found["entry_start"].append(len(found["table_base"]))
    return found


def naive_mean_field(model, damping, updates, sweeps):
    """q_i <- (1 - D) q_i + D q_i^new, written out; returns q (N, K) and the bound of log Z."""
    cards, factors = [int(k) for k in model.cardinalities], _scopes_and_tables(model)
    n = len(cards)

    def expected(table, scope, q, i=None, k=None):
        """E_q[log f], or with x_i = k, as a sum over all entries of the table."""
        total = 0.0
        for x in np.ndindex(*table.shape):
            weight = 1.0
            for variable, value in zip(scope, x, strict=True):
                weight *= q[variable][value] if variable != i else float(value == k)
            if weight > 0:
                total += weight * table[x]
        return total

    def softmax(logits):
        p = np.exp(np.array(logits) - max(logits))
        return p / p.sum()

    q = []
    for i in range(n):
        unaries = [table for scope, table in factors if scope == (i,)]
        q.append(softmax([sum(table[k] for table in unaries) for k in range(cards[i])]))
        if model.evidence[i] >= 0:
            q[i] = np.eye(cards[i])[model.evidence[i]]
    for _ in range(sweeps):
        read = list(q) if updates == "parallel" else q
        for i in range(n):
            mine = [(scope, table) for scope, table in factors if i in scope]
            logits = [
                sum(expected(table, scope, read, i, k) for scope, table in mine)
                for k in range(cards[i])
            ]
            if model.evidence[i] < 0 and max(logits) > -np.inf:
                q[i] = (1 - damping) * q[i] + damping * softmax(logits)
    bound = sum(expected(table, scope, q) for scope, table in factors)
    bound -= sum(p * np.log(p) for row in q for p in row if p > 0)
    return _padded_rows(q), bound


def naive_belief_propagation(model, damping, updates, sweeps):
    """Sum-product with messages as probabilities; marginals (N, K), Bethe log Z, pair beliefs.

    No logarithms: only for potentials of moderate size. `sent` leaves out states that are known
    to be impossible, as the kernel does.
    """
    cards, factors = [int(k) for k in model.cardinalities], _scopes_and_tables(model)
    n = len(cards)
    at = [[f for f, (scope, _) in enumerate(factors) if i in scope] for i in range(n)]
    message = {}
    for f, (scope, table) in enumerate(factors):
        for i in scope:
            m = np.exp(table) if len(scope) == 1 else np.ones(cards[i])
            message[f, i] = m / m.sum()

    def sent(m, j, f):
        """m_(j->f): the product of the messages to j from its other factors."""
        if model.evidence[j] >= 0:
            return np.eye(cards[j])[model.evidence[j]]
        product = np.ones(cards[j])
        for g in at[j]:
            product = product * (m[g, j] if g != f else m[g, j] > 0)
        return product

    def belief(m, f, without=None):
        """f(x_f) prod_j m_(j->f)[x_j], where `without` sends nothing."""
        scope, table = factors[f]
        product = np.exp(table)
        for axis, j in enumerate(scope):
            if j != without:
                shape = [-1 if a == axis else 1 for a in range(len(scope))]
                product = product * sent(m, j, f).reshape(shape)
        return product

    for sweep in range(sweeps):
        read = dict(message) if updates == "parallel" else message
        for i in range(n) if sweep % 2 == 0 else reversed(range(n)):
            for f in at[i] if model.evidence[i] < 0 else []:
                scope = factors[f][0]
                if len(scope) > 1:
                    axes = tuple(a for a, j in enumerate(scope) if j != i)
                    new = belief(read, f, without=i).sum(axis=axes)
                    new /= new.sum()
                    new = np.where(new > 0, (1 - damping) * message[f, i] + damping * new, 0.0)
                    message[f, i] = new / new.sum()

    log_z, pairs, marginals = 0.0, {}, []
    for i in range(n):
        b = sent(message, i, None)
        b = b / b.sum()
        marginals.append(b)
        log_z += (len(at[i]) - 1) * sum(p * np.log(p) for p in b if p > 0)
    for f, (scope, table) in enumerate(factors):
        b = belief(message, f)
        b = b / b.sum()
        log_z += sum(b[x] * (table[x] - np.log(b[x])) for x in np.ndindex(*b.shape) if b[x] > 0)
        if len(scope) == 2:
            pairs.setdefault(tuple(sorted(scope)), b if scope[0] < scope[1] else b.T)
    return _padded_rows(marginals), log_z, pairs


def _padded_rows(rows):
    """Rows of different lengths as one array, zeros beyond their ends."""
    table = np.zeros((len(rows), max(map(len, rows))))
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


# -- samplers: Algorithm 1 and its baselines, with dictionaries and whole numbers ----------------
#
# Written from the paper and from what the modules document, not from the kernels. Every twin
# gives (samples, tally): the state after each sweep, and the sums of the conditionals it saw.

WORD = 2**64 - 1
SCALAR, VECTOR = 2**31, 2**24  # what 1 is in the scalar rule and in the vector rule
FIRST_SPLIT, MOST_BINS = 128, 32


def naive_mix(z):
    """SplitMix64's finaliser."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
    return z ^ (z >> 31)


def naive_draw(key, counter):
    """64 random bits."""
    return naive_mix((key + 0x9E3779B97F4A7C15 * counter) & WORD)


def naive_key(*numbers):
    """The key of the stream (seed, chain, purpose)."""
    key = 0
    for number in numbers:
        key = naive_mix(((key ^ number) + 0x9E3779B97F4A7C15) & WORD)
    return key


def naive_exp(a):
    """exp, infinite where it overflows."""
    return math.exp(a) if a < 709.0 else math.inf


def naive_fixed_scalar(zero, one, beta=1.0):
    """round(pi(X_i = 1) * 2^31) from two log-potentials."""
    if zero == one:
        return SCALAR // 2
    return int(SCALAR / (1.0 + naive_exp(beta * (zero - one))) + 0.5)


def naive_fixed_vector(logits, beta=1.0):
    """Probabilities that sum to 2^24: the cumulated ones are rounded, then subtracted."""
    top = max(logits)
    if top == -math.inf:
        logits, top = [0.0] * len(logits), 0.0
    cumulated, total = [], 0.0
    for logit in logits:
        total += 1.0 if logit == top else naive_exp(beta * (logit - top))
        cumulated.append(total)
    rounded = [int(c / total * VECTOR + 0.5) for c in cumulated]
    return tuple(b - a for a, b in zip([0, *rounded], rounded, strict=False))


def naive_fixed_products(products):
    """The same from numbers the probabilities are proportional to; all alike where all are 0."""
    cumulated = list(itertools.accumulate(products))
    if cumulated[-1] == 0.0:
        cumulated = [k + 1.0 for k in range(len(products))]
    scale = VECTOR / cumulated[-1]
    rounded = [int(c * scale + 0.5) for c in cumulated]
    return tuple(b - a for a, b in zip([0, *rounded], rounded, strict=False))


def naive_sigmoid(field):
    """2^31 sigmoid(field / 2^24), on the line between two of a table's values 2^-9 apart."""
    field = min(max(field, -23 * 2**24), 23 * 2**24 - 1)
    step, rest = divmod(field, 2**15)
    low, high = (naive_fixed_scalar(0.0, s / 2**9) for s in (step, step + 1))
    return low + (high - low) * rest // 2**15


class Naive:
    """A model as dictionaries: what the twins of all plans but the lattice look things up in."""

    def __init__(self, model, vector, kind=None):
        self.kind = kind
        self.cards = [int(k) for k in model.cardinalities]
        self.n = len(self.cards)
        self.factors = _scopes_and_tables(model)
        self.free = [i for i in range(self.n) if model.evidence[i] < 0]
        self.clamped = {i: int(model.evidence[i]) for i in range(self.n) if i not in self.free}
        self.neighbours = {
            i: sorted({j for s, _ in self.factors if i in s for j in s} & set(self.free) - {i})
            for i in range(self.n)
        }
        self.scalar = not vector and all(self.cards[i] == 2 for i in self.free)

    def conditional(self, i, x, beta=1.0):
        """The number p_1 in the scalar rule, the tuple (p_0, .., p_(K-1)) in the vector rule."""
        if self.kind == "field":
            return naive_sigmoid(self.field(i, x))
        if self.kind == "pairs":
            return naive_fixed_products(self.products(i, x))
        logits = [0.0] * self.cards[i]
        for scope, table in self.factors:
            if i in scope:
                for k in range(self.cards[i]):
                    logits[k] += float(table[tuple(k if j == i else x[j] for j in scope)])
        if self.scalar:
            return naive_fixed_scalar(*logits, beta)
        return naive_fixed_vector(logits, beta)

    def field(self, i, x):
        """The log-odds of X_i = 1 at scale 2^24: what each neighbour does is rounded by itself."""
        total = 0
        for scope, table in self.factors:
            if i not in scope:
                continue
            table = np.moveaxis(table, scope.index(i), 0)
            odds = table[1] - table[0]  # one number, or one for each state of the neighbour
            if len(scope) == 1:
                total += round(float(odds) * 2**24)
                continue
            j = scope[1 - scope.index(i)]
            if j in self.clamped:
                total += round(float(odds[self.clamped[j]]) * 2**24)
            else:
                total += round(float(odds[0]) * 2**24)
                total += round(float(odds[1] - odds[0]) * 2**24) * x[j]
        return total

    def products(self, i, x):
        """What pi(X_i = k) is proportional to: a row for what is clamped, and one a neighbour."""
        products = self.row(i, x, None)
        for j in self.neighbours[i]:
            row = [float(np.float32(factor)) for factor in self.row(i, x, j)]
            products = [a * b for a, b in zip(products, row, strict=True)]
        return products

    def row(self, i, x, j):
        """exp of the log-potentials between i and j (None: all that is clamped), less the largest.

        They are whole numbers at scale 2^24; what is impossible is 0.
        """
        logs, possible = [0] * self.cards[i], [True] * self.cards[i]
        for scope, table in self.factors:
            others = [v for v in scope if v != i and v not in self.clamped]
            if i in scope and others == ([] if j is None else [j]):
                for k in range(self.cards[i]):
                    log = float(table[tuple(k if v == i else x[v] for v in scope)])
                    possible[k] &= log > -math.inf
                    logs[k] += round(log * 2**24) if log > -math.inf else 0
        top = max((a for a, can in zip(logs, possible, strict=True) if can), default=0)
        return [
            naive_exp((a - top) / 2**24) if can else 0.0
            for a, can in zip(logs, possible, strict=True)
        ]

    def around(self, i, x):
        """The states of the neighbours of i."""
        return tuple(x[j] for j in self.neighbours[i])

    def components(self):
        """Free variables that hang together, in order of their first members."""
        parts, seen = [], set()
        for first in self.free:
            if first not in seen:
                part, waiting = set(), [first]
                while waiting:
                    i = waiting.pop()
                    if i not in part:
                        part.add(i)
                        waiting.extend(self.neighbours[i])
                parts.append(sorted(part))
                seen |= part
        return parts

    def colours(self):
        """Each variable takes the least colour that no neighbour before it has."""
        colour = {}
        for i in range(self.n):
            taken = {colour[j] for j in self.neighbours[i] if j in colour}
            colour[i] = min(c for c in range(self.n + 1) if c not in taken)
        return colour

    def order(self, scan, sweep, key, whole):
        """Step 2 of Algorithm 1: the variables in order of their visits."""
        if not isinstance(scan, str):
            return [int(i) for i in scan if i in self.free]
        if scan == "checkerboard":
            colour = self.colours()
            return sorted(self.free, key=lambda i: (colour[i], i))
        if scan != "random":
            return self.free
        order = []
        for part in [self.free] if whole else self.components():
            order += naive_shuffle(part, (key + sweep * self.n + part[0]) & WORD if part else 0)
        return order


def naive_shuffle(items, key):
    """Fisher and Yates, from the back."""
    items = list(items)
    for last in range(len(items) - 1, 0, -1):
        other = (naive_draw(key, last) >> 11) % (last + 1)
        items[last], items[other] = items[other], items[last]
    return items


def naive_choose(w, p, slack=0, bits=0):
    """Steps 3 and 4: the state, and the weight after it. A number p is the scalar rule."""
    if isinstance(p, int):
        phi = w + p  # the carry says whether the paper's weight is above 0
        x = 1 if phi >= SCALAR else 0
        return x, phi - SCALAR * x
    possible = [k for k in range(len(p)) if p[k] > 0]
    grown = [w[k] + p[k] for k in range(len(p))]
    left = [p[k] if w[k] >= -slack else 0 for k in range(len(p))]  # without those overdrawn
    if slack and sum(left) and max(w[k] for k in possible) <= 64 * VECTOR:
        pick = ((bits >> 40) * sum(left)) >> 24
        x = next(k for k in range(len(p)) if pick < sum(left[: k + 1]))
    else:
        x = max(possible, key=lambda k: (grown[k], -k))
    grown[x] -= VECTOR
    return x, tuple(grown)


def naive_pick(p, bits):
    """A random state from 64 random bits."""
    if isinstance(p, int):
        return int((bits >> 33) < p)
    left = bits >> 40
    return next(k for k in range(len(p)) if left < sum(p[: k + 1]))


def naive_start(key, name, width):
    """A weight at rest (key None), or at the random place that belongs to `name`."""
    if width == 0:  # the scalar rule
        return SCALAR // 2 - 1 if key is None else naive_draw(key, name) >> 33
    if key is None:
        return (0,) * width
    places = [naive_draw((key + k) & WORD, name) >> 40 for k in range(width)]
    mean, rest = divmod(sum(places), width)
    return tuple(r - mean - (rest if k == 0 else 0) for k, r in enumerate(places))


class NaiveWeights:
    """The weights of a herded run: a dictionary from contexts to weights."""

    def __init__(self, naive, weights, kind, key):
        self.naive, self.weights, self.kind = naive, weights, kind
        self.key = key  # None: all start at rest
        self.of = {}
        self.places = _table_places(naive) if kind == "table" else {}
        self.shared = _shared_places(naive, self.places) if weights == "shared" else {}

    def width(self, i):
        return 0 if self.naive.scalar else self.naive.cards[i]

    def bins(self, sweep):
        """1 until sweep 128, then twice as many whenever the run is 4 times as long."""
        splits = [t for t in range(5) if sweep >= FIRST_SPLIT * 4**t]
        return 2 ** len(splits)

    def split(self, sweep):
        """Both halves of a bin inherit its weight."""
        if self.weights == "pooled" and self.bins(sweep) > self.bins(sweep - 1):
            halves = {(i, 2 * b + h): w for (i, b), w in self.of.items() for h in (0, 1)}
            bins = self.bins(sweep)
            missing = [(i, b) for i in self.naive.free for b in range(bins)]
            self.of = {c: halves.get(c, self._first(c)) for c in missing}

    def context(self, i, x, p, sweep):
        """What the weight is one for, and the name of its random start."""
        others = tuple(x[j] for j in range(self.naive.n) if j != i)
        if self.weights == "full":
            return (i, others), _name_of_others(i, x)
        if self.weights == "shared":
            return (i, p), self.shared[i, p]
        if self.weights == "pooled":
            return (i, self.bin(p, sweep)), None
        around = self.naive.around(i, x)
        if self.kind == "table":
            return (i, around), self.places[i, around]
        return (i, around), _name_of_neighbours(i, around)

    def get(self, i, context, name):
        if context not in self.of:
            pooled = self.weights == "pooled"
            self.of[context] = (
                self._first(context) if pooled else naive_start(self.key, name, self.width(i))
            )
        return self.of[context]

    def _first(self, context):
        """A pool before any split: variables' pools lie one after another."""
        i = context[0]
        return naive_start(self.key, sum(self.width(j) or 1 for j in range(i)), self.width(i))

    def bin(self, p, sweep):
        bins = self.bins(sweep)
        if isinstance(p, int):
            return min(p * bins // SCALAR, bins - 1)
        mean = sum(k * q for k, q in enumerate(p))
        return min(int(mean * (bins / (max(1, len(p) - 1) * float(VECTOR)))), bins - 1)


def _table_places(naive):
    """Where the weight of each (variable, neighbours' states) lies: one after another."""
    places, at = {}, 0
    for i in naive.free:
        for around in itertools.product(*(range(naive.cards[j]) for j in naive.neighbours[i])):
            places[i, around] = at
            at += 1 if naive.scalar else naive.cards[i]
    return places


def _shared_places(naive, places):
    """Where the weight of each (variable, conditional) lies: in the order they are first met."""
    starts, at = {}, 0
    for i, around in places:
        x = {**naive.clamped, **dict(zip(naive.neighbours[i], around, strict=True))}
        p = naive.conditional(i, x)
        if (i, p) not in starts:
            starts[i, p] = at
            at += len(_entries(p))
    return starts


def _entries(p):
    return (p,) if isinstance(p, int) else p


def _name_of_neighbours(i, around):
    h = naive_mix(i + 1)
    for k in around:
        h = (h ^ (k + 1)) * 0xD6E8FEB86659FD93 & WORD
        h ^= h >> 33
    return naive_mix(h)


def _name_of_others(i, x):
    h = 0
    for j in range(len(x)):
        if j != i:
            h ^= naive_mix((j << 20) + x[j] + 1)
    return naive_mix((h + i) & WORD)


def naive_herded_gibbs(
    model,
    *,
    weights="blanket",
    slack=0.0,
    scan="sequential",
    phases="half",
    seed=0,
    chain=0,
    x0,
    sweeps,
    kind="table",
    schedule=lambda sweep, total: 1.0,
    watch=None,
):
    """Algorithm 1. `watch` is called with (i, context, p, x_i, weight) after every visit."""
    naive = Naive(model, vector=slack > 0, kind=kind)
    key, phase_key = naive_key(seed, chain, 1), naive_key(seed, chain, 2)
    random = phases == "random" or chain > 0
    memory = NaiveWeights(naive, weights, kind, phase_key if random else None)
    strict = round(slack * VECTOR)
    x, samples, tally = [int(k) for k in x0], [], _empty_tally(naive)
    for sweep in range(sweeps):
        memory.split(sweep)
        beta = naive_beta(schedule, sweep, sweeps)
        read = list(x) if scan == "jacobi" else x
        for i in naive.order(scan, sweep, phase_key, weights == "full"):
            p = naive.conditional(i, read, beta)
            context, name = memory.context(i, read, p, sweep)
            bits = naive_draw(key, sweep * naive.n + i)
            w = memory.get(i, context, name)
            x[i], memory.of[context] = naive_choose(w, p, strict, bits)
            _add(tally, i, p)
            if watch is not None:
                watch(i, context, p, x[i], memory.of[context])
        samples.append(list(x))
    return np.array(samples).reshape(sweeps, naive.n), np.array(tally)


def naive_annealed_herded_gibbs(model, schedule, *, weights="lazy", **options):
    """Algorithm 1 with pi(x_i | x_N(i))^(1/T), T = schedule(sweep, sweeps), on the same weights."""
    return naive_herded_gibbs(model, weights=weights, kind="factor", schedule=schedule, **options)


def naive_beta(schedule, sweep, total):
    """1 / T."""
    temperature = schedule(sweep, total)
    return 1.0 / temperature if temperature > 0 else math.inf


def naive_gibbs(model, **options):
    """Each x_i drawn from pi(x_i | x_N(i))."""
    return naive_annealed_gibbs(model, lambda sweep, total: 1.0, **options)


def naive_annealed_gibbs(
    model, schedule, *, scan="sequential", seed=0, chain=0, x0, sweeps, kind=None
):
    """Each x_i drawn from pi(x_i | x_N(i))^(1/T), T = schedule(sweep, sweeps)."""
    naive = Naive(model, vector=False, kind=kind)
    key, scan_key = naive_key(seed, chain, 1), naive_key(seed, chain, 2)
    x, samples, tally = [int(k) for k in x0], [], _empty_tally(naive)
    for sweep in range(sweeps):
        beta = naive_beta(schedule, sweep, sweeps)
        read = list(x) if scan == "jacobi" else x
        for i in naive.order(scan, sweep, scan_key, False):
            p = naive.conditional(i, read, beta)
            x[i] = naive_pick(p, naive_draw(key, sweep * naive.n + i))
            _add(tally, i, p)
        samples.append(list(x))
    return np.array(samples).reshape(sweeps, naive.n), np.array(tally)


def _empty_tally(naive):
    return [[0] * (1 if naive.scalar else max(naive.cards)) for _ in range(naive.n)]


def _add(tally, i, p):
    for k, q in enumerate(_entries(p)):
        tally[i][k] += q


# -- records ---------------------------------------------------------------------------------


def naive_best(model, samples):
    """Of each component the first sample that scores best: (scores, state); clamped parts last."""
    naive = Naive(model, vector=False)
    parts = [*naive.components(), sorted(naive.clamped)]
    scores, state = [], [0] * naive.n
    for part in parts:
        free = set(part) & set(naive.free)
        factors = [
            (scope, table)
            for scope, table in naive.factors
            if (set(scope) & free if free else not set(scope) & set(naive.free))
        ]
        best = -math.inf
        for x in samples.tolist():
            score = 0.0
            for scope, table in factors:
                score += float(table[tuple(x[i] for i in scope)])
            if score > best:
                best = score
                for i in part:
                    state[i] = x[i]
        scores.append(best)
    return np.array(scores), np.array(state)


# -- lattices --------------------------------------------------------------------------------

STRIP = 512  # sites in a strip of packed rows, at least
COARSE = 2**16  # a step of weights of 16 bits, at scale 2^31


def naive_lattice(model, *, weights, phases="half", bits=32, seed=0, chain=0, x0, sweeps):
    """Binary grids: first the sites with r + c even, then the others; weights=None draws.

    A context is the four neighbours' bits ("blanket"), or how many of them are 1 ("shared", and
    any draw on equal couplings). Phases and draws are named by where a site lies when packed.
    Weights of 16 bits are multiples of 2^-15, here at the scale of the others.
    """
    height, width = model.shape
    by_count = model.counts_suffice and weights != "blanket"
    key, phase_key = naive_key(seed, chain, 1), naive_key(seed, chain, 2)
    random = phases == "random" or chain > 0
    x = np.array(x0, dtype=int).reshape(height, width).tolist()
    w, samples = {}, []
    tally = [[0] * width for _ in range(height)]
    sites = sorted(itertools.product(range(height), range(width)), key=lambda s: sum(s) % 2)
    for sweep in range(sweeps):
        for r, c in sites:
            around = _bits_around(x, r, c, model.periodic)
            context = sum(around) if by_count else sum(b << d for d, b in enumerate(around))
            p = _lattice_conditional(model, r, c, around, by_count)
            if bits == 16 and 0 < p < SCALAR:
                p = min(max(math.floor(p / COARSE + 0.5), 1), SCALAR // COARSE - 1) * COARSE
            stored, phase = _packed_place(model.shape, r, c, context, by_count)
            if weights is None:
                counter = sweep * _packed_size(model.shape) + stored
                x[r][c] = naive_pick(p, naive_draw(key, counter))
            else:
                first = naive_start(phase_key if random else None, phase, 0)
                if bits == 16:
                    first -= first % COARSE
                old = w.get((r, c, context), first)
                x[r][c], w[r, c, context] = naive_choose(old, p)
            tally[r][c] += p
        samples.append(np.array(x).ravel())
    return np.array(samples), np.array(tally).reshape(-1, 1)


class NaivePotts(Naive):
    """A Potts grid: conditionals are products of exponentials, and colours those of a board."""

    def __init__(self, model):
        self.model, self.scalar = model, False
        self.cards = [int(k) for k in model.cardinalities]
        self.n = len(self.cards)
        self.free = range(self.n)  # clamped sites are visited too: one state is possible

    def conditional(self, i, x, beta=1.0):
        model, (height, width) = self.model, self.model.shape
        r, c = divmod(i, width)
        unary = [float(a) for a in model.log_unary[r, c]]
        product = [math.exp(a - max(unary)) for a in unary]
        if model.clamped[r, c] >= 0:
            product = [float(k == model.clamped[r, c]) for k in range(len(unary))]
        edges = [
            (c > 0, r, c - 1, model.right[r, c - 1] if c > 0 or model.periodic else 0.0),
            (c < width - 1, r, c + 1, model.right[r, c] if c < model.right.shape[1] else 0.0),
            (r > 0, r - 1, c, model.down[r - 1, c] if r > 0 or model.periodic else 0.0),
            (r < height - 1, r + 1, c, model.down[r, c] if r < model.down.shape[0] else 0.0),
        ]
        for inside, a, b, coupling in edges:
            if inside or model.periodic:
                product[x[a % height * width + b % width]] *= math.exp(coupling)
        cumulated = list(itertools.accumulate(product))
        scale = VECTOR / cumulated[-1]
        rounded = [int(part * scale + 0.5) for part in cumulated]
        return tuple(b - a for a, b in zip([0, *rounded], rounded, strict=False))


def naive_potts(model, *, weights, phases="half", seed=0, chain=0, x0, sweeps):
    """Potts grids, first the sites with r + c even, then the others; weights=None draws."""
    naive, width = NaivePotts(model), model.shape[1]
    key, phase_key = naive_key(seed, chain, 1), naive_key(seed, chain, 2)
    random = phases == "random" or chain > 0
    memory = NaiveWeights(naive, weights, "factor", phase_key if random else None)
    x, samples, tally = [int(k) for k in x0], [], _empty_tally(naive)
    order = sorted(range(naive.n), key=lambda i: sum(divmod(i, width)) % 2)
    for sweep in range(sweeps):
        memory.split(sweep)
        for i in order:
            p = naive.conditional(i, x)
            if weights is None:
                stored, _ = _packed_place(model.shape, *divmod(i, width), 0, True)
                counter = sweep * _packed_size(model.shape) + stored
                x[i] = naive_pick(p, naive_draw(key, counter))
            else:
                context = (i, memory.bin(p, sweep))
                x[i], memory.of[context] = naive_choose(memory.get(i, context, None), p)
            _add(tally, i, p)
        samples.append(list(x))
    return np.array(samples).reshape(sweeps, naive.n), np.array(tally)


def _bits_around(x, r, c, periodic):
    """Left, right, up, down; beyond the border 0, or where periodic what lies on the other side."""
    places = ((r, c - 1), (r, c + 1), (r - 1, c), (r + 1, c))
    if periodic:
        return [x[a % len(x)][b % len(x[0])] for a, b in places]
    return [x[a][b] if 0 <= a < len(x) and 0 <= b < len(x[0]) else 0 for a, b in places]


def _lattice_conditional(model, r, c, bits, by_count):
    height, width = model.shape
    if model.clamped[r, c] >= 0:
        return SCALAR * int(model.clamped[r, c])
    ring = model.periodic
    around = [
        (float(model.right[r, c - 1]), bits[0]) if c > 0 or ring else None,
        (float(model.right[r, c]), bits[1]) if c < width - 1 or ring else None,
        (float(model.down[r - 1, c]), bits[2]) if r > 0 or ring else None,
        (float(model.down[r, c]), bits[3]) if r < height - 1 or ring else None,
    ]
    if ring and c == 0:  # in the order of the model's factors, which has wrapped edges last
        around[0], around[1] = around[1], around[0]
    if ring and r == 0:
        around[2], around[3] = around[3], around[2]
    there = [edge for edge in around if edge is not None]
    if by_count:  # it does not matter which of them are 1: take the first
        there = [(j, int(n < sum(bits))) for n, (j, _) in enumerate(there)]
    logits = [float(a) for a in model.log_unary[r, c]]
    for j, b in there:
        logits[b] += j
        logits[1 - b] += j * model.unlike
    return naive_fixed_scalar(*logits)


def _packed_shape(shape):
    """Columns of a half-lattice, rows of a strip, strips."""
    columns = (shape[1] + 1) // 2
    rows = min(shape[0], math.ceil(STRIP / columns))
    return columns, rows, math.ceil(shape[0] / rows)


def _packed_size(shape):
    columns, rows, strips = _packed_shape(shape)
    return 2 * strips * rows * columns


def _packed_place(shape, r, c, context, by_count):
    """(number of the site, number of its weight) in the packed arrays."""
    columns, rows, strips = _packed_shape(shape)
    strip = (r + c) % 2 * strips + r // rows
    site = r % rows * columns + c // 2
    stored = strip * rows * columns + site
    if by_count:
        return stored, (strip * 5 + context) * rows * columns + site
    return stored, stored * 16 + context


# -- herding itself --------------------------------------------------------------------------


def naive_herding(p, T):
    """Equation (1) with indicator features: the states, from probabilities at scale 2^24."""
    w, states = (0,) * len(p), []
    for _ in range(T):
        x, w = naive_choose(w, tuple(p))
        states.append(x)
    return np.array(states, dtype=int)


def naive_herd(features, moments, T):
    """Equation (1): x = argmax <w, phi(x)>, then w += moments - phi(x)."""
    phi, mu = [list(map(float, row)) for row in features], [float(m) for m in moments]
    w, rows = list(mu), []
    for _ in range(T):
        scores = []
        for row in phi:
            score = 0.0
            for a, b in zip(w, row, strict=True):
                score += a * b
            scores.append(score)
        best = scores.index(max(scores))
        w = [a + (m - f) for a, m, f in zip(w, mu, phi[best], strict=True)]
        rows.append(best)
    return np.array(rows, dtype=int)


# -- the compiled ones, driven without `infer` -------------------------------------------------


def advance(method, plan, x0, sweeps, chain=0, cuts=(), pool=None):
    """The samples (sweeps, N), the sums (N, .) of conditionals, and the state after them.

    The sweeps are run in blocks that end at `cuts`.
    """
    state = method.init(plan, x0, chain=chain, tally=True, total=sweeps)
    parts = []
    for a, b in zip([0, *cuts], [*cuts, sweeps], strict=True):
        block = np.empty((b - a, plan.n_stored), plan.state_type)
        if plan.lattice is None:
            block[:] = plan.store(x0)
        method.advance(plan, state, block, pool)
        parts.append(np.array(plan.unstore(block)))
    assert state.sweep == sweeps
    tally = state.memory.tally.reshape(plan.n_stored, -1)
    return np.concatenate(parts), plan.unstore(tally.T).T, state
