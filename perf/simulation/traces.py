"""Schedules as time-independent traces for SimGrid's replay: one file a rank.

A reduction in flight is a sum by recursive doubling, of messages of its own: the traces of SimGrid 3.32 know no nonblocking
reduction. Its stages are spread evenly over the places between its start and its wait at which MPI would be called: four in
each iteration. At such a place a rank waits for a stage's message and sends the next one. Ranks beyond the largest power of two
fold in. An all-reduce that carries an exchange has its messages from the plan.
"""

import collections

import schedules

BYTE = 6  # MPI_BYTE, as the replay numbers datatypes
BYTES = 8  # of a number
PLACES = 4  # in an iteration at which a pending reduction may go on
STEPS = ("local", "gather", "network", "scatter")
FIRST_TAG_OF_REDUCTIONS = 100


class Exchange:
    """What every rank sends and receives in an exchange, by step: {step: [(peer, values)]}."""

    def __init__(self, ranks, messages):
        """messages: (step, sender, receiver, values)."""
        self.sends = [collections.defaultdict(list) for _ in range(ranks)]
        self.receives = [collections.defaultdict(list) for _ in range(ranks)]
        for step, sender, receiver, values in messages:
            self.sends[sender][step].append((receiver, values))
            self.receives[receiver][step].append((sender, values))


class EmbeddedExchange:
    """The messages of an all-reduce that carries an exchange; by rank and step, in order: [(step, partner, values sent, values
    received)], None for none."""

    def __init__(self, ranks, messages):
        """messages: (step, sender, receiver, values), those without values too."""
        steps = [collections.defaultdict(lambda: [None, None]) for _ in range(ranks)]
        for step, sender, receiver, values in messages:
            steps[sender][step, receiver][0] = values
            steps[receiver][step, sender][1] = values
        self.steps = [[(*key, *values) for key, values in sorted(one.items())] for one in steps]


def doubling(rank, ranks):
    """Stages of a sum by recursive doubling: [(partner, sends, receives)], the partner None where the rank has nothing to do."""
    power = 1
    while 2 * power <= ranks:
        power *= 2
    rest, stages = ranks - power, []
    inner = [(rank ^ bit, True, True) for bit in (1 << k for k in range(power.bit_length() - 1))]
    if rank >= power:
        return [(rank - power, True, False), *[(None, False, False)] * len(inner), (rank - power, False, True)]
    if rest:
        stages = [(rank + power, False, True) if rank < rest else (None, False, False)]
    stages += inner
    if rest:
        stages.append((rank + power, True, False) if rank < rest else (None, False, False))
    return stages


class RankTrace:
    """Writes the trace of one rank."""

    def __init__(self, rank, ranks, rows, entries, exchanges, embedded=None):
        """rows, entries: of a rank. exchanges: number of columns to Exchange. embedded: EmbeddedExchange, if there is one."""
        self.rank, self.rows, self.entries, self.exchanges, self.embedded = rank, rows, entries, exchanges, embedded
        received = exchanges[1].receives[rank].values() if 1 in exchanges else ()
        self.halo = sum(values for step in received for _, values in step)
        self.stages = doubling(rank, ranks)
        self.lines = [f"{rank} init"]
        self.pending = []  # of reductions: [number, bytes, stages done, places passed, places in all, iteration it is due in]
        self.reductions = 0

    def say(self, *words):
        self.lines.append(" ".join(map(str, (self.rank, *words))))

    def run(self, method, iterations):
        for k in range(iterations):
            operations = method.iteration(k)
            for operation in operations:
                self.do(operation, k)
            self.fill_places(operations)
        while self.pending:
            self.finish(self.pending.pop(0))
        self.say("finalize")
        return self.lines

    def do(self, operation, k):
        if isinstance(operation, schedules.Product):
            self.product(operation.columns)
        elif isinstance(operation, schedules.Work):
            self.compute(operation.of_a_row * self.rows + operation.fixed + operation.of_a_halo_value * self.halo)
            self.place()
        elif isinstance(operation, schedules.LocalProduct):
            self.compute(2 * self.entries)
            self.place()
        elif isinstance(operation, schedules.EmbeddedReduce):
            self.embedded_reduction(operation.numbers)
        elif isinstance(operation, schedules.Reduce):
            self.say("allreduce", operation.numbers, 0, 0)
        elif isinstance(operation, schedules.Start):
            self.reductions += 1
            self.pending.append([self.reductions, operation.numbers * BYTES, 0, 0, operation.lag * PLACES, k + operation.lag])
            self.post(self.pending[-1])
        else:
            while self.pending and self.pending[0][5] <= k:
                self.finish(self.pending.pop(0))

    def compute(self, operations):
        if operations > 0:
            self.say("compute", f"{operations:.0f}")

    def fill_places(self, operations):
        """The rest of an iteration's places: a product has two, each work one."""
        had = sum(2 if isinstance(one, schedules.Product) else isinstance(one, schedules.Work) for one in operations)
        for _ in range(PLACES - had):
            self.place()

    def place(self):
        """Lets each pending reduction do its share of stages."""
        for reduction in self.pending:
            reduction[3] += 1
            wanted = len(self.stages) * min(reduction[3], reduction[4]) // reduction[4]
            self.advance(reduction, wanted)

    def finish(self, reduction):
        self.advance(reduction, len(self.stages))

    def advance(self, reduction, wanted):
        """Waits for stages until `wanted` are done; the next one is then under way."""
        tag = self.tag(reduction)
        while reduction[2] < wanted:
            partner, sends, receives = self.stages[reduction[2]]
            if sends:
                self.say("wait", self.rank, partner, tag)
            if receives:
                self.say("wait", partner, self.rank, tag)
            reduction[2] += 1
            self.post(reduction)

    def post(self, reduction):
        """Begins the stage that comes next, if any."""
        if reduction[2] == len(self.stages):
            return
        partner, sends, receives = self.stages[reduction[2]]
        if receives:
            self.say("irecv", partner, self.tag(reduction), reduction[1], BYTE)
        if sends:
            self.say("isend", partner, self.tag(reduction), reduction[1], BYTE)

    @staticmethod
    def tag(reduction):
        return FIRST_TAG_OF_REDUCTIONS + reduction[0] % 1000

    def product(self, columns):
        exchange = self.exchanges[columns]
        sends, receives = exchange.sends[self.rank], exchange.receives[self.rank]
        size = columns * BYTES
        for number, step in enumerate(STEPS):
            for peer, values in receives[step]:
                self.say("irecv", peer, number, values * size, BYTE)

        def send(step):
            for peer, values in sends[step]:
                self.say("isend", peer, STEPS.index(step), values * size, BYTE)

        def wait(step):
            for peer, _ in receives[step]:
                self.say("wait", peer, self.rank, STEPS.index(step))

        send("gather")
        send("local")
        wait("gather")
        send("network")
        self.compute(self.entries * columns)  # half of the product's operations
        self.place()
        wait("network")
        send("scatter")
        self.compute(self.entries * columns)
        self.place()
        wait("local")
        wait("scatter")
        for number, step in enumerate(STEPS):
            for peer, _ in sends[step]:
                self.say("wait", self.rank, peer, number)

    def embedded_reduction(self, numbers):
        for step, partner, sent, received in self.embedded.steps[self.rank]:
            if received is not None:
                self.say("irecv", partner, step, (numbers + received) * BYTES, BYTE)
            if sent is not None:
                self.say("isend", partner, step, (numbers + sent) * BYTES, BYTE)
                self.say("wait", self.rank, partner, step)
            if received is not None:
                self.say("wait", partner, self.rank, step)
