"""Every program of the bank printed with folding, sharing of names and writing in place off: results are the same, bit for bit."""

import numpy as np
import pytest

import pergrad as pg
from pergrad.compiler.backend.compile import compile_program
from tests import oracles
from tests.bank import bank
from tests.bank.gaps import KNOWN_GAPS

VARIANTS = [{k: False} for k in ("fold", "share", "in_place")] + [dict.fromkeys(("fold", "share", "in_place"), False)]
PROGRAMS = [pytest.param(p, id=p.name) for p in bank() if not any(name.split(":")[0] == p.name for name in KNOWN_GAPS)]


def assert_variants_agree(transformed, args):
    try:
        transformed(*oracles.fresh(args))
    except pg.PergradError:
        return
    found, captured = transformed.specialisations.get(args, {})
    wanted = oracles.leaves(found.function(*oracles.fresh(args), **captured))
    for options in VARIANTS:
        function, source = compile_program(found.program, found.signature, **options)
        got = oracles.leaves(function(*oracles.fresh(args), **captured))
        for a, b in zip(got, wanted, strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            assert np.array_equal(a, b, equal_nan=True), f"{options}\n{source}\n{found.source}"


@pytest.mark.parametrize("program", PROGRAMS)
def test_gradient(program):
    assert_variants_agree(pg.grad(program.func, program.argnums), program.args())


@pytest.mark.parametrize("program", PROGRAMS)
def test_per_sample_gradient(program):
    transformed = pg.vmap(pg.grad(program.func, program.argnums), in_dims=program.in_dims)
    assert_variants_agree(transformed, program.batch(3))
