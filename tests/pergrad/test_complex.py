"""Complex numbers: cotangents are torch's (the real parts' plus i times the imaginary parts'), Jacobians are for real functions."""

import numpy as np
import pytest

import pergrad as pg

RNG = np.random.default_rng(7)
Z, W = (RNG.normal(size=3) + 1j * RNG.normal(size=3) for _ in range(2))
M = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))
X, X4, X24 = RNG.normal(size=3), RNG.normal(size=4), RNG.normal(size=(2, 4))

REAL = {
    "absolute": (lambda z: np.sum(np.abs(z) ** 3), Z),
    "parts": (lambda z: np.sum(z.real**2 + np.imag(z) ** 3), Z),
    "conjugate": (lambda z: np.sum((z * np.conj(z) * z).real), Z),
    "exponentials": (lambda z: np.sum(np.abs(np.exp(z) + np.log(z) + np.sqrt(z))), Z),
    "trigonometry": (lambda z: np.sum(np.imag(np.sin(z) * np.cos(z) / z + np.tanh(z) + np.arctan(z))), Z),
    "power": (lambda z: np.sum(np.real(z**3)), Z),
    "angle": (lambda z: np.sum(np.angle(z)), Z),
    "real and complex": (lambda x, z: np.sum(np.abs(x * z + x)), X, Z),
    "matrix product": (lambda m, z: np.sum(np.abs(m @ z) ** 2), M, Z),
    "vdot": (lambda z, w: np.real(np.vdot(z, w)), Z, W),
    "vecdot": (lambda z, w: np.abs(np.vecdot(z, w)), Z, W),
    "outer": (lambda z, w: np.sum(np.abs(np.outer(z, w) + 1j)), Z, W),
    "index and slices": (lambda z: np.abs(z[1]) * np.real(z[0]) + np.sum(np.abs(z[1:] - z[:-1])), Z),
    "where": (lambda z: np.sum(np.abs(np.where(z.real > 0, z, 2 * z))), Z),
    "product": (lambda z: np.abs(np.prod(z) + np.cumprod(z)[1]), Z),
    "joined": (lambda z, w: np.sum(np.abs(np.concatenate([z, 2j * w]))), Z, W),
    "variance": (lambda z: np.var(z) + np.std(z), Z),
    "norm": (lambda z: np.linalg.norm(z), Z),
    "solve": (lambda m, z: np.sum(np.abs(np.linalg.solve(m, z))), M, Z),
    "inverse": (lambda m: np.sum(np.abs(np.linalg.inv(m))) + np.abs(np.linalg.det(m)), M),
    "written": (lambda z: np.sum(np.abs(_written(z))), Z),
    "written parts": (lambda z: np.sum(np.abs(_written_parts(z)) ** 2), Z),
    "loop": (lambda z: np.abs(_loop(z)), Z),
    "fft": (lambda x: np.sum(np.abs(np.fft.fft(x)) ** 3), X4),
    "fft of complex": (lambda z: np.sum(np.abs(np.fft.fft(z, 5)) + np.abs(np.fft.ifft(z, 2))[0]), Z),
    "rfft": (lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 2), X4),
    "rfft of an odd number": (lambda x: np.sum(np.abs(np.fft.rfft(x, norm="ortho"))), X),
    "irfft": (lambda z: np.sum(np.fft.irfft(z) ** 3), Z),
    "irfft of an odd number": (lambda z: np.sum(np.fft.irfft(z, 5) ** 3), Z),
    "fft2": (lambda x: np.sum(np.abs(np.fft.fft2(x)) + np.abs(np.fft.rfft2(x)).sum()), X24),
    "convolution": (lambda x, y: np.sum(np.fft.ifft(np.fft.fft(x) * np.fft.fft(y)).real ** 2), X, X[::-1].copy()),
    "phases": (lambda x: np.sum(np.real(np.exp(1j * x))), X),
    "float32": (lambda z: np.sum(np.abs(z) ** 2), Z.astype(np.complex64)),
}


def _written(z):
    y = z.copy()
    y[1:] *= 1j * z[0]
    return y


def _written_parts(z):
    y = z * 1.0
    y.real[1:] = y.imag[:-1] * 2.0
    y.imag += y.real
    y[:1].real = y[2].imag
    return y


def _loop(z):
    total = 1.0 + 0j
    for i in range(12):
        total = total * (z[i % 3] + 0.1)
    return total


def by_parts(f, args):
    """Central differences along the real and the imaginary axis of every element: real part plus i times the other."""
    out = []
    for k, x in enumerate(args):
        g = np.zeros(x.shape, np.complex128)
        step = 1e-2 if x.dtype == np.complex64 else 1e-6
        for unit in (1, 1j) if np.iscomplexobj(x) else (1,):
            for at in np.ndindex(x.shape):
                e = np.zeros_like(x)
                e[at] = unit * step
                ends = [f(*(y + sign * e if j == k else y for j, y in enumerate(args))) for sign in (1, -1)]
                g[at] += unit * (float(ends[0]) - float(ends[1])) / (2 * step)
        out.append(g if np.iscomplexobj(x) else g.real)
    return out


