"""Text made of values: printed as the loop prints it, and no result."""

import sys

import numpy as np
import pytest

import pergrad as pg

X = np.arange(12.0).reshape(4, 3)


def told(x):
    total = np.sum(x)
    print(f"sum {total}", "{}", total, end="|\n")
    print("first " + str(x[0]) + "!", repr(x), sep=" - ", file=sys.stdout)
    print(f"{total:.3f} of {x!r} in {{}} {x.shape}", format(total, ".1f"), f"{np.arange(2)}")
    return total**2


@pytest.mark.parametrize("transform", [pg.grad, pg.compile, pg.functionalize, lambda f: lambda x: pg.jvp(f, (x,), (x,)), pg.hessian])
def test_prints_as_python_does(transform, capsys):
    told(X[1])
    expected = capsys.readouterr().out
    f = transform(told)
    for _ in range(2):
        f(X[1])
        assert capsys.readouterr().out == expected


def test_of_a_batch_the_whole_is_printed(capsys):
    def one(x):
        print(f"sum {np.sum(x):.2f}", end="")
        return np.sum(x)

    pg.vmap(pg.grad(one))(X)
    assert capsys.readouterr().out == f"sum {X.sum(axis=1)}"


def test_the_emitted_source_prints_an_f_string():
    source = pg.grad(told).source(X[0])
    assert 'print(f"sum {total}", "{}", total, end="|\\n")' in source and "{total:.3f} of {x!r} in {{}} (3,)" in source


@pytest.mark.parametrize("text", [str, repr, lambda x: f"a {x}", lambda x: "a" + str(x[0]), lambda x: {"key": [format(x)]}])
@pytest.mark.parametrize("transform", [pg.compile, lambda f: lambda x: pg.vmap(f, out_dims=None)(x)])
def test_text_is_no_result(text, transform):
    with pytest.raises(NotImplementedError, match="text with a value that is known only at run time is returned"):
        transform(text)(X)


def test_text_of_what_is_known_is_a_result():
    assert pg.compile(lambda x: (x, f"{np.arange(2)} {x.shape} {np.eye(1)!s}"))(X)[1] == "[0 1] (4, 3) [[1.]]"
