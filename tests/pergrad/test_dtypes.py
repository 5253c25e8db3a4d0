"""dtypes are NumPy's, also of bools, small integers, half and long floats, and of Python's numbers among them."""

import itertools
import operator

import numpy as np
import pytest

import pergrad as pg

DTYPES = ["?", "i1", "u1", "i8", "u8", "f2", "f4", "f8", "g", "F", "D"]
UNARY = """negative positive absolute sign square sqrt cbrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan
sinh cosh tanh arcsinh arccosh arctanh floor ceil trunc rint fabs invert isnan isfinite logical_not signbit deg2rad conjugate real imag
angle round nan_to_num sinc""".split()
BINARY = """add subtract multiply divide floor_divide remainder fmod power float_power maximum minimum fmax fmin arctan2 hypot logaddexp
logaddexp2 copysign heaviside gcd lcm bitwise_and bitwise_or bitwise_xor left_shift right_shift logical_and logical_or equal less""".split()
REDUCTIONS = "sum prod mean var std max min any all argmax cumsum cumprod ptp nansum nanmean nanvar average sort diff count_nonzero".split()
OPERATORS = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / y,
    lambda x, y: x // y,
    lambda x, y: x % y,
    lambda x, y: x**y,
    lambda x, y: x & y,
    lambda x, y: x | y,
    lambda x, y: x << y,
    lambda x, y: x < y,
]
NUMBERS = [True, 2, 3, -1, 0.5, 1j]


def array(dtype):
    return np.array([1, 0, 1] if dtype == "?" else [1, 2, 3]).astype(dtype)


def accepted(functions, *args):
    """The functions that NumPy has for these arguments."""
    found = []
    for f in functions:
        try:
            f(*args)
        except (TypeError, ValueError, OverflowError):
            continue
        found.append(f)
    return found


def assert_numpys(f, *args):
    for got, expected in zip(pg.compile(f)(*args), f(*args), strict=True):
        assert (type(got), np.asarray(got).dtype, np.shape(got)) == (type(expected), np.asarray(expected).dtype, np.shape(expected))
        np.testing.assert_allclose(got, expected, rtol=1e-2 if np.asarray(got).dtype == np.float16 else 1e-5)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", DTYPES)
def test_of_one_array(dtype):
    x = array(dtype)
    chosen = accepted([getattr(np, n) for n in UNARY], x)
    assert_numpys(lambda x: tuple([f(x) for f in chosen]), x)
    assert_numpys(lambda x: tuple([f(x[0]) for f in chosen]), x)
    reductions = accepted([getattr(np, n) for n in REDUCTIONS], x)
    assert_numpys(lambda x: tuple([f(x) for f in reductions]), x)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(("first", "second"), [*itertools.combinations_with_replacement(DTYPES, 2), ("f4", "i1"), ("u8", "?")])
def test_of_two_arrays(first, second):
    x, y = array(first), array(second)
    chosen = accepted([getattr(np, n) for n in BINARY], x, y)
    assert_numpys(lambda x, y: tuple([f(x, y) for f in chosen]), x, y)
    operators = accepted(OPERATORS, x, y)
    assert_numpys(lambda x, y: tuple([f(x, y) for f in operators]), x, y)
    scalars = accepted(OPERATORS, x[0], y[0])
    assert_numpys(lambda x, y: tuple([f(x[0], y[0]) for f in scalars]), x, y)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", NUMBERS, ids=repr)
def test_with_a_number_of_pythons(dtype, number):
    x = array(dtype)
    functions = [*(getattr(np, n) for n in BINARY), *OPERATORS]
    left, right = accepted(functions, x, number), accepted(functions, number, x)
    assert_numpys(lambda x: tuple([f(x, number) for f in left]), x)
    assert_numpys(lambda x: tuple([f(number, x) for f in right]), x)


@pytest.mark.parametrize("number", [np.float32(0.1), np.float16(0.1), np.float32(1 / 3), np.longdouble(1) / 3, np.complex64(0.1 + 0.3j)])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g"])
@pytest.mark.parametrize("op", [operator.add, operator.mul, operator.truediv, np.maximum], ids=lambda f: f.__name__)
def test_a_numpy_scalar_keeps_its_value(number, dtype, op):
    """np.float32(0.1) among float64 is not 0.1."""
    if op is np.maximum and np.iscomplexobj(number):
        return
    x = array(dtype)
    got, expected = pg.compile(lambda x: op(x, number))(x), op(x, number)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)
    assert type(pg.compile(lambda x: op(number, x[0]))(x)) is type(op(number, x[0]))


def test_what_numpy_refuses_for_a_dtype():
    with pytest.raises(TypeError, match="boolean subtract"):
        pg.compile(lambda x: x - x)(array("?"))
    with pytest.raises(TypeError, match="boolean negative"):
        pg.compile(lambda x: -x)(array("?"))
    with pytest.raises(OverflowError, match="out of bounds for uint8"):
        pg.compile(lambda x: x * -1)(array("u1"))
