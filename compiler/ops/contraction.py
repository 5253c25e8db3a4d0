"""Contractions: dot, matmul, inner, outer, tensordot, vdot and einsum in one normal form on letters: np.einsum without an ellipsis."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any

from .families import Batching, Derivative, is_one, value
from .table import op

if TYPE_CHECKING:
    from ..core.types import Type

LETTERS = string.ascii_lowercase + string.ascii_uppercase


def contract(subscripts: str, *operands: Any) -> Any:
    """Record a contraction in normal form."""
    from ..core.builder import current
    from .table import find

    entry = find("numpy.einsum")
    assert entry is not None
    return current().apply(entry, operands, {"subscripts": subscripts})


def split(subscripts: str) -> tuple[list[str], str]:
    """The letters of the operands and of the result."""
    left, right = subscripts.split("->")
    return left.split(","), right


def join(terms: list[str], out: str) -> str:
    return f"{','.join(terms)}->{out}"


def _prepare(*args: Any, out: Any = None, optimize: Any = False, dtype: Any = None, order: Any = "K", casting: Any = "safe") -> Any:
    from ..core.builder import Value, atom_of, call

    if args and not isinstance(args[0], str):
        # the form with lists of integers instead of letters
        operands, lists = list(args[0 : 2 * (len(args) // 2) : 2]), list(args[1::2])
        last = args[-1] if len(args) % 2 else None
        text = ",".join(_integers(v) for v in lists) + ("" if last is None else "->" + _integers(last))
        args = (text, *operands)
    operands = [a if isinstance(a, Value) or hasattr(a, "dtype") else call("numpy.asarray", a) for a in args[1:]]
    if dtype is not None:
        operands = [call("numpy.astype", a, dtype) for a in operands]
    subscripts = normalize(args[0], [atom_of(a).type.ndim for a in operands])
    view = _view(subscripts, operands[0])
    return (operands, {"subscripts": subscripts}) if view is None else view


def _view(subscripts: str, x: Any) -> Any:
    """What NumPy gives as a view: axes in another order, and diagonals; None where anything is multiplied or summed."""
    from ..core.builder import call

    own, _, out = subscripts.partition("->")
    if set(own) != set(out) or not getattr(x, "viewed", None):
        return None
    letters = list(own)
    for c in [c for c in out if own.count(c) > 1]:
        while letters.count(c) > 1:
            first = letters.index(c)
            second = letters.index(c, first + 1)
            x = call("numpy.diagonal", x, 0, first, second)
            letters = [*(d for n, d in enumerate(letters) if n not in (first, second)), c]
    axes = [letters.index(c) for c in out]
    return call("numpy.transpose", x, axes) if axes != sorted(axes) else x


def _integers(values: Any) -> str:
    return "".join("..." if v is Ellipsis else LETTERS[v] for v in values)


def normalize(subscripts: str, ranks: list[int]) -> str:
    """An explicit einsum string: the implicit result sorted, every ellipsis spelled out in letters not in use."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        raise ValueError(f"einsum string has {len(terms)} operands, {len(ranks)} were given")
    for term, rank in zip(terms, ranks, strict=True):
        named = len(term.replace("...", ""))
        if named > rank or ("..." not in term and named != rank):
            raise ValueError(f"einsum subscripts {term!r} do not fit an operand of {rank} dimensions")
    free = [c for c in LETTERS if c not in text]
    widths = [rank - len(t.replace("...", "")) for t, rank in zip(terms, ranks, strict=True) if "..." in t]
    wide = "".join(free[: max(widths, default=0)])
    expanded = []
    for term, rank in zip(terms, ranks, strict=True):
        width = rank - len(term.replace("...", ""))
        expanded.append(term.replace("...", wide[len(wide) - width :] if width else ""))
    if arrow:
        out = right.replace("...", wide)
    else:
        letters = "".join(expanded)
        out = wide + "".join(sorted(c for c in set(letters) - set(wide) if letters.count(c) == 1))
    return join(expanded, out)


