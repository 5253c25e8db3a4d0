"""The same text on torch.func and here: values, structures and dtypes, and what is refused.

Where we differ on purpose, and why: jacfwd and hessian of a negative argnum are zeros in torch; the vjp of an integer argument is refused
there, float zeros here; a scalar may be a NumPy number here. A Jacobian of complex functions is refused here.
"""

import importlib.util
import types

import numpy as np
import pytest

import pergrad as pg

torch = pytest.importorskip("torch")

FUNCTIONS = """
def loss(w,x,y): return (np.tanh(x@w)-y)**2
def mlp(p,x): return np.tanh(p['w']@x+p['b'])
def ploss(p,x,y): return np.sum((mlp(p,x)-y)**2)
def deep(ps,x):
    for p in ps: x=np.tanh(p['w']@x+p['b'])
    return np.sum(x)
def g(x): return np.sum(np.sin(x)**2)
def h(x): return np.sin(x)*x
def two(a,b): return np.sum(a*np.cos(b))
def aux(x): return np.sum(x**2), x*3
def auxt(x): return np.sum(x**2), {'a':x*3,'b':(x[0],2*x)}
def tree(x): return {'s':np.sum(x**2),'v':x*2,'l':[x[0],x[1:]]}
def swap(a,b): return b*2,a*3
def soft(x): return np.exp(x)/np.sum(np.exp(x))
def quad(x): return 0.5*x@A@x
"""
PROGRAMS = """
F.grad(g)(x)
F.grad(two,argnums=1)(x,w)
F.grad(two,argnums=(0,1))(x,w)
F.grad(two,argnums=(1,0))(x,w)
F.grad(two,argnums=(0,))(x,w)
F.grad(two,argnums=-1)(x,w)
F.grad(aux,has_aux=True)(x)
F.grad(auxt,has_aux=True)(x)
F.grad_and_value(g)(x)
F.grad_and_value(aux,has_aux=True)(x)
F.grad_and_value(two,argnums=(0,1))(x,w)
F.grad(ploss)(P,x,v2)
F.grad(ploss,argnums=(0,1))(P,x,v2)
F.grad(deep)(PL,x)
F.grad(lambda x: F.grad(g)(x)[0])(x)
F.grad(lambda x: np.sum(F.grad(lambda y: np.sum(y**3))(x)))(x)
F.grad(lambda x: F.grad(lambda y: np.sum(y**2*x))(x)@x)(x)
F.grad(lambda a: F.grad(lambda b: a*b**2)(a))(s)
F.grad(F.grad(F.grad(lambda z: np.sin(z)*z**2)))(s)
F.vmap(h)(Xb)
F.vmap(np.sum)(Xb)
F.vmap(lambda a,b: a@b)(Xb,Xb)
F.vmap(lambda a,b: a@b, in_dims=(0,None))(Xb,x)
F.vmap(lambda a,b: a@b, in_dims=(0,1))(Xb,XT)
F.vmap(lambda a: a*2, in_dims=1)(XT)
F.vmap(lambda a: a*2, in_dims=-1)(XT)
F.vmap(lambda a: a*2, in_dims=1, out_dims=1)(XT)
F.vmap(lambda a: a*2, out_dims=-1)(Xb)
F.vmap(lambda a: (a,a.sum()), out_dims=(1,0))(Xb)
F.vmap(lambda a: {'u':a,'v':a.sum()}, out_dims={'u':1,'v':0})(Xb)
F.vmap(lambda a: {'u':a,'v':a.sum()})(Xb)
F.vmap(lambda d: d['a']*d['b'], in_dims=({'a':0,'b':None},))({'a':Xb,'b':x})
F.vmap(lambda d: d['a']*d['b'], in_dims=({'a':0,'b':0},))({'a':Xb,'b':Xb})
F.vmap(lambda t: t[0]@t[1], in_dims=((0,None),))((Xb,x))
F.vmap(lambda l: l[0]+l[1], in_dims=([0,0],))([Xb,Xb])
F.vmap(lambda p,x: mlp(p,x), in_dims=(0,None))(PB,x)
F.vmap(mlp, in_dims=(None,0))(P,Xb)
F.vmap(lambda a,b: (a,b), in_dims=(0,None), out_dims=(0,None))(Xb,x)
F.vmap(lambda a: x, out_dims=None)(Xb)
F.vmap(lambda a: x)(Xb)
F.vmap(lambda a: 2.0*x[0])(Xb)
F.vmap(F.vmap(lambda a: a.sum()))(B2)
F.vmap(F.vmap(lambda a,b: a@b,in_dims=(0,None)),in_dims=(0,None))(B2,x)
F.vmap(F.vmap(lambda a,b: a@b,in_dims=(None,0)),in_dims=(0,None))(Xb,Xb)
F.vmap(F.vmap(h,in_dims=1,out_dims=1))(B2)
F.vmap(h,chunk_size=2)(Xb)
F.vmap(h,chunk_size=1)(Xb)
F.vmap(h,chunk_size=100)(Xb)
F.vmap(h,in_dims=1,out_dims=1,chunk_size=2)(XT)
F.vmap(lambda a: {'u':a,'v':a.sum()}, out_dims={'u':1,'v':0},chunk_size=3)(Xb)
F.vmap(F.grad(loss),in_dims=(None,0,0))(w,Xb,yb)
F.vmap(F.grad(ploss),in_dims=(None,0,0))(P,Xb,Yb)
F.vmap(F.grad(ploss),in_dims=(None,0,0),chunk_size=2)(P,Xb,Yb)
F.vmap(F.grad_and_value(ploss),in_dims=(None,0,0))(P,Xb,Yb)
F.vmap(F.grad(aux,has_aux=True))(Xb)
F.vmap(F.grad(two,argnums=(0,1)))(Xb,Xb)
F.vmap(F.grad(F.grad(lambda z: z**3)))(yb)
F.grad(lambda w: np.sum(F.vmap(loss,in_dims=(None,0,0))(w,Xb,yb)))(w)
F.grad(lambda w: np.mean(F.vmap(lambda x,y: loss(w,x,y))(Xb,yb)))(w)
F.vjp(h,x)[1](w)
F.vjp(h,x)[0]
F.vjp(two,x,w)[1](s)
F.vjp(swap,x,w)[1]((w,x))
F.vjp(tree,x)[1]({'s':s,'v':w,'l':[s,w[1:]]})
F.vjp(mlp,P,x)[1](v2)
F.vjp(aux,x,has_aux=True)[2]
F.vjp(aux,x,has_aux=True)[1](s)
F.vmap(F.vjp(h,x)[1])(Xb)
F.vmap(lambda a,b: F.vjp(h,a)[1](b)[0])(Xb,Xb)
F.jvp(h,(x,),(w,))
F.jvp(two,(x,w),(w,x))
F.jvp(tree,(x,),(w,))
F.jvp(mlp,(P,x),(P,x))
F.jvp(aux,(x,),(w,),has_aux=True)
F.jvp(F.grad(g),(x,),(w,))
F.jvp(lambda x: F.jvp(h,(x,),(w,))[1],(x,),(w,))
F.jvp(F.vmap(h),(Xb,),(Xb,))
F.vmap(lambda a,b: F.jvp(h,(a,),(b,))[1])(Xb,Xb)
F.linearize(h,x)[1](w)
F.linearize(two,x,w)[1](w,x)
F.linearize(mlp,P,x)[1](P,x)
F.vmap(F.linearize(h,x)[1])(Xb)
F.jacrev(h)(x)
F.jacrev(soft)(x)
F.jacrev(g)(x)
F.jacrev(mlp)(P,x)
F.jacrev(mlp,argnums=(0,1))(P,x)
F.jacrev(swap)(x,w)
F.jacrev(swap,argnums=(0,1))(x,w)
F.jacrev(tree)(x)
F.jacrev(aux,has_aux=True)(x)
F.jacrev(h,chunk_size=2)(x)
F.jacrev(soft,chunk_size=1)(x)
F.jacrev(lambda m: m@m.T)(A)
F.jacrev(lambda m: np.tanh(m),chunk_size=4)(W)
F.jacfwd(h)(x)
F.jacfwd(soft)(x)
F.jacfwd(mlp)(P,x)
F.jacfwd(mlp,argnums=1)(P,x)
F.jacfwd(swap,argnums=(0,1))(x,w)
F.jacfwd(tree)(x)
F.jacfwd(aux,has_aux=True)(x)
F.jacfwd(lambda m: m@m.T)(A)
F.hessian(g)(x)
F.hessian(quad)(x)
F.hessian(two)(x,w)
F.hessian(two,argnums=(0,1))(x,w)
F.hessian(soft)(x)
F.hessian(ploss)(P,x,v2)
F.jacrev(F.jacrev(soft))(x)
F.jacfwd(F.jacrev(soft))(x)
F.jacrev(F.jacfwd(soft))(x)
F.jacfwd(F.jacfwd(soft))(x)
F.vmap(F.jacrev(soft))(Xb)
F.vmap(F.jacfwd(soft))(Xb)
F.vmap(F.hessian(g))(Xb)
F.vmap(F.hessian(ploss),in_dims=(None,0,0))(P,Xb,Yb)
F.jacrev(F.vmap(soft))(Xb)
F.jacfwd(F.vmap(soft))(Xb)
F.jacrev(F.grad(g))(x)
F.jacfwd(F.grad(g))(x)
F.grad(lambda x: np.sum(F.jacrev(soft)(x)**2))(x)
F.grad(lambda x: np.sum(np.diagonal(F.hessian(g)(x))))(x)
F.grad(lambda x: F.vjp(soft,x)[1](w)[0]@w)(x)
F.grad(lambda x: F.jvp(soft,(x,),(w,))[1]@w)(x)
F.vmap(lambda W,x: F.grad(lambda q: np.sum(q*x)**2)(W),in_dims=(0,None))(Ws,x)
F.vmap(lambda a: F.vmap(lambda b: F.grad(two,argnums=(0,1))(a,b))(Xb))(Xb)
F.grad(lambda p: np.sum(F.vmap(lambda x: deep(p,x))(Xb)))(PL)
F.vmap(F.vmap(F.grad(loss),in_dims=(None,0,0)),in_dims=(0,None,None))(Ws,Xb,yb)
F.grad(lambda w: ploss({k:v-0.1*d for (k,v),d in zip(w.items(),F.grad(ploss)(w,x,v2).values())},x,v2))(P)
F.grad(lambda x: np.sum(x*i3))(x)
F.jvp(lambda x: x*i3,(x,),(w,))
F.grad(lambda x: np.sum(np.where(bits,x,2*x)))(x)
F.grad(lambda x: np.sum(x**2))(f32)
F.jacrev(lambda x: x**2)(f32)
F.vmap(F.grad(lambda x: np.sum(np.max(x)**2)))(Xb)
F.grad(lambda x: np.max(x))(np.ones(3))
F.grad(lambda x: np.sum(np.maximum(x,w)))(w*1.0)
F.grad(lambda x: np.sum(np.abs(x)))(x*0)
F.grad(lambda x: np.sum(x.T@x))(A)
F.jacrev(lambda x: x[0])(x)
F.jacfwd(lambda x: (x[0],x[1:]))(x)
F.jacrev(lambda x: 2.0*w)(x)
F.jacfwd(lambda x: 2.0*w)(x)
F.grad(lambda x: np.sum(w))(x)
F.jvp(lambda x: w*1.0,(x,),(w,))
F.vjp(lambda x,y: x*2,x,w)[1](w)
F.hessian(lambda x: np.sum(x))(x)
F.jacrev(two,argnums=(1,))(x,w)
F.jacfwd(two,argnums=(1,))(x,w)
F.hessian(two,argnums=1)(x,w)
F.vmap(lambda x: x, in_dims=0)(Xb)
F.vmap(lambda x: ())(Xb)
F.vmap(lambda x: (x,()))(Xb)
F.vmap(h)(Xb[:0])
F.vmap(F.grad(g))(Xb[:1])
F.vmap(h,chunk_size=0)(Xb)
F.vmap(h,in_dims=2)(Xb)
F.vmap(h,in_dims=None)(Xb)
F.vmap(h,in_dims=(0,0))(Xb)
F.vmap(lambda a,b: a+b)(Xb,Yb[:3])
F.vmap(h,out_dims=3)(Xb)
F.grad(h)(x)
F.grad(g,argnums=1)(x)
F.grad(g)(i3)
F.jvp(h,(x,),(w[:2],))
F.jvp(h,x,w)
F.vjp(h,x)[1](w[:2])
F.vjp(swap,x,w)[1](x)
F.jacrev(h,argnums=(0,0))(x)
F.vmap(lambda x: x if x.sum()>0 else -x)(Xb)
F.vmap(lambda x: x.item())(yb)
F.jacrev(lambda x: x.sum()>0)(x)
F.grad(lambda x: (np.sum(x),x))(x)
F.grad(g,has_aux=True)(x)
""".strip().splitlines()


