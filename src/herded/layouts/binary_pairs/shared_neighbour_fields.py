"""Fields of a block whose lanes have the same neighbours, such as a layer of a Boltzmann machine.

Four neighbours have 16 states: the sums of their couplings are tabled once for all members, and
each member adds the row of its state, one addition instead of four. (Arlazarov, Dinic, Kronrod and
Faradzhev multiply matrices of bits so, 1970.) Members change places after it, as fields instead of
as bits of the neighbours. Sums of whole numbers are the same in any order.
"""

from herded.draws.integer_types import I2, U1, U2, U8
from herded.layouts.binary_pairs.herd_arrays import BLOCK_LANES, L2, L3, MEMBERS_PER_UINT64, L
from herded.system.compilation.jit import jit

NEIGHBOURS_PER_TABLE = 16  # neighbours in one pass over the members
TABLE = U8(16 * BLOCK_LANES)
_0, _1, _2, _3, _4, _16, _WORD, _NEIGHBOURS_PER_TABLE = (
    U8(k) for k in (0, 1, 2, 3, 4, 16, MEMBERS_PER_UINT64, NEIGHBOURS_PER_TABLE)
)
EXCHANGE_ROUNDS = 6  # of exchanges, of members 1, 2, 4, .. 32 apart


@jit
def shared_fields_of_word(fields, alone, coupling, rows, rest, states, tables, last):
    """Compute fields (members, BLOCK_LANES) of the members of a word before `last`."""
    for k in range(last):
        for j in range(L):
            fields[k * L + j] = alone[j]
    for row in range(_0, rows, _NEIGHBOURS_PER_TABLE):
        if row + _NEIGHBOURS_PER_TABLE <= rows:
            for t in range(_4):
                fill_sum_table(tables, t * TABLE, coupling, (row + t * _4) * L)
        else:
            fill_up(rest, coupling, row * L, (rows - row) * L)
            for t in range(_4):
                fill_sum_table(tables, t * TABLE, rest, t * _4 * L)
        at = row // _4 * _WORD
        for k in range(last):
            r0, r1 = U8(states[at + k]) * L, U8(states[at + _WORD + k]) * L
            r2, r3 = U8(states[at + _2 * _WORD + k]) * L, U8(states[at + _3 * _WORD + k]) * L
            add_neighbour_group(
                fields, k * L, tables, r0, r1 + TABLE, r2 + _2 * TABLE, r3 + _3 * TABLE
            )


@jit
def number_states(x, words, word, neighbour, first, rows, states):
    """Number the states of four neighbours from 0 to 15, for every member of a word."""
    for row in range(
        _0, (rows + _NEIGHBOURS_PER_TABLE - _1) // _NEIGHBOURS_PER_TABLE * _NEIGHBOURS_PER_TABLE, _4
    ):
        at = row // _4 * _WORD
        a, b, c, d = _0, _0, _0, _0
        if row < rows:  # an even number of them
            a = x[U8(neighbour[first + row * L]) * words + word]
            b = x[U8(neighbour[first + (row + _1) * L]) * words + word]
        if row + _2 < rows:
            c = x[U8(neighbour[first + (row + _2) * L]) * words + word]
            d = x[U8(neighbour[first + (row + _3) * L]) * words + word]
        for k in range(_WORD):
            low = ((a >> k) & _1) | (((b >> k) & _1) << _1)
            high = ((c >> k) & _1) | (((d >> k) & _1) << _1)
            states[at + k] = U1(low | (high << _2))


@jit
def fill_up(rest, coupling, at, count):
    """Fill the couplings of a last pass up with 0."""
    for i in range(U8(NEIGHBOURS_PER_TABLE * BLOCK_LANES)):
        rest[i] = I2(0)
    for i in range(count):
        rest[i] = coupling[at + i]


@jit
def fill_sum_table(tables, to, coupling, at):
    """Tabulate the 16 sums of the couplings of four neighbours, in every lane."""
    for j in range(L):
        c0, c1 = coupling[at + j], coupling[at + L + j]
        c2, c3 = coupling[at + L2 + j], coupling[at + L3 + j]
        c01, c23, o = I2(c0 + c1), I2(c2 + c3), to + j
        put_sums(tables, o, I2(0), c0, c1, c01)
        put_sums(tables, o + U8(4 * BLOCK_LANES), c2, I2(c0 + c2), I2(c1 + c2), I2(c01 + c2))
        put_sums(tables, o + U8(8 * BLOCK_LANES), c3, I2(c0 + c3), I2(c1 + c3), I2(c01 + c3))
        put_sums(tables, o + U8(12 * BLOCK_LANES), c23, I2(c0 + c23), I2(c1 + c23), I2(c01 + c23))


@jit
def put_sums(tables, o, s0, s1, s2, s3):
    """Store one lane of four consecutive rows."""
    tables[o] = s0
    tables[o + L] = s1
    tables[o + L2] = s2
    tables[o + L3] = s3


@jit
def add_neighbour_group(fields, at, tables, r0, r1, r2, r3):
    """Add the contributions of sixteen neighbours to the fields of a member."""
    for j in range(L):
        s01 = I2(tables[r0 + j] + tables[r1 + j])
        s23 = I2(tables[r2 + j] + tables[r3 + j])
        fields[at + j] = I2(fields[at + j] + I2(s01 + s23))


@jit
def exchange_member_fields(fields, mix, first, parts):
    """Exchange members in each lane: bit k of `mix` says whether k and its partner do."""
    for n in range(U8(EXCHANGE_ROUNDS)):
        for j in range(L):
            z = mix[first + n * L + j]
            parts[j] = U2(z)
            parts[L + j] = U2(z >> _16)
            parts[L2 + j] = U2(z >> U8(32))
            parts[L3 + j] = U2(z >> U8(48))
        distance = _1 << n
        for k in range(_WORD):
            if k & distance == _0:
                bit = U2(_1 << (k % _16))
                swap_two_members(fields, k * L, (k + distance) * L, parts, k // _16 * L, bit)


@jit
def swap_two_members(fields, a, b, parts, at, bit):
    """Exchange two members in the lanes that have the bit."""
    for j in range(L):
        one, other = fields[a + j], fields[b + j]
        change = I2(one ^ other) if U2(parts[at + j] & bit) != U2(0) else I2(0)
        fields[a + j] = I2(one ^ change)
        fields[b + j] = I2(other ^ change)


@jit
def take_fields(f, fields, group, slots):
    """Take the fields of a group's members in the order of this visit."""
    for i in range(_16):
        at = (group * _16 + slots[i]) * L
        for j in range(L):
            f[i * L + j] = fields[at + j]
