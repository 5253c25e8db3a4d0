"""Programs made at random, full of writes, views, loops and branches under few names: the emitted function computes what the Program
means, however it is printed, and its results are its own."""

import itertools
import random

import numpy as np
import pytest

from pergrad.compiler.backend.compile import compile_program
from pergrad.compiler.backend.signature import Signature
from pergrad.compiler.ops.indexing import Slot
from tests.compiler.backend.writing import add_at, array, branch, loop, named, np_, program, repeat, scalar, write
from tests.compiler.interpret import interpret

N = 4
NAMES = [None, None, "x", "y", "h", "d_x", "d_h"]
VARIANTS = [{}, *({k: False} for k in ("fold", "share", "in_place")), {"fold": False, "share": False, "in_place": False}]


class Maker:
    """Random values of shape (4,) from those at hand."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def name(self, value):
        name = self.random.choice(NAMES)
        return named(value, name) if name else value

    def fresh(self, pool):
        r = self.random
        a, b = r.choice(pool), r.choice(pool)
        kind = r.randrange(13)
        if kind == 0:
            return np_.tanh(a + b)
        if kind == 1:
            return a * 0.5 - b
        if kind == 2:
            return a[::-1]
        if kind == 3:
            return np_.ravel(np_.transpose(np_.reshape(a, (2, 2))))
        if kind == 4:
            return write(a, b[1:3], slice(1, 3))
        if kind == 5:
            return write(a, r.choice([0.0, b[0], 2.0]), r.randrange(N))
        if kind == 6:
            return add_at(a, b[:2], slice(2, 4))
        if kind == 7:
            return add_at(a, b[:3], Slot(0), [np.array([0, 2, 0])])
        if kind == 8:
            return np_.zeros(N)
        if kind == 9:
            return np_.broadcast_to(a[0], (N,)) if r.random() < 0.5 else np_.squeeze(np_.expand_dims(a, 0), 0)
        if kind == 10:
            part = a[1:3]
            whole = write(a, b[:2], slice(1, 3))
            return np_.concatenate([part, r.choice([part, whole[2:]])]) + whole
        if kind == 11:
            return a + np_.sum(b) * 0.25
        return np_.maximum(a, b)

    def extend(self, pool, depth, steps):
        for _ in range(steps):
            kind = self.random.random()
            if kind < 0.7 or depth == 0:
                pool.append(self.name(self.fresh(pool)))
            elif kind < 0.8:
                pool.extend(self.branch(pool, depth - 1))
            elif kind < 0.93:
                pool.extend(self.loop(pool, depth - 1))
            else:
                pool.extend(self.repeat(pool, depth - 1))

    def some(self, pool, least=1, most=3):
        return [self.random.choice(pool) for _ in range(self.random.randint(least, most))]

    def branch(self, pool, depth):
        count = self.random.randint(1, 2)
        pred = np_.sum(self.random.choice(pool)) > 0.3

        def inside():
            own = list(pool)
            self.extend(own, depth, self.random.randint(0, 3))
            return [self.random.choice(own[-4:]) for _ in range(count)]

        return branch(pred, inside, inside, [self.random.choice(NAMES) for _ in range(count)])

    def loop(self, pool, depth):
        inits = self.some(pool)
        stacked = self.random.randrange(3)
        xs = [np_.reshape(self.random.choice(pool), (2, 2))] if self.random.random() < 0.3 else []
        length = 2 if xs else self.random.choice([0, 1, 3])

        def body(i, *inner):
            carries = list(inner[: len(inits)])
            own = [*pool[-3:], *carries, *carries, *(np_.concatenate([x, x]) for x in inner[len(inits) :])]
            own.append(own[0] * i)
            self.extend(own, depth, self.random.randint(1, 4))
            return [self.random.choice(own[-6:]) for _ in range(len(inits) + stacked)]

        outs = loop(length, inits, [self.random.choice(NAMES) for _ in inits], body, xs=xs, reverse=self.random.random() < 0.4)
        return [*outs[: len(inits)], *(np_.sum(y, axis=0) for y in outs[len(inits) :])]

    def repeat(self, pool, depth):
        inits = self.some(pool, 1, 2)

        def cond(count, *carries):
            return np_.sum(carries[0]) * 0.0 + count < 3.0

        def body(count, *carries):
            own = [*pool[-3:], *carries]
            self.extend(own, depth, self.random.randint(1, 3))
            return [count + 1.0, *(self.random.choice(own[-4:]) for _ in range(len(inits) + 1))]

        outs = repeat(
            [np.float64(0.0), *inits], ["n", *(self.random.choice(NAMES) for _ in inits)], cond, body, counted=self.random.random() < 0.5
        )
        return [*outs[1 : 1 + len(inits)], np_.sum(outs[1 + len(inits)], axis=0)]


def random_program(seed):
    maker = Maker(seed)
    params = [array("x", N), array("y", N), scalar("c")]

    def function(x, y, c):
        pool = [x, y, x * c]
        maker.extend(pool, 2, 8)
        return tuple(maker.some(pool[-6:] + [x], 1, 4))

    return program(params, function)


@pytest.mark.parametrize("seed", range(300))
def test_every_way_of_printing_computes_the_program(seed):
    made = random_program(seed)
    rng = np.random.default_rng(seed)
    arguments = [rng.normal(size=N), rng.normal(size=N), np.float64(rng.normal())]
    with np.errstate(all="ignore"):
        wanted = interpret(made, *arguments)
    for options in VARIANTS:
        function, source = compile_program(made, Signature.flat("f", ["x", "y", "c"], len(made.results)), **options)
        given = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        with np.errstate(all="ignore"):
            got = function(*given)
        got = got if len(made.results) > 1 else (got,)
        for a, b in zip(got, wanted, strict=True):
            assert a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True), f"{options}\n{source}\n{a}\n{b}"
        for a, b in zip(given, arguments, strict=True):
            assert np.array_equal(a, b), f"{options} writes to its argument\n{source}"
        for a, b in itertools.combinations([*got, *given], 2):
            assert not np.shares_memory(a, b), f"{options} gives shared memory\n{source}"
        assert all(a.flags.writeable for a in got), f"{options}\n{source}"