@pytest.mark.parametrize("name", REAL)
def test_gradients(name):
    f, *args = REAL[name]
    argnums = tuple(range(len(args)))
    expected = by_parts(f, args)
    got = pg.grad(f, argnums=argnums)(*args)
    pulled = pg.vjp(f, *args)[1](1.0)
    tangents = [np.full_like(x, 0.3 - 0.7j if np.iscomplexobj(x) else 0.3) for x in args]
    along = sum(np.sum((np.conj(g) * t).real) for g, t in zip(expected, tangents))
    for g, p, e, x in zip(got, pulled, expected, args, strict=True):
        assert g.dtype == p.dtype == x.dtype
        np.testing.assert_allclose(g, e, rtol=1e-3 if x.dtype == np.complex64 else 1e-6, atol=1e-6)
        np.testing.assert_allclose(p, g, rtol=1e-5)
    value, pushed = pg.jvp(f, tuple(args), tuple(tangents))
    np.testing.assert_allclose(value, f(*args), rtol=1e-6)
    np.testing.assert_allclose(pushed, along, rtol=1e-3 if args[0].dtype == np.complex64 else 1e-6, atol=1e-7)
    np.testing.assert_allclose(pg.linearize(f, *args)[1](*tangents), pushed, rtol=1e-5)
    batch = [np.stack([x, x]) for x in args]
    for g, e in zip(pg.vmap(pg.grad(f, argnums=argnums))(*batch), got):
        np.testing.assert_allclose(g, np.stack([e, e]), rtol=1e-5)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda z: z * z, (Z,)),
        (lambda x: np.exp(1j * x), (X,)),
        (lambda z, w: np.conj(z) * w, (Z, W)),
        (lambda m, z: m @ z, (M, Z)),
        (lambda x: np.fft.rfft(x), (X4,)),
        (lambda z: np.fft.irfft(z), (Z,)),
        (lambda x, z: (x * z, np.abs(z)), (X, Z)),
    ],
)
def test_pullbacks_of_complex_outputs(f, args):
    """<ct, J t> is the same real number by either mode."""
    rng = np.random.default_rng(1)
    like = lambda x: rng.normal(size=x.shape) + (1j * rng.normal(size=x.shape) if np.iscomplexobj(x) else 0)  # noqa: E731
    out, pullback = pg.vjp(f, *args)
    outs = out if isinstance(out, tuple) else (out,)
    cts, tangents = [like(y) for y in outs], tuple(like(x) for x in args)
    pushed = pg.jvp(f, args, tangents)[1]
    pushed = pushed if isinstance(pushed, tuple) else (pushed,)
    step = 1e-6
    ends = [f(*(x + s * step * t for x, t in zip(args, tangents))) for s in (1, -1)]
    ends = [e if isinstance(e, tuple) else (e,) for e in ends]
    for p, a, b in zip(pushed, *ends, strict=True):
        np.testing.assert_allclose(p, (a - b) / (2 * step), rtol=1e-6, atol=1e-6)
    inner = lambda xs, ys: sum(np.sum((np.conj(x) * y).real) for x, y in zip(xs, ys, strict=True))  # noqa: E731
    pulled = pullback(tuple(cts) if isinstance(out, tuple) else cts[0])
    np.testing.assert_allclose(inner(pulled, tangents), inner(cts, pushed), rtol=1e-10)
    assert [p.dtype for p in pulled] == [x.dtype for x in args]


def test_second_order():
    """The Hessian of a real function through complex values."""
    x = np.array([0.3, -0.7])
    f = lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2) + np.real(np.exp(1j * x[0] * x[1]))  # noqa: E731
    step = 1e-5
    expected = np.stack([(pg.grad(f)(x + step * e) - pg.grad(f)(x - step * e)) / (2 * step) for e in np.eye(2)])
    np.testing.assert_allclose(pg.hessian(f)(x), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(pg.jacfwd(pg.grad(f))(x), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("transform", ["jacrev", "jacfwd", "hessian"])
def test_jacobians_are_for_real_functions(transform):
    with pytest.raises(pg.PergradError, match=f"{transform}.* is for real arguments"):
        getattr(pg, transform)(lambda z: np.sum(np.abs(z)))(Z)
    with pytest.raises(pg.PergradError, match=f"{transform}.* is for real outputs"):
        getattr(pg, transform)(lambda x: 1j * x)(X)


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda z: np.sum(np.real(np.sort(z))), "np.sort"),
        (lambda z: np.real(np.max(z)), "np.max"),
        (lambda z: np.real(np.sign(z)).sum(), "np.sign"),
    ],
)
def test_what_has_no_derivative_there_is_refused_by_name(f, name):
    for call in (lambda: pg.vjp(f, Z)[1](1.0), lambda: pg.jvp(f, (Z,), (Z,)), lambda: pg.grad(f)(Z)):
        with pytest.raises(NotImplementedError, match=rf"the derivative of {name} of complex values"):
            call()


def test_a_gradient_is_of_a_real_number():
    with pytest.raises(pg.PergradError, match="must return a scalar that is real"):
        pg.grad(lambda z: np.sum(z))(Z)