def _infer(types: list[Type], params: dict[str, Any]) -> Type:
    import numpy as np

    from ..core.types import Type, promotion

    terms, out = split(params["subscripts"])
    sizes: dict[str, Any] = {}
    for term, t in zip(terms, types, strict=True):
        for letter, size in zip(term, t.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise ValueError(f"contraction {params['subscripts']!r}: sizes {sizes[letter]} and {size} do not match")
    wanted = [promotion(t) for t in types]
    dtype = np.result_type(*(w(0) if isinstance(w, type) else w for w in wanted))
    shape = tuple(sizes[c] for c in out)
    return Type(dtype, shape, scalar=not shape)


def _vjp(d: Derivative, i: int) -> Any:
    terms, out = split(d.params["subscripts"])
    return transpose(terms, out, d.ct, d.x, i)


def transpose(terms: list[str], out: str, ct: Any, operands: Any, i: int) -> Any:
    """The cotangent of operand i: the contraction of ct with the other operands."""
    from ..core.builder import recorded as np
    from ..core.types import Type  # noqa: F401

    own = terms[i]
    others = [(t, x) for n, (t, x) in enumerate(zip(terms, operands, strict=True)) if n != i]
    shape = operands[i].shape
    wanted, extra = own, []
    if len(set(own)) < len(own):
        # a repeated letter takes a diagonal: spread back over it by an identity
        free = iter([c for c in LETTERS if c not in "".join(terms) + out])
        seen: set[str] = set()
        letters = []
        for n, c in enumerate(own):
            if c in seen:
                new = next(free)
                extra.append((c + new, np.eye(shape[n], dtype=ct.dtype)))
                c = new
            seen.add(c)
            letters.append(c)
        wanted = "".join(letters)
    operand_terms = [(out, ct), *others, *extra]
    if len(operand_terms) > 1 and is_one(ct):
        operand_terms.pop(0)
    available = set("".join(t for t, _ in operand_terms))
    reach = "".join(c for c in wanted if c in available)
    if [t for t, _ in operand_terms] == [reach]:
        y = operand_terms[0][1]
    else:
        y = contract(join([t for t, _ in operand_terms], reach), *(x for _, x in operand_terms))
    if reach == wanted:
        return y
    dims = iter(y.shape)
    y = np.reshape(y, tuple(next(dims) if c in available else 1 for c in wanted))
    return np.broadcast_to(y, shape)


def _jvp(d: Derivative) -> Any:
    total = None
    for i, dx in enumerate(d.dx):
        if dx is not None:
            term = contract(d.params["subscripts"], *(dx if n == i else x for n, x in enumerate(d.x)))
            total = term if total is None else total + term
    return total


def _batch(b: Batching) -> Any:
    terms, out = split(b.params["subscripts"])
    letter = next(c for c in LETTERS if c not in b.params["subscripts"])
    terms = [letter + t if m else t for t, m in zip(terms, b.mapped, strict=True)]
    return b.bind(b.x, {"subscripts": join(terms, letter + out)})


def _emit(types: list[Type], params: dict[str, Any], out: Any) -> str:
    from .contraction_text import contraction_text

    return contraction_text(params["subscripts"], types)


op(
    "numpy.einsum",
    signature="subscripts, *operands, out=None, optimize=False",
    operands=("*operands",),
    family="contraction",
    prepare=_prepare,
    infer=_infer,
    vjp=_vjp,
    jvp=_jvp,
    batch=_batch,
    emit=_emit,
    writes=("out",),
    analytic=True,
    samples="einsum",
)


def _ndim(x: Any) -> int:
    from ..core.builder import atom_of

    return atom_of(x).type.ndim


def _shape(x: Any) -> tuple[Any, ...]:
    from ..core.builder import atom_of

    return atom_of(x).type.shape


def matmul(x1: Any, x2: Any, out: Any = None) -> Any:
    n, m = _ndim(x1), _ndim(x2)
    if not n or not m:
        raise ValueError("matmul: input operand does not have enough dimensions")
    if _shape(x1)[-1] != _shape(x2)[-2 if m > 1 else -1]:
        raise ValueError(
            f"matmul: shapes {_shape(x1)} and {_shape(x2)} do not fit: {_shape(x1)[-1]} is not {_shape(x2)[-2 if m > 1 else -1]}"
        )
    wide = max(n, m) - 2
    stack = LETTERS[3 : 3 + max(wide, 0)]
    left, x1 = _stacked(stack, x1, n - 2, _shape(x2), m)
    right, x2 = _stacked(stack, x2, m - 2, _shape(x1), n)
    left += "ab" if n > 1 else "b"
    right += "bc" if m > 1 else "b"
    batch = "".join(c for c in stack if c in left or c in right)
    ones = len(stack) - len(batch)
    y = contract(f"{left},{right}->{batch}{'a' if n > 1 else ''}{'c' if m > 1 else ''}", x1, x2)
    if ones:
        from ..core.builder import call

        missing = [k for k, c in enumerate(stack) if c not in batch]
        y = call("numpy.expand_dims", y, tuple(missing))
    return y


def _stacked(stack: str, x: Any, count: int, other: tuple[Any, ...], other_ndim: int) -> tuple[str, Any]:
    """The letters of an operand's stacked axes; an axis of 1 is dropped, since letters do not broadcast."""
    from ..core.builder import call

    if count <= 0:
        return "", x
    letters = stack[len(stack) - count :]
    shape = _shape(x)
    single = [k for k in range(count) if shape[k] == 1]
    if single:
        x = call("numpy.squeeze", x, tuple(single))
    return "".join(c for k, c in enumerate(letters) if k not in single), x


def dot(a: Any, b: Any, out: Any = None) -> Any:
    n, m = _ndim(a), _ndim(b)
    if not n or not m:
        return _strong(a) * _strong(b)
    left, right = LETTERS[: n - 1], LETTERS[n : n + m - 1]
    _check("dot", a, b, _shape(a)[-1], _shape(b)[max(m - 2, 0)])
    own = (right[:-1] + "z" + right[-1]) if m > 1 else "z"
    return contract(f"{left}z,{own}->{left}{right}", a, b)


def _strong(x: Any) -> Any:
    """These functions make an array of a Python number, which then does not adapt to the other's dtype."""
    from ..core.builder import atom_of, call

    t = atom_of(x).type
    return call("numpy.astype", x, t.dtype) if t.weak else x


def inner(a: Any, b: Any) -> Any:
    n, m = _ndim(a), _ndim(b)
    if not n or not m:
        return _strong(a) * _strong(b)
    _check("inner", a, b, _shape(a)[-1], _shape(b)[-1])
    left, right = LETTERS[: n - 1], LETTERS[n : n + m - 1]
    return contract(f"{left}z,{right}z->{left}{right}", a, b)


def _check(name: str, a: Any, b: Any, n: Any, m: Any) -> None:
    if n != m:
        raise ValueError(f"{name}: shapes {_shape(a)} and {_shape(b)} not aligned: {n} is not {m}")


def outer(a: Any, b: Any, out: Any = None) -> Any:
    return contract("a,b->ab", _flat(a), _flat(b))


def vdot(a: Any, b: Any) -> Any:
    return contract("a,a->", _conjugate(_flat(a)), _flat(b))


def _conjugate(x: Any) -> Any:
    from ..core.builder import call

    return call("numpy.conjugate", x) if value(x).dtype.kind == "c" else x


def _flat(x: Any) -> Any:
    from ..core.builder import call

    return x if _ndim(x) == 1 else call("numpy.reshape", x, -1)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    n, m = _ndim(a), _ndim(b)
    if isinstance(axes, int):
        left, right = list(range(n - axes, n)), list(range(axes))
    else:
        left, right = ([v] if isinstance(v, int) else list(v) for v in axes)
    letters_a = list(LETTERS[:n])
    letters_b = list(LETTERS[n : n + m])
    for p, q in zip(left, right, strict=True):
        _check("tensordot", a, b, _shape(a)[p], _shape(b)[q])
        letters_b[q] = letters_a[p]
    free_a = [c for k, c in enumerate(letters_a) if k not in [p % n for p in left]]
    free_b = [c for k, c in enumerate(letters_b) if k not in [q % m for q in right]]
    y = contract(f"{''.join(letters_a)},{''.join(letters_b)}->{''.join(free_a + free_b)}", a, b)
    if free_a or free_b:
        return y
    from ..core.builder import call

    return call("numpy.reshape", y, ())  # NumPy's is an array also without axes


def vecdot(x1: Any, x2: Any) -> Any:
    return matmul(_row(_conjugate(x1)), _column(x2))[..., 0, 0]


def _row(x: Any) -> Any:
    return x[..., None, :]


def _column(x: Any) -> Any:
    return x[..., None]


for _name, _lower, _signature, _method in (
    ("matmul", matmul, "x1, x2, out=None", False),
    ("dot", dot, "a, b, out=None", True),
    ("inner", inner, "a, b", False),
    ("outer", outer, "a, b, out=None", False),
    ("vdot", vdot, "a, b", False),
    ("tensordot", tensordot, "a, b, axes=2", False),
    ("vecdot", vecdot, "x1, x2", False),
):
    op(
        f"numpy.{_name}",
        signature=_signature,
        operands=tuple(_signature.split(", ")[:2]),
        family="contraction",
        lower=_lower,
        writes=("out",) if "out" in _signature else (),
        methods=("dot",) if _method else (),
        samples="matrices",
        aliases=(f"numpy.linalg.{_name}",) if _name in ("matmul", "outer", "tensordot", "vecdot") else (),
    )
