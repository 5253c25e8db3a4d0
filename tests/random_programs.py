"""A hypothesis strategy of random programs: views, aliases, writes in place, branches, loops, early exits, helpers, containers.

A program is the text of a function `program(x, w)` of two vectors of four numbers that returns a number. It is smooth in `x`; only `w`
decides branches. Names have a kind that never changes, so that every program runs: vectors of four (`a` to `d`, and the argument `x`),
vectors of two (`u`, `v`), numbers (`s`, `t`), a list of two vectors (`box`), a dict of one (`book`) and a matrix of nine rows (`rows`):
loops over these are long enough to be kept as loops. `p1`, `p2`, ... are bound in a branch or a loop, and read where they surely are.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

FOURS, TWOS, NUMBERS = ("a", "b", "c", "d", "x"), ("u", "v"), ("s", "t")
OPENING = """\
def helper(p, k):
    p[1] = 0.5 * k
    q = p
    q *= 0.9
    return np.sin(p) + q


def program(x, w):
    a, b = x * 1.0, np.sin(x)
    c = x
    d = a[::-1]
    u, v = b[:2], a[1:3]
    s, t = x[0], w[1]
    box, book = [a, b], {"k": d}
    rows = np.outer(np.linspace(0.4, 0.9, 9), x)
"""
CLOSING = """\
    total = np.sum(np.sin(a) * b) + np.sum(c * np.cos(d)) + np.sum(x * x)
    total = total + u @ v + np.tanh(s) * t
    return total + np.sum(box[0] * box[1]) + np.sum(book["k"] ** 2) + np.sum(np.sin(rows))
