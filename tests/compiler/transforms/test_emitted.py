"""What the transforms make of branches and loops, printed and run: as the interpreter has it, before and after the optimiser."""

import numpy as np
import pytest

from pergrad.compiler.backend.compile import compile_program
from pergrad.compiler.backend.signature import Signature
from pergrad.compiler.core.verify import verify
from pergrad.compiler.optimize import optimize, simplify
from pergrad.compiler.transforms.batch import batch
from pergrad.compiler.transforms.forward import jvp
from pergrad.compiler.transforms.reverse import grad

from ...oracles import assert_same
from ..interpret import interpret
from .check import BATCH, combined
from .structured import CASES, arguments, case


def check_emitted(p, arrays):
    with np.errstate(all="ignore"):
        want = interpret(p, *arrays)
        for q in (p, simplify(p), optimize(p)):
            verify(q)
            f, source = compile_program(q, Signature.flat("f", [f"a{i}" for i in range(len(q.params))], len(q.results)))
            got = f(*(np.array(a) if np.ndim(a) else a for a in arrays))
            assert_same(list(got) if isinstance(got, tuple) else [got], list(want), rtol=1e-7, atol=1e-9, text=source)


@pytest.mark.parametrize("name", CASES)
def test_emitted(name):
    p, mapped = case(name)
    every = [True] * len(p.params)
    args = arguments(p, 1.3)
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(4, *np.shape(a))) for a in args]
    g = grad(p, every)
    check_emitted(g, args)
    check_emitted(grad(combined(g, len(every)), every), args)
    check_emitted(jvp(p, every), [*args, *args])
    if mapped:
        check_emitted(batch(g, mapped, BATCH)[0], [r if m else a for r, a, m in zip(rows, args, mapped)])
    check_emitted(batch(g, every, BATCH, control_flow="mask")[0], rows)
