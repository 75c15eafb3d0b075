"""Mean field and belief propagation, over whole tables and with probabilities, not logarithms."""

import numpy as np

from tests.conformance.twins.factors import scopes_and_tables


def naive_mean_field(model, damping, updates, sweeps):
    """q_i <- (1 - D) q_i + D q_i^new, written out; returns q (N, K) and the bound of log Z."""
    cards, factors = [int(k) for k in model.cardinalities], scopes_and_tables(model)
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
    cards, factors = [int(k) for k in model.cardinalities], scopes_and_tables(model)
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