"""
_numbers = itertools.count()


class Writer:
    """Writes statements, drawing what they are."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.fours = list(FOURS)
        self.late = itertools.count(1)

    def pick(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def four(self, depth: int = 2) -> str:
        """An expression of four numbers."""
        if depth == 0:
            return self.pick(*self.fours, "(w * 1.0)", "box[0]", "box[1]", 'book["k"]')
        inner = self.four(depth - 1)
        return self.pick(
            inner,
            f"np.sin({inner})",
            f"np.tanh({inner})",
            f"({inner} + {self.four(0)})",
            f"({inner} * {self.four(0)})",
            f"({inner} - 0.5 * {self.four(0)})",
            f"({inner} * {self.number(0)})",
            f"{inner}[::-1]",
            f"np.concatenate([{self.two(0)}, {self.two(0)}])",
        )

    def two(self, depth: int = 1) -> str:
        if depth == 0:
            return self.pick(*TWOS)
        four = self.four(0)
        return self.pick(f"{four}[:2]", f"{four}[1:3]", f"{four}[::2]", f"np.sin({self.two(0)})", f"({self.two(0)} * {self.number(0)})")

    def number(self, depth: int = 1) -> str:
        if depth == 0:
            return self.pick(*NUMBERS, "0.7", f"{self.pick(*self.fours)}[{self.pick(0, 1, 2, 3, -1)}]")
        return self.pick(
            f"np.tanh(np.sum({self.four(1)}))", f"({self.two(0)} @ {self.two(0)})", f"np.sin({self.number(0)})", self.number(0)
        )

    def condition(self) -> str:
        return self.pick("w[0] > 0.0", "w[1] < w[2]", "np.sum(w) > 0.5", "w[3] > 0.0 and w[0] > -0.3", "not w[2] > 0.2")

    def statement(self, indent: str, depth: int, index: str | None) -> None:
        i = index or self.pick("0", "1", "2", "3", "-2")
        simple = [
            lambda: f"{self.pick('a', 'b', 'c', 'd')} = {self.four()}",
            lambda: f"{self.pick('a', 'b', 'c', 'd')} = {self.pick(*self.fours)}",
            lambda: f"{self.pick('a', 'b', 'c', 'd')} = {self.pick(*self.fours)}.copy()",
            lambda: f"{self.pick(*TWOS)} = {self.pick(*self.fours)}[{self.pick('1:3', ':2', '2:', '::2')}]",
            lambda: f"{self.pick(*NUMBERS)} = {self.number()}",
            lambda: f"{self.pick(*self.fours)}[{i}] = {self.number()}",
            lambda: f"{self.pick(*self.fours)}[{i}] += {self.number()}",
            lambda: f"{self.pick(*self.fours)}[{self.pick('1:', ':3', '::-1', ':')}] *= 0.8",
            lambda: f"{self.pick(*self.fours)}[1:3] = {self.two()}",
            lambda: f"{self.pick(*self.fours)}[:-1] = {self.pick(*self.fours)}[1:]",
            lambda: f"{self.pick(*self.fours)} += {self.four()}",
            lambda: f"{self.pick(*self.fours)} *= np.cos({self.four(1)})",
            lambda: f"{self.pick(*TWOS)} += {self.two()}",
            lambda: f"{self.pick(*TWOS)}[{self.pick('0', '1')}] = {self.number()}",
            lambda: f"{self.pick('a', 'b')}, {self.pick('c', 'd')} = {self.pick(*self.fours)}, {self.pick(*self.fours)}",
            lambda: f"{self.pick('a', 'b', 'c')} = helper({self.pick('a', 'c', 'd', 'a.copy()')}, {self.number()})",
            lambda: f"box[{self.pick(0, 1)}] = {self.four(1)}",
            lambda: f"box[{self.pick(0, 1)}] += {self.four(1)}",
            lambda: f"book['k'] = {self.pick(*self.fours)}",
            lambda: f"np.multiply({self.four(1)}, 0.9, out={self.pick('a', 'b', 'c', 'd')})",
            lambda: f"rows[{self.pick('2', '-1', '1:3', ':')}] *= 0.9",
            lambda: f"{self.pick('a', 'b', 'c', 'd')} = rows[{self.pick('0', '4', '-1')}]",
        ]
        compound = [self.branch, self.loop, self.while_loop, self.early_return] if depth else []
        if depth == 2:
            compound += [self.long_loop, self.bound_in_a_branch]
        kind = self.draw(st.integers(0, len(simple) + 2 * len(compound) - 1))
        if kind < len(simple):
            self.lines.append(indent + simple[kind]())
        else:
            compound[(kind - len(simple)) // 2](indent, depth, index)

    def block(self, indent: str, depth: int, index: str | None, most: int = 3) -> None:
        for _ in range(self.draw(st.integers(1, most))):
            self.statement(indent, depth, index)

    def branch(self, indent: str, depth: int, index: str | None) -> None:
        self.lines.append(f"{indent}if {self.condition()}:")
        self.block(indent + "    ", depth - 1, index)
        if self.pick(True, False):
            self.lines.append(f"{indent}else:")
            self.block(indent + "    ", depth - 1, index)

    def loop(self, indent: str, depth: int, index: str | None) -> None:
        name = f"i{depth}"
        self.lines.append(f"{indent}for {name} in range({self.pick(2, 3, 4)}):")
        self.block(indent + "    ", depth - 1, name)
        if self.pick(True, False, False):
            self.lines.append(f"{indent}    if {self.condition()}:")
            self.lines.append(f"{indent}        {self.pick('break', 'continue')}")
            self.block(indent + "    ", depth - 1, name, most=1)

    def long_loop(self, indent: str, depth: int, index: str | None) -> None:
        """A loop over rows. Its variable, and what its body binds first, are read after it."""
        n = next(self.late)
        row, late = f"r{n}", f"p{n}"
        header, first = self.pick(
            (f"for {row} in rows:", ""),
            (f"for {row} in reversed(rows):", ""),
            (f"for i, {row} in enumerate(rows):", f"t = t + 0.1 * i * {row}[0]"),
            (f"for {row}, q in zip(rows, rows[::-1]):", f"b = np.sin(b) + q * {row}"),
            (f"for q, {row} in zip(range(8), rows[1:]):", "s = np.sin(s + q)"),
            ("for i in range(9):", f"{row} = rows[i]"),
        )
        self.lines.append(indent + header)
        if first:
            self.lines.append(f"{indent}    {first}")
        before, self.fours = self.fours, [*self.fours, row, row]
        if self.pick(True, False):
            self.lines.append(f"{indent}    {row} = {self.four(1)}")
        self.block(indent + "    ", 0, None)
        self.lines.append(f"{indent}    {late} = 0.5 * {self.four(1)}")
        self.block(indent + "    ", self.pick(0, 1), None, most=1)
        self.fours = [*before, row, late]
        self.block(indent, 0, None, most=2)
        self.fours = before

    def bound_in_a_branch(self, indent: str, depth: int, index: str | None) -> None:
        late, condition = f"p{next(self.late)}", self.condition()
        self.lines.append(f"{indent}if {condition}:")
        self.block(indent + "    ", 0, index, most=1)
        self.lines.append(f"{indent}    {late} = {self.four()}")
        self.block(indent, depth - 1, index, most=1)
        self.lines.append(f"{indent}if {condition}:")
        before, self.fours = self.fours, [*self.fours, late, late]
        self.block(indent + "    ", 0, index, most=2)
        self.fours = before

    def while_loop(self, indent: str, depth: int, index: str | None) -> None:
        name = f"n{depth}"
        self.lines.append(f"{indent}{name} = np.abs(w[{self.pick(0, 1)}]) * 4.0")
        self.lines.append(f"{indent}while {name} > 1.0:")
        self.lines.append(f"{indent}    {name} = {name} * 0.5")
        self.block(indent + "    ", depth - 1, index)

    def early_return(self, indent: str, depth: int, index: str | None) -> None:
        self.lines.append(f"{indent}if {self.condition()}:")
        self.block(indent + "    ", depth - 1, index, most=1)
        self.lines.append(f"{indent}    return np.sum({self.four(1)}) * {self.number(0)}")


@st.composite
def programs(draw: Callable[[st.SearchStrategy[Any]], Any], most: int = 7) -> str:
    """The text of a random program."""
    writer = Writer(draw)
    writer.block("    ", 2, None, most)
    return OPENING + "\n".join(writer.lines) + "\n" + CLOSING


def load(text: str) -> Callable[..., Any]:
    """The function of a program's text, whose source can be found like that of any file."""
    file = f"<random program {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np, "__name__": "random_program"}
    exec(compile(text, file, "exec"), namespace)
    return namespace["program"]
