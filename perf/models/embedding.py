"""From how many values on CG with an exchange embedded in its all-reduce takes longer than CG with one beside it, on a machine
that is described.

A message of s bytes costs latency + s / rate, what messages to and fro between two ranks have measured: sending, the way, and
receiving. Embedding saves the latency of n messages to neighbours. For that V values, more than the v of the halo, travel in the
messages of the all-reduce. Where all messages have one latency and one rate the two are even at V - v = n latency rate / 8.
Messages to several neighbours overlap where the CPU waits for the network, so that the latency of one is the most that each of
them can cost.
"""

import dataclasses

from models import equations

SUMS = 9  # numbers of an all-reduce of CAPSTAN CG with a preconditioner


@dataclasses.dataclass(frozen=True)
class Crossover:
    """Of a rank: seconds of an iteration's messages beside each other, and the values that embedding may send for as many."""
    ranks: int
    dimensions: int
    seconds: float
    values: float  # that a rank may send in an all-reduce; up to the halo's: embedding loses at once
    extra: float  # of these more than the halo's, 0 at least

    @property
    def extra_bytes(self):
        return equations.BYTES_PER_NUMBER * self.extra


def dimensions_of(ranks):
    """The largest D with 2^D <= ranks."""
    return ranks.bit_length() - 1


def message(machine, place, numbers):
    """Seconds of one message of so many numbers."""
    size = equations.BYTES_PER_NUMBER * numbers
    link = machine.link(place, size)
    return link.latency + size / link.rate


def beside(machine, place, ranks, neighbours, values):
    """Seconds of an all-reduce and of a halo exchange of `values` numbers in all, with as many for each neighbour."""
    return (dimensions_of(ranks) * message(machine, place, SUMS)
            + neighbours * message(machine, place, values / neighbours))


def embedded(machine, place, ranks, values):
    """Seconds of an all-reduce that carries `values` numbers of a rank, as many in each step."""
    dimensions = dimensions_of(ranks)
    return dimensions * message(machine, place, SUMS + values / dimensions)


def crossover(machine, place, ranks, neighbours, values, hidden=False):
    """hidden: the product hides what the halo's values take, and not what each of its messages costs. ranks: 2 at least."""
    plain = beside(machine, place, ranks, neighbours, 0 if hidden else values)
    low, high = 0.0, float(max(values, 1))
    while embedded(machine, place, ranks, high) < plain:
        low, high = high, 2 * high
    if embedded(machine, place, ranks, low) >= plain:
        high = low
    for _ in range(100):  # halved until both are the same number
        middle = (low + high) / 2
        low, high = (middle, high) if embedded(machine, place, ranks, middle) < plain else (low, middle)
    return Crossover(ranks, dimensions_of(ranks), plain, high, max(0.0, high - values))
