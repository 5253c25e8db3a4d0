"""Program -> better Program. Each pass is a file of one idea; ``simplify`` runs between transforms, ``optimize`` once at the end."""

from __future__ import annotations

from ..core.program import Program, walk


def simplify(program: Program) -> Program:
    """The cheap passes, until nothing changes (at most a few rounds): algebra, common subexpressions, dead code."""
    from .algebra import simplify_algebra
    from .branches import simplify_branches
    from .common import eliminate_common
    from .dead_code import eliminate_dead_code
    from .loops import simplify_loops

    program = eliminate_dead_code(program)
    for _ in range(_ROUNDS):
        before = _fingerprint(program)
        for one in (simplify_algebra, simplify_loops, simplify_branches, eliminate_common, eliminate_dead_code):
            program = one(program)
        if _fingerprint(program) == before:
            break
    return program


def prepare(program: Program) -> Program:
    """A user's function before it is differentiated: simplified, and with formulas recognised."""
    from .dead_code import eliminate_dead_code
    from .recognised import recognise

    return eliminate_dead_code(recognise(simplify(program)))


def optimize(program: Program) -> Program:
    """All passes."""
    from .assembly import assemble
    from .branches import unite_branches
    from .common import eliminate_common
    from .contractions import fuse_contractions
    from .dead_code import eliminate_dead_code
    from .diagonals import fold_diagonals
    from .invariants import hoist_invariants
    from .reads import read_before_write
    from .recurrences import move_contractions
    from .scaling import scale_small_factors
    from .weaken import weaken_constants

    program = simplify(spell_out(program))
    program = unite_branches(eliminate_common(program, tests=True))
    program = simplify(fold_diagonals(program))
    program = simplify(fuse_contractions(program))
    program = move_contractions(hoist_invariants(program))
    # last, since simplifying moves minus signs outward, where sums may take them in
    program = scale_small_factors(simplify(weaken_constants(program)))
    return read_before_write(eliminate_dead_code(weaken_constants(assemble(program))))


def spell_out(program: Program) -> Program:
    """Recognised formulas as the statements that they are."""
    from . import recognised

    return recognised.spell_out(program)


_ROUNDS = 4


def _fingerprint(program: Program) -> list[object]:
    """What changes whenever a pass changed something: the variables assigned, in order, and what is read."""
    from ..core.program import reads

    return [(n.outs, reads(n)) for n in walk(program)]


__all__ = ["optimize", "prepare", "simplify", "spell_out"]
