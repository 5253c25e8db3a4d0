"""The linter on function objects: captures are read from the object."""

import functools

import numpy as np
import pytest

from pergrad.compiler.lint import lint_function, to_error

SEEN: list[object] = []
TABLE = np.ones(3)
RNG = np.random.default_rng(0)
FLAG = False


def found(func, *args, **kwargs):
    return [(d.code, d.severity, d.line - func.__code__.co_firstlineno) for d in lint_function(func, *args, **kwargs)]


def helper(v):
    return v if v > 0 else 0.0


def program(x, t):
    SEEN.append(t)
    TABLE[0] = x[0]
    if FLAG and x > 0:
        return x
    return x[0] + t.sum() + RNG.normal()


def test_captures_are_what_they_are():
    assert found(program, (0, None)) == [("PGR602", "error", 1), ("PGR301", "error", 2), ("PGR501", "error", 5)]


def test_randomness_is_that_of_the_call():
    assert ("PGR501", "error", 5) not in found(program, (0, None), randomness="different")


def test_per_sample_grad_shares_argnums():
    def loss(w, x):
        if w > 0:
            x = -x
        return w if x > 0 else x

    assert found(loss, api="per_sample_grad") == [("PGR101", "error", 3)]
    assert found(loss, (0, 0), api="per_sample_grad") == [("PGR101", "error", 1), ("PGR101", "error", 3)]
    assert found(loss, argnums=1, api="per_sample_grad") == [("PGR101", "error", 1)]


def test_helpers_are_followed():
    def f(x):
        return helper(x)

    assert [d.code for d in lint_function(f)] == ["PGR101"]


def test_closures():
    def make(k, items):
        def g(x):
            nonlocal k
            k += 1
            items.append(1)
            if k > 3:
                x = -x
            return x

        return g

    g = make(1, [])
    assert found(g) == [("PGR601", "error", 2), ("PGR602", "error", 3)]


class Model:
    def __init__(self):
        self.running_mean = np.zeros(2)
        self.flag = False

    def __call__(self, x):
        self.running_mean = x
        return x if self.flag and x > 0 else -x

    def method(self, x):
        return float(x)


def test_objects_methods_and_partials():
    model = Model()
    assert [d.code for d in lint_function(model)] == ["PGR603"]
    model.flag = True
    assert [d.code for d in lint_function(model)] == ["PGR603", "PGR101"]
    assert [d.code for d in lint_function(model.method)] == ["PGR202"]
    assert [d.code for d in lint_function(functools.partial(program, t=TABLE))] == ["PGR602", "PGR301", "PGR501"]


def test_lambdas_on_one_line():
    first, second = (lambda x: x * 2), (lambda x: x if x > 0 else 1)
    assert lint_function(first) == []
    assert [d.code for d in lint_function(second)] == ["PGR101"]


@pytest.mark.parametrize("func", [len, np.sin, np.nonzero, functools.partial(np.sum, axis=0), eval("lambda x: bool(x)")])
def test_functions_without_source_give_nothing(func):
    assert lint_function(func) == []


def test_one_error_holds_every_proven_finding():
    error = to_error(lint_function(program, (0, None)))
    assert error is not None and error.code == "PGR602" and isinstance(error, RuntimeError)
    text = str(error)
    for part in ("PGR602", "SEEN", "return", "PGR301", "TABLE", "unbatched", "captured", "PGR501", "RNG.normal", "'different'", "'same'"):
        assert part in text
    assert to_error(lint_function(helper, None)) is not None
    assert to_error(lint_function(lambda x: x)) is None
