"""Reverse and batch on branches and loops."""

import pytest

from pergrad.compiler.transforms.reverse import grad

from .check import check_batch, check_grad, check_vjp
from .structured import CASES, arguments, case


@pytest.mark.parametrize("t", [1.3, -0.4], ids=["one way", "the other"])
@pytest.mark.parametrize("name", CASES)
def test_reverse(name, t):
    p, _ = case(name)
    if t < 0 and not any(v.type.shape == () for v in p.params):
        return
    args = arguments(p, t)
    check_grad(p, *args, order=2)
    check_vjp(p, *args)


@pytest.mark.parametrize("name", [n for n in CASES if CASES[n][2]])
def test_batch(name):
    p, mapped = case(name)
    check_batch(p, mapped, sizes=(5, 1, 3))
    check_batch(grad(p, [True] * len(mapped)), mapped, sizes=(5, 2))
