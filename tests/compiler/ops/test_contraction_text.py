"""Contractions are spelled as a person would, and the spelling computes what ``np.einsum`` computes."""

import re

import numpy as np
import pytest

from pergrad.compiler.core.types import Size, Type
from pergrad.compiler.ops.contraction_text import aliases_operand, contraction_text, parse

SIZES = {"b": Size.named("B"), "i": 5, "j": 6, "k": 7, "h": 3, "l": 4}

SPELLED = {
    "ij,j->i": "_0 @ _1",
    "ij,i->j": "_1 @ _0",
    "i,i->": "_0 @ _1",
    "ij,ij->": "np.vdot(_0, _1)",
    "ij,jk->ik": "_0 @ _1",
    "ji,jk->ik": "_0.T @ _1",
    "ij,bj->bi": "_1 @ _0.T",
    "bi,bj->ij": "_0.T @ _1",
    "bi,bj->ji": "_1.T @ _0",
    "bi,bj->bij": "_0[:, :, None] * _1[:, None, :]",
    "b,bj->bj": "_0[:, None] * _1",
    "i,j->ij": "_0[:, None] * _1",
    "ij,ij->ij": "_0 * _1",
    ",ij->ij": "_0 * _1",
    ",->": "_0 * _1",
    ",bi,bj->bij": "(_0 * _1)[:, :, None] * _2[:, None, :]",
    "bi,bi->b": "np.vecdot(_0, _1)",
    "bi,bi->i": 'np.einsum("bi,bi->i", _0, _1)',
    "bij,bj->bi": "(_0 @ _1[:, :, None])[:, :, 0]",
    "bij,bi->bj": "(_1[:, None, :] @ _0)[:, 0, :]",
    "bij,bjk->bik": "_0 @ _1",
    "bij,bkj->bik": "_0 @ _1.mT",
    "bji,bjk->bik": "_0.mT @ _1",
    "bij,jk->bik": "np.tensordot(_0, _1, axes=1)",
    "bj,jik->bik": "np.tensordot(_0, _1, axes=1)",
    "bij,bik->jk": "_0.reshape(-1, 6).T @ _1.reshape(-1, 7)",
    "b,bi,bj->ij": "(_0[:, None] * _1).T @ _2",
    "bi,bi,bj,bj->b": "np.vecdot(_0, _1) * np.vecdot(_2, _3)",
    "i->": "_0.sum()",
    "bij->b": "_0.sum(axis=(1, 2))",
    "ij->ji": "_0.T",
    "bij->bji": "_0.mT",
    "ii->": "np.trace(_0)",
    "ii->i": "np.diagonal(_0)",
    "bii->bi": "np.diagonal(_0, axis1=1, axis2=2)",
    "ij,jk,kl->il": "_0 @ (_1 @ _2)",
    "bhil,bhjl->bhij": "_0 @ _1.mT",
    "bihl,bjhl->bhij": "_0.transpose(0, 2, 1, 3) @ _1.transpose(0, 2, 3, 1)",
}

OTHERS = """
bij,bij->b bij,kj->bik bi,bi,bj->bij bij,bi,bj->b bhij,bjk->bhik bi,j->b ij,k->k bij->jbi bi,ij->bj bi,ij->jb bij,k->bijk bij,ijk->bk
bij,ij->b bij,bkij->bk bijk,k->bij k,bij->bijk bii,bij->bj biik->bk bij,bij->ij bij,bij->i b,b-> bi,bij,bj->b ij,jb->bi bij,bjk->ikb
bij,bji->b iij,jk->ik ij,ij,ij-> i,ij,j-> bhi,bhj,b->hij
""".split()


def operand_types(subscripts, dtype):
    return [Type(np.dtype(dtype), tuple(SIZES[c] for c in letters)) for letters in parse(subscripts)[0]]


@pytest.mark.parametrize("subscripts", SPELLED)
def test_spelling(subscripts):
    assert contraction_text(subscripts, operand_types(subscripts, "f4")) == SPELLED[subscripts]


@pytest.mark.parametrize("subscripts", [*SPELLED, *OTHERS])
@pytest.mark.parametrize("dtype", ["f4", "c16", "i4", "?"])
def test_spelling_computes_einsum(subscripts, dtype):
    text = contraction_text(subscripts, operand_types(subscripts, dtype))
    assert sorted(re.findall(r"\b_\d", text)) == [f"_{i}" for i in range(len(parse(subscripts)[0]))]
    for batch in (0, 1, 2, 5):
        rng = np.random.default_rng(batch)
        arrays = []
        for letters in parse(subscripts)[0]:
            shape = [batch if c == "b" else SIZES[c] for c in letters]
            x = 4 * rng.standard_normal(shape) + (4j * rng.standard_normal(shape) if dtype == "c16" else 0)
            arrays.append(x.astype(dtype))
        expected = np.einsum(subscripts, *arrays)
        got = eval(text, {"np": np, **{f"_{i}": a for i, a in enumerate(arrays)}})
        assert got.dtype == expected.dtype and np.shape(got) == expected.shape, text
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-2, err_msg=text)


def test_weak_scalars_do_not_widen():
    weak = Type(np.dtype("f8"), (), weak=True, scalar=True)
    text = contraction_text(",i,i->", [weak, *operand_types("i,i->", "f4")])
    x = np.ones(5, "f4")
    assert eval(text, {"np": np, "_0": 0.5, "_1": x, "_2": x}).dtype == np.float32


def test_axes_of_size_one_adapt():
    text = contraction_text("ij,j->i", [Type(np.dtype("f8"), (3, 1)), Type(np.dtype("f8"), (4,))])
    x, y = np.arange(3.0).reshape(3, 1), np.arange(4.0)
    np.testing.assert_array_equal(eval(text, {"np": np, "_0": x, "_1": y}), np.einsum("ij,j->i", x, y))


def test_views_are_named():
    assert aliases_operand("ij->ji") and aliases_operand("ii->i")
    assert not aliases_operand("ij->i") and not aliases_operand("ii->") and not aliases_operand("i,->i")