def data():
    rng = np.random.default_rng(3)
    layer = lambda n, m: {"w": rng.normal(size=(n, m)), "b": rng.normal(size=n)}  # noqa: E731
    return {
        **{name: rng.normal(size=3) for name in "wx"},
        "W": rng.normal(size=(2, 3)),
        "Xb": rng.normal(size=(5, 3)),
        "Yb": rng.normal(size=(5, 2)),
        "yb": rng.normal(size=5),
        "A": rng.normal(size=(3, 3)),
        "XT": rng.normal(size=(3, 5)),
        "B2": rng.normal(size=(4, 5, 3)),
        "Ws": rng.normal(size=(4, 3)),
        "v2": rng.normal(size=2),
        "s": np.array(0.7),
        "P": layer(2, 3),
        "PL": [layer(2, 3), layer(1, 2)],
        "PB": {"w": rng.normal(size=(4, 2, 3)), "b": rng.normal(size=(4, 2))},
        "i3": np.array([1, 2, 3]),
        "bits": np.array([True, False, True]),
        "f32": rng.normal(size=3).astype(np.float32),
    }


def tensors(x):
    if isinstance(x, np.ndarray):
        return torch.from_numpy(x.copy())
    if isinstance(x, dict):
        return {k: tensors(v) for k, v in x.items()}
    return type(x)(map(tensors, x)) if isinstance(x, (list, tuple)) else x


