"""Derivatives of programs with branches and loops, first and second, alone and batched, mean the same after optimization."""

import numpy as np
import pytest

from pergrad.compiler.core.types import Size
from pergrad.compiler.core.verify import verify
from pergrad.compiler.optimize import optimize, simplify
from pergrad.compiler.transforms.batch import batch
from pergrad.compiler.transforms.forward import jvp
from pergrad.compiler.transforms.reverse import grad

from ..interpret import interpret
from ..transforms.check import array_for, combined, differentiable
from ..transforms.structured import CASES, arguments, case


def same(before, after, *arrays):
    verify(after)
    for x, y, r, s in zip(interpret(before, *arrays), interpret(after, *arrays), before.results, after.results, strict=True):
        assert r.type == s.type
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    p, mapped = case(name)
    wanted = differentiable(p)
    first = grad(p, wanted)
    second = grad(combined(simplify(first), sum(wanted)), wanted)
    forward = jvp(p, wanted)
    programs = [p, first, second]
    for t in (1.3, -0.4):
        for q in programs:
            same(q, optimize(q), *arguments(q, t))
        same(forward, optimize(forward), *arguments(forward, t))
    if not mapped:
        return
    for q in (first, second):
        batched, _ = batch(simplify(q), mapped, Size.named("B"))
        arrays = [array_for(v.type, np.random.default_rng(4), {"B": 5}) for v in batched.params]
        same(batched, optimize(batched), *arrays)
