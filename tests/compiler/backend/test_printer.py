"""Text of trees: precedence, numbers, strings, long lines."""

import ast
import random

import pytest

from pergrad.compiler.backend.printer import Comment, PrintingError, print_module, quoted
from pergrad.compiler.backend.wrap import wrap


def name(x):
    return ast.Name(x, ast.Load())


def shown(e):
    return print_module([ast.Assign([ast.Name("y", ast.Store())], e)]).strip().removeprefix("y = ")


@pytest.mark.parametrize(
    "tree, text",
    [
        (ast.BinOp(ast.Constant(-1), ast.Pow(), ast.Constant(2)), "(-1) ** 2"),
        (ast.BinOp(name("x"), ast.Pow(), ast.Constant(-2)), "x ** -2"),
        (ast.BinOp(name("x"), ast.Sub(), ast.Constant(-2.5)), "x - -2.5"),
        (ast.UnaryOp(ast.USub(), ast.BinOp(name("x"), ast.Pow(), ast.Constant(2))), "-x ** 2"),
        (ast.Constant(float("inf")), "np.inf"),
        (ast.Constant(float("-inf")), "-np.inf"),
        (ast.Constant(float("nan")), "np.nan"),
        (ast.Constant(-0.0), "-0.0"),
        (ast.Constant(2 - 3j), "2.0 - 3.0j"),
        (ast.Constant(1e-300), "1e-300"),
        (ast.Attribute(ast.Constant(-1.0), "real", ast.Load()), "(-1.0).real"),
        (ast.Subscript(ast.BinOp(name("a"), ast.Add(), name("b")), ast.Constant(0), ast.Load()), "(a + b)[0]"),
        (ast.BinOp(name("a"), ast.Sub(), ast.BinOp(name("b"), ast.Sub(), name("c"))), "a - (b - c)"),
        (ast.BinOp(ast.BinOp(name("a"), ast.Sub(), name("b")), ast.Sub(), name("c")), "a - b - c"),
        (ast.UnaryOp(ast.Not(), ast.Compare(name("a"), [ast.Lt()], [name("b")])), "not a < b"),
    ],
)
def test_as_few_parentheses_as_needed(tree, text):
    assert shown(tree) == text


def test_random_expressions_come_back_the_same():
    r = random.Random(0)
    operators = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.Mod, ast.FloorDiv, ast.BitAnd, ast.BitOr, ast.LShift]

    def make(depth):
        kind = r.randrange(8) if depth else 0
        if kind == 0:
            return r.choice([name("alpha"), ast.Constant(r.choice([1, -2, 0.5, -1.5, 1e20])), name("b")])
        if kind <= 3:
            return ast.BinOp(make(depth - 1), r.choice(operators)(), make(depth - 1))
        if kind == 4:
            return ast.UnaryOp(r.choice([ast.USub, ast.Invert])(), make(depth - 1))
        if kind == 5:
            return ast.Call(name("f"), [make(depth - 1) for _ in range(r.randrange(3))], [ast.keyword("axis", make(0))])
        if kind == 6:
            return ast.Subscript(make(depth - 1), ast.Tuple([make(depth - 1), ast.Slice(None, make(0), None)], ast.Load()), ast.Load())
        return ast.Compare(make(depth - 1), [ast.Lt()], [make(depth - 1)])

    for _ in range(400):
        print_module([ast.Assign([ast.Name("y", ast.Store())], make(6))])


def test_lines_fit_where_they_can():
    r = random.Random(1)
    words = ["alpha", "beta_gamma", "np.tanh(delta)", "f(a, b)", "x[1:, None]", "'a, (text'"]
    for _ in range(300):
        parts = [r.choice(words) for _ in range(r.randint(8, 30))]
        text = r.choice(
            [" + ".join(parts), f"f({', '.join(parts)})", f"g({' * '.join(parts)}, {', '.join(parts)})", f"x @ h({', '.join(parts)})"]
        )
        line = r.choice(["    return ", "    y = ", "    y += ", "    if "]) + text
        line += ":" if "if " in line else ""
        lines = wrap(line, 88)
        assert all(len(part) <= 88 for part in lines), "\n".join(lines)
        joined = "\n".join(lines) + ("\n        pass" if "if " in line else "")
        flat = line + ("\n        pass" if "if " in line else "")
        assert ast.dump(ast.parse("def f():\n" + joined)) == ast.dump(ast.parse("def f():\n" + flat))


def test_a_long_call_has_one_argument_a_line():
    line = "    return {" + ", ".join(f'"weight_{i}": d_weight_{i}[:, None] * x' for i in range(3)) + "}"
    assert wrap(line, 88) == [
        "    return {",
        *(f'        "weight_{i}": d_weight_{i}[:, None] * x,' for i in range(3)),
        "    }",
    ]


def test_comments_stand_on_lines_of_their_own():
    body = [Comment(text="forward"), ast.Assign([ast.Name("y", ast.Store())], name("x"))]
    assert print_module([ast.If(name("a"), body, [])]) == "if a:\n    # forward\n    y = x\n"


def test_a_tree_that_does_not_come_back_is_refused():
    with pytest.raises(PrintingError):
        print_module([ast.Assign([ast.Name("y", ast.Store())], ast.Constant((1, 2)))])


@pytest.mark.parametrize("text", ["plain", 'with "double"', "with 'single'", "both ' and \"", "line\nbreak", "\\", "é"])
def test_strings_come_back(text):
    assert ast.literal_eval(quoted(text)) == text
