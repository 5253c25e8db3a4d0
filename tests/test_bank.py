"""Every program of the bank against NumPy, central differences and the loop over samples."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pergrad as pg
from tests import oracles
from tests.bank import CHECKS, Program, bank
from tests.bank.gaps import KNOWN_GAPS

BATCH = 3
PROGRAMS = list(bank())


def cases(check):
    """The programs that this check is for; those with a known gap as strict xfails."""
    params = []
    for program in PROGRAMS:
        if check in program.checks and (check in ("value", "vmap_grad") or not refused_always(program)):
            reason = KNOWN_GAPS.get(f"{program.name}:{check}") or KNOWN_GAPS.get(program.name)
            marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
            params.append(pytest.param(program, id=program.name, marks=marks))
    return params


def report(program: Program, transformed=None, args=()) -> str:
    """What a failure shows besides the two values: the program and the source emitted for it."""
    try:
        emitted = transformed.source(*args)
    except Exception as error:
        emitted = f"(no source: {error!r})"
    return f"--- program {program.name}\n{program.source}\n--- emitted\n{emitted}"


def refused_always(program: Program):
    return [v for v in program.violations if v.always]


def assert_refused(violations, call, program: Program) -> None:
    with pytest.raises(pg.PergradError) as caught:
        call()
    error = caught.value
    text = f"{error}\n{report(program)}"
    assert (error.code, error.line) == (violations[0].code, violations[0].line), text
    for violation in violations:
        assert violation.code in str(error), text
        assert re.search(rf"\b{violation.line}\b", str(error)), text


def restricted(func, args, argnums):
    """``func`` of the arguments ``argnums`` alone, the others held."""

    def only(*chosen):
        full = list(args)
        for n, value in zip(argnums, chosen):
            full[n] = value
        return func(*full)

    return only


def flatten(tree):
    if isinstance(tree, dict):
        return [leaf for key in tree for leaf in flatten(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [leaf for part in tree for leaf in flatten(part)]
    return [tree]


def float_args(program: Program) -> tuple[int, ...]:
    return tuple(n for n, arg in enumerate(program.args()) if oracles.leaves(arg) and all(map(oracles.is_float, oracles.leaves(arg))))


@pytest.mark.parametrize("program", cases("value"))
def test_value(program):
    args = program.args()
    transformed = pg.grad_and_value(program.func, program.argnums)
    if refused_always(program):
        assert_refused(refused_always(program), lambda: transformed(*oracles.fresh(args)), program)
        return
    expected = program.func(*oracles.fresh(args))
    oracles.assert_same(transformed(*oracles.fresh(args))[1], expected, text=report(program, transformed, args))


@pytest.mark.parametrize("program", cases("grad"))
def test_grad(program):
    args = program.args()
    given = oracles.fresh(args)
    transformed = pg.grad(program.func, program.argnums)
    gradient = transformed(*given)
    text = report(program, transformed, args)
    oracles.assert_same(gradient, oracles.central_differences(program.func, args, program.argnums), rtol=1e-6, atol=1e-8, text=text)
    oracles.assert_same(given, args, rtol=0, atol=0, text=f"grad wrote to its arguments\n{text}")


@pytest.mark.parametrize("program", cases("jvp"))
def test_jvp(program):
    args, chosen = program.args(), float_args(program)
    func = program.func if len(chosen) == len(args) else restricted(program.func, oracles.fresh(args), chosen)
    primals = tuple(args[n] for n in chosen)
    tangents = tuple(oracles.random_like(primal, np.random.default_rng(3)) for primal in primals)
    value, tangent = pg.jvp(func, oracles.fresh(primals), tangents)
    text = report(program)
    oracles.assert_same(value, program.func(*oracles.fresh(args)), text=text)
    oracles.assert_same(tangent, oracles.directional_difference(func, primals, tangents), rtol=1e-6, atol=1e-8, text=text)


@pytest.mark.parametrize("program", cases("grad_grad"))
def test_grad_of_grad(program):
    args = program.args()
    argnum = program.argnums if isinstance(program.argnums, int) else program.argnums[0]
    direction = oracles.random_like(args[argnum], np.random.default_rng(5))
    inner = pg.grad(program.func, argnum)

    def along(*args):
        return sum(np.sum(g * d) for g, d in zip(flatten(inner(*args)), flatten(direction)))

    transformed = pg.grad(along, argnum)
    curvature = transformed(*oracles.fresh(args))
    moving = restricted(inner, args, (argnum,))
    expected = oracles.directional_difference(moving, (args[argnum],), (direction,))
    oracles.assert_same(curvature, expected, rtol=1e-6, atol=1e-7, text=report(program, transformed, args))


@pytest.mark.parametrize("program", cases("vmap_grad"))
def test_vmap_of_grad(program):
    batch = program.batch(BATCH)
    transformed = pg.vmap(pg.grad(program.func, program.argnums), in_dims=program.in_dims)
    if program.violations:
        assert_refused(program.violations, lambda: transformed(*oracles.fresh(batch)), program)
        return
    gradients = transformed(*oracles.fresh(batch))
    expected = oracles.stack([oracles.central_differences(program.func, program.args(i), program.argnums) for i in range(BATCH)])
    oracles.assert_same(gradients, expected, rtol=1e-6, atol=1e-8, text=report(program, transformed, batch))


@pytest.mark.parametrize("program", cases("mask"))
def test_masked_vmap_of_grad(program):
    size = 5
    batch = program.batch(size)
    transformed = pg.vmap(pg.grad(program.func, program.argnums), in_dims=program.in_dims, control_flow="mask")
    gradients = transformed(*oracles.fresh(batch))
    expected = oracles.stack([oracles.central_differences(program.func, program.args(i), program.argnums) for i in range(size)])
    oracles.assert_same(gradients, expected, rtol=1e-6, atol=1e-8, text=report(program, transformed, batch))


@pytest.mark.parametrize("program", [pytest.param(p, id=p.name) for p in PROGRAMS])
def test_the_bank_itself(program):
    """Programs run in plain NumPy, do the same each time, are smooth where they are sampled, and depend on what is differentiated."""
    for sample in range(BATCH):
        args = program.args(sample)
        assert program.func(*oracles.fresh(args)) == program.func(*oracles.fresh(args))
        if "grad" in program.checks and not refused_always(program):
            fine = oracles.central_differences(program.func, args, program.argnums, step=1e-5)
            rough = oracles.central_differences(program.func, args, program.argnums, step=1e-4)
            oracles.assert_same(fine, rough, rtol=1e-5, atol=1e-7, text=program.source)
            if sample == 0:
                assert any(np.any(leaf) for leaf in oracles.leaves(fine)), program.source


def test_gaps_name_programs_of_the_bank():
    names = {p.name for p in PROGRAMS} | {f"{p.name}:{check}" for p in PROGRAMS for check in (*CHECKS, "mask")}
    assert set(KNOWN_GAPS) <= names


def test_the_bank_is_large_and_its_names_are_unique():
    names = [p.name for p in PROGRAMS]
    assert len(names) == len(set(names)) >= 150
