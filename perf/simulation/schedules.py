"""What a rank does in each iteration of a method: products with their exchanges, other work, reductions.

Work is counted in operations for each row of the rank, as the sources in METHODS have it; there is no preconditioner. An
iteration of one method need not be worth one of another: ECG needs fewer, GMRES fewer than CG.
"""

import dataclasses
from typing import Callable, List, Union

MIDDLE = 15  # basis vectors of GMRES methods in the middle of a cycle of 30


@dataclasses.dataclass(frozen=True)
class Product:
    """The product with a block of `columns` vectors; its exchange is under way during the local work."""
    columns: int = 1


@dataclasses.dataclass(frozen=True)
class LocalProduct:
    """The product with a vector of which all that it needs is here: no message."""


@dataclasses.dataclass(frozen=True)
class Work:
    """Operations: so many for each row, so many whatever the rows, and so many for each value of the halo."""
    of_a_row: float
    fixed: float = 0.0
    of_a_halo_value: float = 0.0


@dataclasses.dataclass(frozen=True)
class Reduce:
    """A sum of `numbers` numbers over all ranks, waited for."""
    numbers: int


@dataclasses.dataclass(frozen=True)
class EmbeddedReduce:
    """Likewise, and the messages carry the values of an exchange."""
    numbers: int


@dataclasses.dataclass(frozen=True)
class Start:
    """Likewise, waited for after `lag` further iterations, at the place of a Wait."""
    numbers: int
    lag: int


@dataclasses.dataclass(frozen=True)
class Wait:
    """For the reduction that is due in this iteration, if any."""


Operation = Union[Product, LocalProduct, Work, Reduce, EmbeddedReduce, Start, Wait]


@dataclasses.dataclass(frozen=True)
class Method:
    name: str
    source: str
    iteration: Callable[[int], List[Operation]]  # of its number, from 0
    period: int = 1  # iterations after which all is the same again


def _cg(_):
    return [Product(), Reduce(1), Work(6), Reduce(1), Work(4)]


def _single_reduction_cg(_):
    # x, r and p; four inner products at once.
    return [Product(), Work(8), Reduce(4), Work(6)]


def _embedded_cg(_):
    # CG with a single reduction, and what the halo's values of z and p take.
    return [LocalProduct(), Work(8), EmbeddedReduce(4), Work(6, of_a_halo_value=4)]


def _pipelined_cg(depth):
    return lambda _: [Wait(), Product(), Work(6 * depth + 10), Start(depth + 1, depth)]


def _gmres(_):
    # Delayed CGS2: two Gram products with the basis in one pass, and two updates; one reduction.
    j = MIDDLE
    return [Product(), Work(4 * j), Reduce(2 * (j + 1)), Work(4 * j)]


def _blocks(s, orthogonalise):
    """s products, then a block is made orthogonal."""
    return lambda k: [Product(), *(orthogonalise if k % s == s - 1 else [])]


def _sstep_gmres(s):
    j = MIDDLE + s // 2  # with the vectors of the block
    return _blocks(s, [Work(4 * j * s), Reduce(2 * s * j), Work(4 * j * s)])


def _sstep_gmres_cgs(s):
    # [low-sync], Fig. 4: 2 reductions, 4 s j + 2 s^2.
    j = MIDDLE
    return _blocks(s, [Work(2 * s * j), Reduce(s * j), Work(2 * s * j), Work(s * s), Reduce(s * s), Work(s * s)])


def _sstep_gmres_cgs2(s):
    # Likewise: 4 reductions, 8 s j + 4 s^2.
    j = MIDDLE
    return _blocks(s, 2 * [Work(2 * s * j), Reduce(s * j), Work(2 * s * j)] + 2 * [Work(s * s), Reduce(s * s), Work(s * s)])


def _sstep_gmres_mgs(s):
    # Likewise: j reductions, 4 s j + 2 s^2. One vector of the basis after the other.
    j = MIDDLE
    return _blocks(s, (j - 1) * [Work(2 * s), Reduce(s), Work(2 * s)] + [Work(4 * s + s * s), Reduce(s * s), Work(s * s)])


def _sstep_gmres_single_mgs(s):
    # Likewise: 1 reduction, 6 s j + 2 s^2.
    j = MIDDLE
    return _blocks(s, [Work(2 * s * j + s * s), Reduce(2 * s * j), Work(4 * s * j + s * s)])


def _pipelined_sstep_gmres(t):
    # A block's reduction is under way during the t products of the next block.
    return _blocks(t, [Wait(), Work(4 * t * MIDDLE), Start(t * (MIDDLE + t), t)])


def _pipelined_gmres(_):
    return [Product(), Wait(), Work(4 * MIDDLE), Start(MIDDLE + 1, 1)]


def _ecg(t):
    # [enlarged-cg], Alg. 4 and equation (3.3).
    return lambda _: [Product(t), Work(2 * t * t), Reduce(t * t), Work(2 * t * t, t ** 2 / 2 + t ** 3 / 3), Reduce(3 * t * t),
                      Work(4 * t)]


METHODS = {
    "cg": Method("CG of Hestenes and Stiefel", "[deep-pipelined-cg], Table 1: 10 operations a row, two reductions", _cg),
    "capstan-cg": Method("CAPSTAN CG", "[Chen and Carson 2020] without a preconditioner", _single_reduction_cg),
    **{f"pipelined-cg-{depth}": Method(f"CAPSTAN CG PIPELINE, l = {depth}",
                                       "[deep-pipelined-cg], Table 1: 6 l + 10 operations a row", _pipelined_cg(depth))
       for depth in (1, 2, 3, 5)},
    "gmres": Method("CAPSTAN GMRES", "[low-sync], delayed CGS2, in the middle of a cycle of 30", _gmres),
    "sstep-gmres": Method("CAPSTAN GMRES S-STEP, s = 5", "[low-sync], single-reduce CGS2, likewise", _sstep_gmres(5), 5),
    "sstep-gmres-cgs": Method("s-step GMRES with CGS and CholQR, s = 5", "[low-sync], Fig. 4, likewise", _sstep_gmres_cgs(5), 5),
    "sstep-gmres-cgs2": Method("s-step GMRES with CGS2 and CholQR2, s = 5", "[low-sync], Fig. 4, likewise", _sstep_gmres_cgs2(5), 5),
    "sstep-gmres-mgs": Method("s-step GMRES with MGS and CholQR, s = 5", "[low-sync], Fig. 4, likewise", _sstep_gmres_mgs(5), 5),
    "sstep-gmres-mgs1": Method("CAPSTAN GMRES S-STEP, single-reduce MGS, s = 5", "[low-sync], Fig. 4, likewise",
                               _sstep_gmres_single_mgs(5), 5),
    "pipelined-sstep-gmres": Method("CAPSTAN GMRES S-STEP PIPELINE, s = 5, one block in flight", "[pipelined-and-s-step], likewise",
                                    _pipelined_sstep_gmres(5), 5),
    "pipelined-gmres": Method("CAPSTAN GMRES PIPELINE, l = 1", "[pipelined-and-s-step], Fig. 2, likewise", _pipelined_gmres),
    **{f"ecg-{t}": Method(f"CAPSTAN CG ENLARGED, t = {t}", "[enlarged-cg], Alg. 4", _ecg(t)) for t in (5, 10, 20)},
}
EMBEDDED_CG = Method("CAPSTAN CG EMBEDDED", "[embedded-cg], Alg. 4, with the operations of CAPSTAN CG", _embedded_cg)