def leaves(x):
    if isinstance(x, dict):
        return [(k, leaf) for k, v in x.items() for leaf in leaves(v)]
    if isinstance(x, (list, tuple)):
        return [(k, leaf) for k, v in enumerate(x) for leaf in leaves(v)]
    return [np.asarray(x.detach().numpy() if isinstance(x, torch.Tensor) else x)]


def assert_same(got, expected):
    got, expected = leaves(got), leaves(expected)
    assert len(got) == len(expected)
    for a, b in zip(got, expected):
        while isinstance(a, tuple):
            assert a[0] == b[0]
            a, b = a[1], b[1]
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-4 if a.dtype == np.float32 else 1e-9, atol=1e-12)


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """The functions and programs as a module with a source that can be read."""
    path = tmp_path_factory.mktemp("torch") / "programs.py"
    lines = "".join(f"def program_{k}():\n    return {text}\n" for k, text in enumerate(PROGRAMS))
    path.write_text(FUNCTIONS + lines)
    spec = importlib.util.spec_from_file_location("programs", path)
    module = importlib.util.module_from_spec(spec)
    vars(module).update(data(), np=np, F=pg)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def theirs():
    spelled = types.SimpleNamespace(**{n: getattr(torch, n) for n in dir(torch)})
    names = {k: tensors(v) for k, v in data().items()}
    names.update(np=spelled, F=torch.func)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    exec(FUNCTIONS, names)
    yield names
    torch.set_default_dtype(before)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("k", range(len(PROGRAMS)), ids=lambda k: PROGRAMS[k])
def test_torch_func(k, ours, theirs):
    try:
        expected = eval(PROGRAMS[k], theirs)
    except Exception:
        with pytest.raises((pg.PergradError, TypeError, ValueError)):
            getattr(ours, f"program_{k}")()
        return
    assert_same(getattr(ours, f"program_{k}")(), expected)
